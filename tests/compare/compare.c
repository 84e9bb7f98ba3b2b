/* SPDX-License-Identifier: 0BSD */
/* compare SCENARIO CYCLES [COUNTER]: runs a scenario with a chain of so many
 * cycles. The counter in this process prints what it saw; a tool that counts
 * for a command runs it without one. Status 3: the counter does not work here;
 * 77: there is no chain. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cpucycles.h>
#include "scenario.h"

#if defined(__x86_64__) || defined(__i386__)
static long long rdtsc(void)
{
	return (long long)__builtin_ia32_rdtsc();
}
#define RDTSC {"rdtsc", NULL, rdtsc},
#else
#define RDTSC
#endif

static long long library(void)
{
	return cpucycles();
}

#ifdef WITH_PAPI
#include <papi.h>

static int papi_set = PAPI_NULL;

static int papi_init(void)
{
	return PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT;
}

static int papi_events(void)
{
	return papi_init() && PAPI_create_eventset(&papi_set) == PAPI_OK &&
	       PAPI_add_event(papi_set, PAPI_TOT_CYC) == PAPI_OK &&
	       PAPI_start(papi_set) == PAPI_OK;
}

static long long papi_total(void)
{
	long long count = 0;

	PAPI_read(papi_set, &count);
	return count;
}
#define PAPI                                                         \
	{"PAPI_TOT_CYC", papi_events, papi_total},                   \
		{"PAPI_get_real_cyc", papi_init, PAPI_get_real_cyc}, \
		{"PAPI_get_virt_cyc", papi_init, PAPI_get_virt_cyc},
#else
#define PAPI
#endif

static const struct counter {
	const char *name;
	int (*open)(void); /* whether it works; NULL: it always does */
	long long (*read)(void);
} counters[] = {{"cpucycles", NULL, library}, RDTSC PAPI{NULL, NULL, NULL}};

int main(int argc, char **argv)
{
	const struct scenario *s = scenarios;
	const struct counter *c = counters;
	double cycles = argc > 2 ? atof(argv[2]) : 0;
	long long count = 0;

	while (argc > 2 && s->name != NULL && strcmp(s->name, argv[1]) != 0)
		s++;
	while (argc > 3 && c->name != NULL && strcmp(c->name, argv[3]) != 0)
		c++;
	if (cycles <= 0 || s->name == NULL || c->name == NULL)
		return 2;
	scenario_length(cycles);
	if (argc > 3) {
		if (c->open != NULL && !c->open())
			return 3;
		c->read();
		count = c->read();
	}
	s->run();
	if (argc > 3)
		printf("%lld\n", c->read() - count);
	return 0;
}
