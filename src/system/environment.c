/* SPDX-License-Identifier: 0BSD */
#include <config.h>
#include <stdlib.h>
#include <unistd.h>
#include "environment.h"

const char *cpuc_getenv(const char *name)
{
#ifdef HAVE_SECURE_GETENV
	return secure_getenv(name);
#else
#ifndef _WIN32
	if (getuid() != geteuid() || getgid() != getegid())
		return NULL;
#endif
	return getenv(name);
#endif
}
