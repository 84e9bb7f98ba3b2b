/* SPDX-License-Identifier: 0BSD */
/* What every tool does. */
#include <config.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cpucycles.h"
#include "tool.h"

void tool_version(const char *tool)
{
	printf("%s (libcpucycles) %s\n", tool, cpucycles_version());
}

int tool_usage(const char *tool, const char *unexpected)
{
	if (unexpected != NULL)
		fprintf(stderr, "%s: unexpected argument '%s'\n", tool,
			unexpected);
	fprintf(stderr, "Try '%s --help'.\n", tool);
	return TOOL_USAGE;
}

int tool_end(const char *tool, int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "%s: cannot write the output: %s\n", tool,
		strerror(errno));
	return TOOL_FINDING;
}

void tool_progress(const char *text)
{
	if (isatty(2))
		fprintf(stderr, "\r\033[K%s", text);
}
