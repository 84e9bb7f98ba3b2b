/* SPDX-License-Identifier: 0BSD */
/* Helpers of all tools. */
#include <config.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cpucycles.h"
#include "tool.h"

static const char *tool_name, *tool_help;
static int tool_all; /* the exit status of all failures, or 0 */

void tool_begin(const char *name, const char *help, int failed)
{
	int fd;

	tool_name = name;
	tool_help = help;
	tool_all = failed;
	/* A directory can be neither read nor written by a descriptor. */
	do
		fd = open("/", O_RDONLY);
	while (fd >= 0 && fd <= 2);
	if (fd > 2)
		close(fd);
}

static int tool_try_help(int status)
{
	if (status == TOOL_USAGE)
		fprintf(stderr, "Try '%s --help'.\n", tool_name);
	return tool_all != 0 ? tool_all : status;
}

int tool_message(int status, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", tool_name);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputs("\n", stderr);
	return tool_try_help(status);
}

int tool_end(FILE *f, const char *name, int status)
{
	if (f != NULL && fflush(f) == 0 && !ferror(f))
		return status;
	return tool_failed("cannot write %s: %s",
			   name != NULL ? name : "the output", strerror(errno));
}

int tool_option(int argc, char **argv, const char *letters,
		const struct option *options)
{
	int option = getopt_long(argc, argv, letters, options, NULL);

	if (option == '?')
		exit(tool_try_help(TOOL_USAGE));
	if (option != 'h' && option != 'V')
		return option;
	if (option == 'h')
		fputs(tool_help, stdout);
	else
		printf("%s (libcpucycles) %s\n", tool_name,
		       cpucycles_version());
	exit(tool_end(stdout, NULL, TOOL_GOOD));
}

const char *tool_why(const struct cpucycles_counter *c)
{
	static char text[sizeof c->reason + sizeof c->hint + 2];

	snprintf(text, sizeof text, "%s%s%s", c->reason,
		 c->hint[0] != '\0' ? "; " : "", c->hint);
	return text;
}

static void tool_names(FILE *f)
{
	struct cpucycles_counter c;
	unsigned i;

	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		fprintf(f, " %s", c.name);
	fprintf(f, "\n");
}

int tool_select(const char *name, struct cpucycles_counter *c)
{
	/* A first selection by the environment forgets why. */
	const bool works =
		name == NULL || cpucycles_select(name) == 0 ||
		(cpucycles_kind() != NULL && cpucycles_select(name) == 0);

	if (cpucycles_counterbyname(name, c, sizeof *c) == 0)
		return works ? TOOL_GOOD
			     : tool_failed("%s does not work here: %s", name,
					   tool_why(c));
	tool_failed("no counter is called '%s'; there are these:", name);
	tool_names(stderr);
	return TOOL_USAGE;
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

bool tool_note_not_taken(FILE *f, const char *begin)
{
	const char *named = getenv("cpucyclesimplementation");
	const char *why = named != NULL ? tool_not_taken(named) : "";
	struct cpucycles_counter c;

	if (*why == '\0')
		return false;
	fprintf(f, "%scpucyclesimplementation=%.*s was not taken: %s\n", begin,
		(int)strcspn(named, "\n"), named, why);
	if (cpucycles_counterbyname(named, &c, sizeof c) != 0) {
		fputs("there are these:", f);
		tool_names(f);
	}
	return true;
}

bool tool_without_events(void)
{
	const char *named = getenv("cpucyclesimplementation");

	return named != NULL && !strcmp(named, cpucycles_implementation()) &&
	       strcmp(cpucycles_kind(), "core") != 0;
}

void tool_instructions(struct cpucycles_counter *c)
{
	const bool tried = !tool_without_events();

	if (tried && cpucycles_instructionscounter(c, sizeof *c) == 0)
		return;
	memset(c, 0, sizeof *c);
	snprintf(c->reason, sizeof c->reason, "%s",
		 tried ? "built without Linux's <linux/perf_event.h>"
		       : "not tried, since the environment names a counter "
			 "without perf events");
}

clockid_t tool_thread_clock(void)
{
	struct timespec step;

	if (clock_getres(CLOCK_THREAD_CPUTIME_ID, &step) == 0 &&
	    step.tv_sec == 0 && step.tv_nsec <= 1000)
		return CLOCK_THREAD_CPUTIME_ID;
	return CLOCK_MONOTONIC;
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
