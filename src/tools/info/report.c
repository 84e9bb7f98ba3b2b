/* SPDX-License-Identifier: 0BSD */
/* The report as text: lines that programs have parsed for years, and more. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "calls.h"
#include "cpucycles.h"
#include "overrides.h"
#include "report.h"
#include "../common/tool.h"

static void print_calls(void)
{
	const struct calls *c = calls_measure(CALLS_FEW);
	int i;

	printf("cpucycles iqm %lld ", c->iqm);
	for (i = 0; i < c->n; i++)
		printf("%+lld", c->diff[i] - c->iqm);
	printf("\n");
}

static void print_observed(void)
{
	struct observed o[OBSERVED];
	int i;

	observe(o);
	for (i = 0; i < OBSERVED; i++)
		if (o[i].ns != 0)
			printf("cpucycles observed persecond %.0f...%.0f with "
			       "%ld loops %lld microseconds\n",
			       o[i].low, o[i].high, o[i].loops, o[i].ns / 1000);
}

static void print_unavailable(void)
{
	struct cpucycles_counter c;
	unsigned i;

	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (!c.usable)
			printf("cpucycles unavailable %s: %s\n", c.name,
			       c.reason);
}

/* A wish that was not granted is easily missed in a script. */
static void print_wishes(const struct request *r)
{
	struct override o[OVERRIDES];
	int i;

	overrides(o, r->counter);
	for (i = 0; i < OVERRIDES; i++)
		if (o[i].value != NULL && o[i].why_not[0] != '\0')
			printf("cpucycles note %s=%s was not taken: %s\n",
			       o[i].name, o[i].value, o[i].why_not);
}

/* A calibrated counter's ratio, in words: that the core's rate is not the
 * clock's is news to many who time code. */
static void print_ratio(void)
{
	static const struct {
		const char *end, *clock;
	} clocks[] = {
		{"tsccore", "time-stamp counter"},
		{"vctcore", "virtual count"},
	};
	const char *name = cpucycles_implementation();
	const char *clock = "clock";
	struct cpucycles_counter c;
	unsigned i;

	for (i = 0; i < sizeof clocks / sizeof *clocks; i++)
		if (strstr(name, clocks[i].end) != NULL)
			clock = clocks[i].clock;
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (!strcmp(c.name, name) && !strcmp(c.kind, "calibrated"))
			printf("cpucycles note the core runs at %.3f times "
			       "the rate of the %s\n",
			       c.scaling, clock);
}

int report_text(const struct request *r)
{
	printf("cpucycles version %s\n", cpucycles_version());
	/* A trace is printed when a selection is made. */
	cpucycles_tracesetup();
	if (cpucycles_select(r->counter) != 0)
		return TOOL_FINDING;
	printf("cpucycles persecond %lld\n", cpucycles_persecond());
	printf("cpucycles implementation %s\n", cpucycles_implementation());
	print_calls();
	print_observed();
	printf("cpucycles kind %s\n", cpucycles_kind());
	print_unavailable();
	print_ratio();
	print_wishes(r);
	return strcmp(cpucycles_kind(), "zero") ? TOOL_GOOD : TOOL_FINDING;
}
