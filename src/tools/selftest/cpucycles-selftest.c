/* SPDX-License-Identifier: 0BSD */
/* cpucycles-selftest: whether the selected counter is right on this machine. */
#include <config.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "../common/affinity.h"
#include "../common/terminal.h"
#include "../common/tool.h"
#include "selftest.h"

#define TRIES 5
#define PAUSE_NS 100000000 /* in which a calibrated counter adapts */

/* clang-format off */
/* One line here is one line of output. */
static const char help[] =
	"Usage: cpucycles-selftest [OPTION]... [CHECK]...\n"
	"Checks whether cpucycles() counts correctly on this machine. Runs all checks, or\n"
	"the ones named.\n"
	"\n"
	"      --counter NAME  check this counter instead of the selected one\n"
	"      --quick         take less than a second, not a few seconds\n"
	"      --long          take about a minute\n"
	"      --list          print the checks, and what each looks for, and exit\n"
	"  -h, --help          print this help and exit\n"
	"  -V, --version       print the version and exit\n"
	"\n"
	"Output is in the Test Anything Protocol, with a line for each check. One that\n"
	"cannot run here, or does not apply to the counter, is marked SKIP. Rates may\n"
	"be off by 6%, in other threads by 15%, since the core's own rate changes, or by\n"
	"2% with a clock that does not follow it: the manual page says why that is more\n"
	"than counts are off. Counts may never go back.\n"
	"\n"
	"Environment:\n"
	"  cpucyclesimplementation=NAME  check this counter\n"
	"\n"
	"Exit status:\n"
	"  0  no check failed\n"
	"  1  a check failed, or the counter asked for does not work here, or the\n"
	"     output cannot be written\n"
	"  2  wrong usage, or --counter names none that exists\n";

static const struct check {
	const char *name; /* part of the interface: never changes */
	const char *what;
	enum outcome (*run)(struct selftest *t);
	int rate; /* t->base is measured first, for 1/rate of the time; 0: no */
} checks[] = {
	{"monotone", "the count never goes back", counting_monotone, 0},
	{"advances", "the count does not stand still", counting_advances, 0},
	{"clock", "the rate is right by the system's clock", counting_clock, 1},
	{"chain", "instructions of known latency count as that many cycles", chain_check, 0},
	{"threads", "other threads count at the first thread's rate", elsewhere_threads, 10},
	{"sharing", "two threads on one CPU: each counts its own work", elsewhere_sharing, 10},
	{"fork", "a child process counts on, at its parent's rate", elsewhere_fork, 10},
	{"migration", "the count goes on when the thread moves to another CPU", elsewhere_migration, 0},
	{"instructions", "as many instructions are counted as a loop has", chain_instructions, 0},
	{"wrap32", "an interval of more than 2^32 cycles counts in full", counting_wrap32, 10},
};
/* clang-format on */

#define CHECKS (sizeof checks / sizeof *checks)

/* Repeats a check whose rate is off: that of a wrong counter is off again. */
static enum outcome run_tries(const struct check *c, struct selftest *t)
{
	const struct timespec pause = {0, PAUSE_NS};
	enum outcome outcome;
	int i;

	for (i = 1;; i++) {
		if (c->rate && !counting_rate(t, t->ms / c->rate, &t->base))
			return say(t, SKIPPED,
				   "the core's rate cannot be observed here");
		if (c->rate && t->base.hz == 0)
			return say(t, BAD, "the count stands still");
		outcome = c->run(t);
		if (outcome != OFF || i == TRIES)
			return outcome == OFF ? BAD : outcome;
		terminal_line("# %s, once more: %s", c->name, t->text);
		fflush(stdout);
		nanosleep(&pause, NULL);
	}
}

static enum outcome run_one(const struct check *c, struct selftest *t)
{
	enum outcome outcome;
	struct affinity a;

	if (t->counter.kind_id == CPUCYCLES_ZERO &&
	    c->run != counting_monotone && c->run != counting_advances &&
	    c->run != chain_instructions)
		return say(t, SKIPPED, "nothing is counted");
	/* One core's count means nothing on another. */
	if (!selftest_one_core(t) || c->run == elsewhere_migration ||
	    affinity_get(&a) != 0)
		return run_tries(c, t);
	affinity_pin(affinity_here());
	outcome = run_tries(c, t);
	affinity_end(&a);
	return outcome;
}

