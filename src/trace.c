/* SPDX-License-Identifier: 0BSD */
/* What a selection found, printed for programs that ask for a trace. */
#include <config.h>
#include <stdio.h>
#include "cpucycles.h"
#include "engine.h"

/* The format is an interface: programs have parsed it for years. */
void cpuc_trace(void)
{
	struct cpucycles_counter c;
	unsigned i;

	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		printf("cpucycles tracesetup %u %s precision %lld scaling %f "
		       "only32 %d\n",
		       i, c.name, c.precision, c.scaling,
		       c.usable && c.bits == 32);
	fflush(stdout);
}
