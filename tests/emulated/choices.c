/* SPDX-License-Identifier: 0BSD */
/* Which counter is chosen on a machine with a PMU: at each first call, beside
 * load; once the PMU has gone wrong; and where one CPU's is.
 *
 * Arguments: what, and the counter of the PMU while it is right; or "fails", a
 * CPU, and a command that exits with status 1 there.
 */
#include <config.h>
#include <stdlib.h>

#include "../../src/tools/common/affinity.h"
#include "../../src/tools/common/known.h"
#include "../faults/faults.h"
#include "../load.h"

#define FIRST_CALLS 100
#define LOADS 4
#define READS_STILL 1000 /* that are equal: no clock here is so coarse */
#define READS_MAX 3000000
/* More than a pause of the PMU takes, where one instruction takes a ns. */
#define PAUSE_TURNS (15000000UL / LOOP_INSTRUCTIONS)

static const char *name;

static bool is_chosen(void)
{
	return !strcmp(cpucycles_implementation(), name);
}

static const char *why_not(void)
{
	static struct cpucycles_counter c;

	cpucycles_counterbyname(name, &c, sizeof c);
	return c.reason;
}

/* Not fewer cycles than a loop has instructions. */
static bool counts_loop(void)
{
	long long t = -cpucycles();

	loop(1000);
	t += cpucycles();
	return t >= 1000 * LOOP_INSTRUCTIONS;
}

/* Always ready, and another's turn soon, or 100 processes take minutes. */
static void load_turn(void)
{
	loop(1000);
	sched_yield();
}

static int chosen_first(void)
{
	return !is_chosen() || !counts_loop();
}

/* Each in a process of its own: this one has not counted. */
static void first_calls(void)
{
	pid_t load[LOADS];
	int i, right = 0;

	for (i = 0; i < LOADS; i++)
		load[i] = load_rival(load_turn);
	for (i = 0; i < FIRST_CALLS; i++)
		right += in_child(chosen_first) == 0;
	for (i = 0; i < LOADS; i++)
		load_rival_end(load[i]);
	ok(right == FIRST_CALLS, "%d of %d first calls choose %s beside load",
	   right, FIRST_CALLS, name);
}

/* Counts until the count stands still, so often at most. */
static bool stands(int most)
{
	long long last = 0, now;
	int i, still = 0;

	for (i = 0; i < most && still < READS_STILL; i++) {
		now = cpucycles();
		still = now == last ? still + 1 : 0;
		last = now;
	}
	return still == READS_STILL;
}

/* Whether that is chosen again, by its name or by none. */
static bool selects(const char *wanted)
{
	return cpucycles_select(wanted) == 0 && is_chosen();
}

static void found_out(void)
{
	bool again;

	ok(is_chosen() && counts_loop(), "%s counts", name);
	ok(stands(READS_MAX),
	   "until it stands still, of which the count tells nothing");
	again = selects(NULL);
	ok(!again && strstr(why_not(), "does not advance"),
	   "a selection chooses %s: %s", cpucycles_implementation(), why_not());
	ok(!stands(10 * READS_STILL), "which counts");
}

static void pauses(void)
{
	found_out();
	loop(PAUSE_TURNS);
	ok(selects(NULL) && counts_loop(), "and the next one %s again", name);
}

static void stops(void)
{
	found_out();
	loop(PAUSE_TURNS);
	ok(!selects(NULL), "so does the next one");
	ok(cpucycles_select(name) == -1 && errno == ENOTSUP && !is_chosen(),
	   "nor can it be had by its name");
}

/* The second CPU's PMU is wrong: on a hybrid a count there finds out, and
 * elsewhere a selection. */
static void second_cpu(bool hybrid)
{
	bool chosen;

	affinity_pin(0);
	ok(selects(NULL) && counts_loop(), "the first CPU: %s", name);
	affinity_pin(1);
	if (hybrid)
		cpucycles();
	else
		cpucycles_select(NULL);
	chosen = is_chosen();
	ok(!chosen && strstr(why_not(), " cycles: a virtual PMU?"),
	   "the second: %s, as %s %s", cpucycles_implementation(), name,
	   why_not());
	ok(!stands(10 * READS_STILL), "which counts");
	affinity_pin(0);
	ok(selects(NULL) && counts_loop(), "back on the first: %s", name);
}

static char **command;

static int run_command(void)
{
	execv(command[0], command);
	return 127;
}

int main(int argc, char **argv)
{
	int status;

	if (argc < 3)
		return 2;
	name = argv[2];
	patience = 900;
	if (!strcmp(argv[1], "first")) {
		first_calls();
	} else if (!strcmp(argv[1], "pauses")) {
		affinity_pin(0);
		pauses();
	} else if (!strcmp(argv[1], "stops")) {
		affinity_pin(0);
		stops();
	} else if (!strcmp(argv[1], "second")) {
		second_cpu(false);
	} else if (!strcmp(argv[1], "hybrid")) {
		second_cpu(true);
	} else if (!strcmp(argv[1], "fails") && argc > 3) {
		affinity_pin(atoi(argv[2]));
		command = argv + 3;
		status = in_child(run_command);
		ok(status == 1, "exit status %d: %s", status, command[0]);
	} else {
		return 2;
	}
	return done_testing();
}