/* The last lines: what the counter counts, or which checks it failed. */
static void report(const struct selftest *t, unsigned failed,
		   const unsigned made[])
{
	char text[512];
	size_t at;

	snprintf(text, sizeof text, "%s%s",
		 failed == 0 ? tool_counts(&t->counter) : t->counter.name,
		 failed == 0 ? "" : " does not count right here:");
	for (unsigned i = 0; i < CHECKS; i++) {
		at = strlen(text);
		if (failed >> i & 1)
			snprintf(text + at, sizeof text - at, " %s",
				 checks[i].name);
	}
	terminal_line(
		"# %s; checks: %u passed, %u failed, %u could not be made",
		text, made[GOOD], made[BAD], made[SKIPPED]);
	if (failed == 0)
		return;
	terminal_line("# report that with the output of cpucycles-info; until "
		      "then, choose another counter");
	terminal_line("# of its list by cpucyclesimplementation=NAME in the "
		      "environment");
}

/* Runs the checks whose bits are set. Returns an exit status. */
static int run_all(struct selftest *t, unsigned chosen)
{
	unsigned i, n = 0, failed = 0, made[SKIPPED + 1] = {0};
	enum outcome outcome;

	for (i = 0; i < CHECKS; i++) {
		if (!(chosen >> i & 1))
			continue;
		outcome = run_one(&checks[i], t);
		terminal_line("%sok %u - %s%s%s", outcome == BAD ? "not " : "",
			      ++n, checks[i].name,
			      outcome == SKIPPED ? " # SKIP " : ": ", t->text);
		fflush(stdout);
		made[outcome]++;
		failed |= (outcome == BAD ? 1u : 0u) << i;
	}
	printf("1..%u\n", n);
	report(t, failed, made);
	return failed ? TOOL_FINDING : TOOL_GOOD;
}

/* Selects the counter to check; NULL: as programs do. An exit status. */
static int choose_counter(struct cpucycles_counter *c, const char *name)
{
	int status = tool_select(name, c);

	if (status == TOOL_FINDING)
		printf("Bail out! %s does not work here\n", name);
	if (status != TOOL_GOOD)
		return status;
	printf("# libcpucycles %s\n"
	       "# counter %s, kind %s, %g cycles a tick, %u bits\n",
	       cpucycles_version(), c->name, c->kind, c->scaling, c->bits);
	/* Who names one in the environment expects a check of that one. */
	if (name != NULL ||
	    !tool_note_not_taken(stderr, "cpucycles-selftest: "))
		return TOOL_GOOD;
	printf("Bail out! cpucyclesimplementation was not taken\n");
	return TOOL_FINDING;
}

int main(int argc, char **argv)
{
	int option, status, list = 0, quick = 0, longer = 0;
	const struct option options[] = {
		{"counter", required_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{"list", no_argument, &list, 1},
		{"long", no_argument, &longer, 1},
		{"quick", no_argument, &quick, 1},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	struct selftest t = {.ms = 500, .wait_s = 6};
	const char *counter = NULL;
	unsigned i, chosen = 0;

	tool_begin("cpucycles-selftest", help, 0);
	while ((option = tool_option(argc, argv, "hV", options)) != -1)
		if (option == 'c')
			counter = optarg;
	if (quick && longer)
		return tool_usage("--quick and --long exclude each other");
	if (quick)
		t = (struct selftest){.ms = 60};
	if (longer)
		t = (struct selftest){.ms = 20000, .wait_s = 600};
	for (i = 0; list && i < CHECKS; i++)
		terminal_line("%-12s %s", checks[i].name, checks[i].what);
	if (list)
		return tool_end(stdout, NULL, TOOL_GOOD);
	for (; optind < argc; optind++) {
		for (i = 0; i < CHECKS; i++)
			if (!strcmp(checks[i].name, argv[optind]))
				break;
		if (i == CHECKS)
			return tool_usage(
				"no check is called '%s'; --list prints all",
				argv[optind]);
		chosen |= 1u << i;
	}
	status = choose_counter(&t.counter, counter);
	if (status == TOOL_GOOD)
		status = run_all(&t, chosen ? chosen : ~0u);
	return tool_end(stdout, NULL, status);
}
