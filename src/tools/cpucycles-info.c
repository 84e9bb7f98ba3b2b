/* SPDX-License-Identifier: 0BSD */
/* cpucycles-info: what counts cycles on this machine, and how well. */
#include <config.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "cpucycles.h"
#include "cpus.h"
#include "stats.h"
#include "tool.h"

#define TOOL "cpucycles-info"
#define DIFFERENCES 64

/* clang-format off: one line here is one line of output. */
static const char help[] =
	"Usage: cpucycles-info [OPTION]\n"
	"Tells which counter cpucycles() uses on this machine, how finely and how fast it\n"
	"counts, and why each other counter cannot be used.\n"
	"\n"
	"      --cpus     instead, print a line for each CPU that this process may\n"
	"                 run on: its nominal rate, the rate of its core observed\n"
	"                 now, in Hz, their ratio, and how far 15 observations\n"
	"                 are spread\n"
	"  -h, --help     print this help and exit\n"
	"  -V, --version  print the version and exit\n"
	"\n"
	"Output, each line after the word cpucycles:\n"
	"  version             of the library\n"
	"  tracesetup          a counter: its precision in cycles, with what its kind\n"
	"                      adds; cycles per tick; 1 if it has only 32 bits\n"
	"  persecond           cycles per second as the operating system says\n"
	"  implementation      the counter in use\n"
	"  iqm                 interquartile mean of the cycles from call to call, then\n"
	"                      how far from it each of 64 calls was\n"
	"  observed persecond  bounds of the rate of the count, over longer and longer\n"
	"                      loops\n"
	"  kind                core, calibrated, reference, os or zero\n"
	"  unavailable         a counter that cannot be used, and why\n"
	"  note                what deserves attention\n"
	"\n"
	"Environment:\n"
	"  cpucyclesimplementation=NAME  use this counter if it works\n"
	"  cpucyclespersecond=HZ         cycles per second, where neither the file\n"
	"                                /etc/cpucyclespersecond nor the operating\n"
	"                                system says\n"
	"\n"
	"Exit status:\n"
	"  0  cycles are counted\n"
	"  1  nothing counts here, or the output cannot be written\n"
	"  2  wrong usage\n";

/* clang-format on */

static void print_calls(void)
{
	long long count[DIFFERENCES + 1], diff[DIFFERENCES], iqm;
	long long sorted[DIFFERENCES];
	int i;

	for (i = 0; i <= DIFFERENCES; i++)
		count[i] = cpucycles();
	for (i = 0; i < DIFFERENCES; i++)
		diff[i] = count[i + 1] - count[i];
	memcpy(sorted, diff, sizeof sorted);
	stats_sort(sorted, DIFFERENCES);
	iqm = stats_iqm(sorted, DIFFERENCES);
	printf("cpucycles iqm %lld ", iqm);
	for (i = 0; i < DIFFERENCES; i++)
		printf("%+lld", diff[i] - iqm);
	printf("\n");
}

static long long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Counts read just within and just outside the two readings of the clock give
 * bounds that hold whatever either reading costs. */
static void print_observed(long loops)
{
	long long c[4], ns;
	long i;

	c[0] = cpucycles();
	ns = now_ns();
	c[1] = cpucycles();
	for (i = 0; i < loops; i++)
		__asm__ __volatile__("");
	c[2] = cpucycles();
	ns = now_ns() - ns;
	c[3] = cpucycles();
	if (ns <= 0)
		return;
	printf("cpucycles observed persecond %.0f...%.0f with %ld loops %lld "
	       "microseconds\n",
	       (double)(c[2] - c[1]) * 1e9 / (double)ns,
	       (double)(c[3] - c[0]) * 1e9 / (double)ns, loops, ns / 1000);
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
static void print_wish(void)
{
	const char *wish = getenv("cpucyclesimplementation");
	const char *why = "there is no such counter here";
	struct cpucycles_counter c;
	unsigned i;

	if (wish == NULL || !strcmp(wish, cpucycles_implementation()))
		return;
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (!strcmp(wish, c.name))
			why = c.usable ? "privileges are raised" : c.reason;
	printf("cpucycles note cpucyclesimplementation=%s was not taken: %s\n",
	       wish, why);
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
		{"timecore", "time counter"},
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

static int report(void)
{
	long loops;

	printf("cpucycles version %s\n", cpucycles_version());
	cpucycles_tracesetup();
	cpucycles();
	printf("cpucycles persecond %lld\n", cpucycles_persecond());
	printf("cpucycles implementation %s\n", cpucycles_implementation());
	print_calls();
	for (loops = 8192; loops <= 1048576; loops *= 2)
		print_observed(loops);
	printf("cpucycles kind %s\n", cpucycles_kind());
	print_unavailable();
	print_ratio();
	print_wish();
	return strcmp(cpucycles_kind(), "zero") == 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"cpus", no_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	int option, cpus = 0, status = 0;

	while ((option = getopt_long(argc, argv, "hV", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			cpus = 1;
			break;
		case 'h':
			fputs(help, stdout);
			goto end;
		case 'V':
			tool_version(TOOL);
			goto end;
		default:
			return tool_usage(TOOL, NULL);
		}
	}
	if (optind < argc)
		return tool_usage(TOOL, argv[optind]);
	status = cpus ? print_cpus() : report();
end:
	return tool_end(TOOL, status);
}
