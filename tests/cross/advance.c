/* SPDX-License-Identifier: 0BSD */
/* Whether this host's counters do what a table says: advance [NAME=WHAT]...,
 * where WHAT is "advances", "absent", "any" and a reason, or "dropped" and a
 * text that is in the reason. cpucycles-selftest compares rates. */
#include <config.h>
#include <string.h>
#include <time.h>
#include "cpucycles.h"
#include "../tap.h"

/* Whether the selected counter advances within a second, and never goes back.
 */
static int advances(void)
{
	const time_t end = time(NULL) + 2;
	const long long first = cpucycles();
	long long last = first, now;

	do {
		now = cpucycles();
		if (now < last)
			return 0;
		last = now;
	} while (last == first && time(NULL) < end);
	return last > first;
}

/* Whether c is what a row says of it. NULL: there is no such counter here. */
static int as_said(const struct cpucycles_counter *c, const char *what)
{
	if (c == NULL)
		return !strcmp(what, "absent");
	if (!strncmp(what, "dropped", 7))
		return !c->usable &&
		       strstr(c->reason, what + 7 + (what[7] == ' ')) != NULL;
	if (!strcmp(what, "advances"))
		return c->usable && cpucycles_select(c->name) == 0 &&
		       advances();
	return !strncmp(what, "any", 3);
}

/* What the rows say of a counter. */
static const char *expected(char **row, const char *name)
{
	size_t n = strlen(name);

	for (; *row != NULL; row++)
		if (!strncmp(*row, name, n) && (*row)[n] == '=')
			return *row + n + 1;
	return strncmp(name, "default-", 8) ? "in the table" : "any";
}

int main(int argc, char **argv)
{
	struct cpucycles_counter c;
	const char *what;
	char name[64];
	unsigned i;

	(void)argc;
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		what = expected(argv + 1, c.name);
		ok(as_said(&c, what), "%s, %s: %s", c.name,
		   c.usable ? "usable" : c.reason, what);
	}
	while (*++argv != NULL) {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(*argv, "="),
			 *argv);
		if (cpucycles_counterbyname(name, &c, sizeof c) != 0)
			ok(as_said(NULL, expected(argv, name)), "not here: %s",
			   *argv);
	}
	return done_testing();
}
