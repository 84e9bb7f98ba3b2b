/* SPDX-License-Identifier: 0BSD */
/* The checks, in the order in which they are made, and their lines of TAP. */
#include <config.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "../common/affinity.h"
#include "selftest.h"
#include "../common/tool.h"

#define TRIES 5
#define PAUSE_NS 100000000 /* what cpucycles(7) gives a calibrated counter */

const struct check selftest_checks[] = {
	{"monotone", "no count is below the one before", selftest_monotone},
	{"advances", "the count does not stand still", selftest_advances},
	{"clock", "it agrees with CLOCK_MONOTONIC and the expected rate",
	 selftest_clock},
	{"chain", "code of a known number of cycles counts as that many",
	 selftest_chain},
	{"threads", "other threads count as the first does", selftest_threads},
	{"fork", "the child of a fork counts on", selftest_fork},
	{"migration", "the count goes on when the thread changes its CPU",
	 selftest_migration},
	{"wrap32", "an interval of more than 2^32 cycles is counted in full",
	 selftest_wrap32},
	{"wrap48", "the count goes on past 2^48", selftest_wrap48},
	{NULL, NULL, NULL}};

enum outcome selftest_say(struct selftest *self, enum outcome outcome,
			  const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(self->text, sizeof self->text, fmt, ap);
	va_end(ap);
	return outcome;
}

static void progress(const char *name, unsigned n, unsigned all)
{
	if (!isatty(2))
		return;
	if (name != NULL)
		fprintf(stderr, "\r\033[Kcheck %u of %u: %s", n, all, name);
	else
		fprintf(stderr, "\r\033[K");
}

static bool wanted(const struct check *c, char *const *names)
{
	bool all = *names == NULL;

	while (*names != NULL && !all)
		all = !strcmp(c->name, *names++);
	return all;
}

/* A count of one core means something on that core alone. */
static enum outcome on_one_core(const struct check *c, struct selftest *self)
{
	enum outcome outcome;
	struct affinity a;

	if (!self->cores || c->run == selftest_migration ||
	    affinity_get(&a) != 0)
		return c->run(self);
	affinity_pin(&a, affinity_here());
	outcome = c->run(self);
	affinity_end(&a);
	return outcome;
}

/* What is off is off each time if the counter is wrong. */
static enum outcome again_if_off(const struct check *c, struct selftest *self)
{
	const struct timespec pause = {0, PAUSE_NS};
	enum outcome outcome = on_one_core(c, self);
	int i;

	for (i = 1; i < TRIES && outcome == OFF; i++) {
		progress(NULL, 0, 0);
		printf("# %s, once more: %s\n", c->name, self->text);
		fflush(stdout);
		nanosleep(&pause, NULL);
		self->base_ppm = 0;
		outcome = on_one_core(c, self);
	}
	return outcome == OFF ? BAD : outcome;
}

static bool run(const struct check *c, struct selftest *self, unsigned n)
{
	enum outcome outcome;

	if (!strcmp(self->counter.kind, "zero") &&
	    c->run != selftest_monotone && c->run != selftest_advances)
		outcome = selftest_say(self, SKIPPED, "nothing is counted");
	else
		outcome = again_if_off(c, self);
	progress(NULL, 0, 0);
	printf("%sok %u - %s%s%s\n", outcome == BAD ? "not " : "", n, c->name,
	       outcome == SKIPPED ? " # SKIP " : ": ", self->text);
	fflush(stdout);
	return outcome != BAD;
}

int selftest_run(struct selftest *self, char *const *names)
{
	const struct check *c;
	unsigned n = 0, all = 0, bad = 0;

	for (c = selftest_checks; c->name != NULL; c++)
		all += wanted(c, names);
	printf("1..%u\n", all);
	for (c = selftest_checks; c->name != NULL; c++)
		if (wanted(c, names)) {
			progress(c->name, ++n, all);
			bad += !run(c, self, n);
		}
	return bad ? TOOL_FINDING : TOOL_GOOD;
}
