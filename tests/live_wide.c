/* SPDX-License-Identifier: 0BSD */
/* A core that changes its rate for the code that it runs has its cycles counted
 * truly all the same: bursts of wide and of scalar code in turn, in pieces of
 * known length. Just after the rate has risen pieces are counted too low, until
 * a glimpse shows it; but few of a burst.
 *
 * Pieces may well count more than is known, as a core that changes its rate
 * halts for some microseconds. */
#include "load.h"

#include "wide.h"

#define TRIES 10
#define BURST 1000          /* pieces: some 3 ms */
#define SOON 16             /* a part in which no core leaves a lower rate */
#define LOW 0.95            /* a lower rate, of a higher one; or count */
#define ENOUGH (10 * BURST) /* pieces at a higher rate */
#define FEW 4               /* a part: a step is seen much sooner */

/* Where the parent can read it: the bursts; the pieces that were executed at a
 * higher rate than their burst's beginning, and those of them that count less
 * than is known. */
static struct found {
	unsigned bursts, higher, low;
} * found;

/* Whatever disturbs a piece makes it longer: the shortest one shows the rate of
 * the beginning. */
static void burst(bool is_wide)
{
	static double took[BURST], share[BURST];
	double first = 1e18;
	long long a;
	int i;

	for (i = 0; i < BURST; i++) {
		took[i] = -wall_ns();
		a = cpucycles();
		share[i] = wide_run(is_wide);
		share[i] = (double)(cpucycles() - a) / share[i];
		took[i] += wall_ns();
		if (i < BURST / SOON && took[i] < first)
			first = took[i];
	}
	for (i = BURST / SOON; i < BURST; i++)
		if (took[i] < first * LOW) {
			found->higher++;
			found->low += share[i] < LOW;
		}
	found->bursts++;
}

static int run(void)
{
	const double end = wall_ns() + load_seconds * 1e9;

	do {
		burst(true);
		burst(false);
	} while (wall_ns() < end);
	return 0;
}

/* Other hardware threads' code may keep the rate low for a while, or move it
 * again and again; a ratio that does not follow it is wrong most of the time.
 */
static void check(void)
{
	int tries = TRIES, status;
	double share;

	do {
		status = in_child(run);
		share = (double)found->low / (found->higher + 1.);
		diag("of %u bursts %u pieces were executed at a higher rate "
		     "than the beginning: of these, %.1f%% count too low",
		     found->bursts, found->higher, share * 100);
	} while (--tries > 0 && status == 0 &&
		 (found->higher < ENOUGH || share > 1. / FEW));
	if (status == 0 && found->higher < ENOUGH)
		skip("the core has one rate for wide and for scalar code");
	else
		ok(bounded(0, share, 1. / FEW, "a higher rate is not seen") &&
			   status == 0,
		   "bursts of %s and of scalar code are counted (%d)",
		   wide.name, status);
}

int main(void)
{
	const char *why_not;

	load_begin();
	why_not = wide_begin();
	if (why_not != NULL)
		skip_all("%s", why_not);
	diag("%s, an FMA takes %u cycles", wide.name, wide.latency);
	found = shared(sizeof *found);
	check();
	return done_testing();
}
