/* SPDX-License-Identifier: 0BSD */
/* Whether this host's counters do what a table says: advance [NAME=WHAT]...,
 * where WHAT is "advances", "absent", "any", or "dropped" and a text that is
 * in the reason. */
#include <config.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include "cpucycles.h"
#include "../tap.h"

#define MS 1000000LL

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

struct moment {
	long long count, ns;
};

/* A count and its time, read without an interruption between them if one of
 * ten tries was so lucky. */
static struct moment moment(void)
{
	struct moment best = {0, 0};
	long long before, count, gap, least = INT64_MAX;
	int i;

	for (i = 0; i < 10; i++) {
		before = now_ns();
		count = cpucycles();
		gap = now_ns() - before;
		if (gap < least) {
			least = gap;
			best = (struct moment){count, before + gap / 2};
		}
	}
	return best;
}

/* Counts per second of the selected counter over so many nanoseconds. */
static double rate(long long window)
{
	struct moment a = moment(), b;

	while (now_ns() - a.ns < window)
		;
	b = moment();
	return (double)(b.count - a.count) * 1e9 / (double)(b.ns - a.ns);
}

/* A clock must count as fast as CLOCK_MONOTONIC does in cycles. What an
 * emulator takes for the core's rate is stated nowhere: such a counter must
 * run evenly against CLOCK_MONOTONIC. */
static void check_rate(const struct cpucycles_counter *c)
{
	double seen, wanted;

	if (cpucycles_select(c->name) != 0) {
		ok(0, "%s can be selected", c->name);
		return;
	}
	/* 32 bits last for 1.7 seconds where they count a TSC. */
	seen = rate(c->bits == 32 ? 2000 * MS : 50 * MS);
	if (!strcmp(c->kind, "core")) {
		wanted = rate(5 * MS);
	} else {
		cpucycles_select("default-monotonic");
		wanted = rate(5 * MS);
	}
	ok(seen > 0 && seen < wanted * 1.2 && wanted < seen * 1.2,
	   "%s: %.0f a second, %s %.0f", c->name, seen,
	   strcmp(c->kind, "core") ? "CLOCK_MONOTONIC's cycles"
				   : "over a shorter time",
	   wanted);
}

static void check(const struct cpucycles_counter *c, const char *what)
{
	if (what == NULL)
		ok(0, "%s has a row in the table", c->name);
	else if (!strcmp(what, "advances") && c->usable)
		check_rate(c);
	else if (!strncmp(what, "dropped", 7) && !c->usable)
		ok(strstr(c->reason, what + 7 + (what[7] == ' ')) != NULL,
		   "%s: %s", c->name, c->reason);
	else if (!strcmp(what, "any"))
		diag("%s: %s", c->name, c->usable ? "usable" : c->reason);
	else
		ok(0, "%s: expected \"%s\", found \"%s\"", c->name, what,
		   c->usable ? "usable" : c->reason);
}

/* What the rows say of a counter. NULL: nothing. */
static const char *expected(int n, char **rows, const char *name)
{
	for (; n > 0; n--, rows++)
		if (!strcmp(*rows, name))
			return *rows + strlen(*rows) + 1;
	return strncmp(name, "default-", 8) ? NULL : "any";
}

int main(int argc, char **argv)
{
	struct cpucycles_counter c;
	unsigned i;
	int j, n = argc - 1;
	char **rows = argv + 1;
	const char *what;

	for (j = 0; j < n; j++) {
		*strchr(rows[j], '=') = '\0';
		what = expected(1, &rows[j], rows[j]);
		ok((cpucycles_counterbyname(rows[j], &c, sizeof c) != 0) ==
			   !strcmp(what, "absent"),
		   "is or is not in this build: %s=%s", rows[j], what);
	}
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		check(&c, expected(n, rows, c.name));
	return done_testing();
}
