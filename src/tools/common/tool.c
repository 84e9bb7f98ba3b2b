/* SPDX-License-Identifier: 0BSD */
/* Helpers of all tools. */
#include <config.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cpucycles.h"
#include "tool.h"

void tool_begin(void)
{
	int fd;

	/* Of the root directory nothing can be read or written. */
	do
		fd = open("/", O_RDONLY);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
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

int tool_option(int option, const char *tool, const char *help)
{
	if (option == '?')
		return tool_usage(tool, NULL);
	if (option == 'h')
		fputs(help, stdout);
	else if (option == 'V')
		printf("%s (libcpucycles) %s\n", tool, cpucycles_version());
	else
		return -1;
	return tool_end(tool, TOOL_GOOD);
}

int tool_no_counter(const char *tool, const char *name)
{
	struct cpucycles_counter c;
	unsigned i;

	fprintf(stderr, "%s: no counter is called '%s'; there are", tool, name);
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		fprintf(stderr, " %s", c.name);
	fprintf(stderr, "\n");
	return TOOL_USAGE;
}

const char *tool_why(const struct cpucycles_counter *c)
{
	static char text[sizeof c->reason + sizeof c->hint + 2];

	snprintf(text, sizeof text, "%s%s%s", c->reason,
		 c->hint[0] != '\0' ? "; " : "", c->hint);
	return text;
}

const char *tool_counts(const struct cpucycles_counter *c)
{
	static const char *const what[] = {
		[CPUCYCLES_CORE] = "core cycles",
		[CPUCYCLES_CALIBRATED] = "core cycles by a measured ratio",
		[CPUCYCLES_REFERENCE] = "nominal cycles",
		[CPUCYCLES_OS] = "nominal cycles",
		[CPUCYCLES_ZERO] = "nothing"};
	static char text[80];

	snprintf(text, sizeof text, "%s counts %s here", c->name,
		 what[c->kind_id]);
	return text;
}

const char *tool_not_taken(const char *named)
{
	struct cpucycles_counter c;

	if (!strcmp(named, cpucycles_implementation()))
		return "";
	if (cpucycles_counterbyname(named, &c, sizeof c) != 0)
		return "there is no such counter here";
	return c.usable ? "privileges are raised" : tool_why(&c);
}

bool tool_without_events(void)
{
	const char *named = getenv("cpucyclesimplementation");

	return named != NULL && !strcmp(named, cpucycles_implementation()) &&
	       strcmp(cpucycles_kind(), "core") != 0;
}

bool tool_thread_clock(void)
{
	struct timespec step;

	return clock_getres(CLOCK_THREAD_CPUTIME_ID, &step) == 0 &&
	       step.tv_sec == 0 && step.tv_nsec <= 1000;
}

long long tool_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

long long tool_ns(void)
{
	return tool_clock_ns(CLOCK_MONOTONIC);
}
