/* SPDX-License-Identifier: 0BSD */
/* A core that changes its rate for the code that it runs has its cycles counted
 * truly all the same: bursts of wide and of scalar code in turn, in pieces of
 * known length. Just after the rate has risen pieces are counted too low, until
 * a glimpse shows it.
 *
 * Pieces may well count more than is known, as a core that changes its rate
 * halts for some microseconds. */
#include "load.h"

#include "calibrated/calibration.h"
#include "calibrated/constants.h"
#include "wide.h"

#define TRIES 10
#define MOST 20000    /* pieces in a burst */
#define SOON 64       /* before which no core leaves a lower rate */
#define AGREE 5       /* hardly disturbed alike */
#define LOW 0.95      /* a lower rate, of a higher one; or count */
#define ENOUGH 1000   /* pieces that can be judged */
#define GLIMPSES 4    /* if one in three is disturbed, all of them are in 81 */
#define FEW (1. / 32) /* so not more than this may count too low */

/* The bursts; the pieces at a higher rate than their burst's beginning that has
 * lasted for GLIMPSES; and those of them that count less than is known. */
static unsigned bursts, higher, low;

/* The longest time for that many glimpses, ns. */
static double lasts(void)
{
	return GLIMPSES * (double)GLIMPSE_STILL *
	       cpuc_calibration.glimpse_cost * 1e9 /
	       (double)cpuc_calibration.hz;
}

/* Whatever disturbs a piece makes it longer: the shortest one shows the rate of
 * the beginning. AGREE in a row of another length begin another stretch. */
static void burst(bool is_wide)
{
	double first = 1e18, stretch = 0, since = 0, begun = wall_ns(), at;
	double took, share;
	long long a;
	int i, off = AGREE - 1;

	for (i = 0, at = begun; i < MOST && at - begun < 16 * lasts(); i++) {
		at = wall_ns();
		a = cpucycles();
		share = wide_run(is_wide);
		share = (double)(cpucycles() - a) / share;
		took = wall_ns() - at;
		if (i < SOON && took < first)
			first = took;
		off = took < stretch * LOW || took > stretch / LOW ? off + 1
								   : 0;
		if (off == AGREE) {
			stretch = took;
			since = at;
			off = 0;
		}
		if (i >= SOON && off == 0 && stretch < first * LOW &&
		    at - since > lasts()) {
			higher++;
			low += share < LOW;
		}
	}
	bursts++;
}

/* Other hardware threads' code may keep the rate low for a while, or move it
 * again and again; a ratio that does not follow it is wrong most of the time.
 */
static void check(void)
{
	int tries = TRIES;
	double share, end;

	do {
		end = wall_ns() + load_seconds * 1e9;
		do {
			burst(true);
			burst(false);
		} while (wall_ns() < end);
		share = (double)low / (higher + 1.);
		diag("of %u bursts %u pieces are at a higher rate than the "
		     "beginning, for %.2f ms: of these, %.1f%% count too low",
		     bursts, higher, lasts() / 1e6, share * 100);
	} while (--tries > 0 && (higher < ENOUGH || share > FEW));
	if (higher < ENOUGH)
		skip("the core has one rate for wide and for scalar code, or "
		     "another one too often");
	else
		ok(bounded(0, share, FEW, "a higher rate is not seen"),
		   "bursts of %s and of scalar code are counted", wide.name);
}

int main(void)
{
	const char *why_not;

	load_begin();
	why_not = wide_begin();
	if (why_not != NULL)
		skip_all("%s", why_not);
	diag("%s, an FMA takes %u cycles", wide.name, wide.latency);
	check();
	return done_testing();
}
