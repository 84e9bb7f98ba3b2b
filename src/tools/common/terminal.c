/* SPDX-License-Identifier: 0BSD */
/* The terminal's abilities. */
#include <config.h>
#ifndef _WIN32
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "terminal.h"

bool terminal_obeys(int fd)
{
	const char *term = getenv("TERM");

	return isatty(fd) && term != NULL && *term != '\0' &&
	       strcmp(term, "dumb") != 0;
}

bool terminal_utf8(void)
{
	return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

struct terminal_size terminal_size(void)
{
	struct winsize size = {0};

	ioctl(1, TIOCGWINSZ, &size);
	return (struct terminal_size){size.ws_col, size.ws_row};
}

#endif
