/* SPDX-License-Identifier: 0BSD */
/* What cpucycles-info --noise finds on a pretended core, of which the other
 * hardware thread is busy at times: independent instructions take longer then,
 * a chain of dependent ones does not. The files are included, as their work is.
 */
#include <config.h>
#include "cpucycles.h"
#include "tap.h"
#include "tools/common/known.h"
#include "tools/common/tool.h"

#define known pretended_chains
#define known_usable() true
#define loop pretended_loop
#define tool_ns pretended_ns
#define cpucycles_counterbyname(name, c, size) ((c)->step = 1)
static long long pretended_ns(void);
static void pretended_loop(unsigned long turns);
static void chain(unsigned long turns);
static const struct {
	void (*loop)(unsigned long turns);
} known[] = {{chain}};
#include "../src/tools/info/noise.c"
#include "../src/tools/info/noise_text.c"

#define STRETCH 3e7 /* ns, of ten; in so many the neighbour is busy, */
static int busy;
static double longer; /* and independent instructions take longer. */
static double now;    /* ns; a cycle takes as long */

static long long pretended_ns(void)
{
	now += 20;
	return (long long)now;
}

static long long pretended_count(void)
{
	now += 10;
	return (long long)now;
}

static void chain(unsigned long turns)
{
	now += 100. * (double)turns;
}

static void pretended_loop(unsigned long turns)
{
	bool contended = (long long)(now / STRETCH) % 10 < busy;

	now += 2. * (double)turns * (contended ? longer : 1);
}

static struct noise find(int stretches, double by)
{
	struct noise n;

	memset(&n, 0, sizeof n);
	busy = stretches;
	longer = by;
	noise_windows(&n);
	return n;
}

int main(void)
{
	struct noise n;
	int i;

	cpucycles = pretended_count;
	n = find(0, 1);
	ok(n.visible < 20, "no neighbour: differences of %g in 10000",
	   n.visible);
	for (i = 3; i <= 9; i += 3) {
		n = find(i, 1.3);
		ok(bounded(1000, n.visible, 10000, "in 10000") &&
			   n.steps.persecond == 0 &&
			   noise_status(&n) == TOOL_FINDING &&
			   strstr(noise_hint(&n, NOISE_VERDICT),
				  "hardware thread"),
		   "one that is busy for %d tenths of the time: %g", i,
		   n.visible);
	}
	return done_testing();
}
