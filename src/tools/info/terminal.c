/* SPDX-License-Identifier: 0BSD */
/* What stdout can show. */
#include <config.h>
#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "terminal.h"

#define WIDTH 80
#define WIDTH_MIN 40
#define WIDTH_MAX 1000

static int has(const char *variable)
{
	const char *value = getenv(variable);

	return value != NULL && *value != '\0';
}

/* COLUMNS, which shells rarely export, is the user's word. */
static int find_width(int columns)
{
	const char *text = getenv("COLUMNS");
	long wish = text != NULL ? strtol(text, NULL, 10) : 0;

	if (wish > 0)
		columns = wish < WIDTH_MAX ? (int)wish : WIDTH_MAX;
	if (columns <= 0)
		return WIDTH;
	if (columns < WIDTH_MIN)
		return WIDTH_MIN;
	return columns < WIDTH_MAX ? columns : WIDTH_MAX;
}

struct terminal terminal(void)
{
	struct terminal t = {0};
	const char *type = getenv("TERM");
	struct winsize size = {0};

	if (isatty(1)) {
		t.escapes = type != NULL && *type != '\0' &&
			    strcmp(type, "dumb") != 0;
		t.colour = t.escapes && !has("NO_COLOR");
		if (ioctl(1, TIOCGWINSZ, &size) == 0)
			t.height = size.ws_row;
	}
	t.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	t.width = find_width(size.ws_col);
	return t;
}
