/* SPDX-License-Identifier: 0BSD */
/* Which environment variables of the library are set, and what came of it. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cpucycles.h"
#include "overrides.h"

static void judge_counter(struct override *o, const char *counter)
{
	const char *why = "there is no such counter here";
	struct cpucycles_counter c;
	unsigned i;

	if (!strcmp(o->value, cpucycles_implementation()))
		return;
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (!strcmp(o->value, c.name)) {
			why = c.usable ? "privileges are raised" : c.reason;
			break;
		}
	if (counter != NULL)
		why = "--counter names another";
	snprintf(o->why_not, sizeof o->why_not, "%s", why);
}

static void judge_persecond(struct override *o)
{
	const char *source = cpucycles_persecondsource();

	if (strstr(source, o->name) != NULL)
		return;
	if (!strcmp(source, "measured") || !strcmp(source, "unknown"))
		snprintf(o->why_not, sizeof o->why_not,
			 "it is no number from 1e6 to 1e11, or privileges are "
			 "raised");
	else
		snprintf(o->why_not, sizeof o->why_not, "%s states the rate",
			 source);
}

void overrides(struct override o[OVERRIDES], const char *counter)
{
	memset(o, 0, OVERRIDES * sizeof *o);
	o[0].name = "cpucyclesimplementation";
	o[0].value = getenv(o[0].name);
	if (o[0].value != NULL)
		judge_counter(&o[0], counter);
	o[1].name = "cpucyclespersecond";
	o[1].value = getenv(o[1].name);
	if (o[1].value != NULL)
		judge_persecond(&o[1]);
}
