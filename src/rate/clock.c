/* SPDX-License-Identifier: 0BSD */
/* A clock's rate, stated and confirmed, or measured against the system's clock;
 * the scale that follows from it; and the clock's resolution. */
#include <config.h>
#include "../arithmetic.h"
#include "../system/os_clock.h"
#include "clock.h"

#define GRAIN_READS 64     /* to find the resolution */
#define GRAIN_TICKS 9      /* to find it where several reads see the same */
#define GRAIN_STANDS 10000 /* more see the same: the clock stands still */
#define COARSE_READS 10000 /* in a step of a coarse system clock */
#define TRAPPING_READS 8   /* the fastest tells whether all trap */
#define RATE_AGREES 1000   /* a clock of 10 ns steps mostly does over 10 us */
#define RATE_CONFIRMS 50   /* parts of a rate: nonsense is further off */

struct moment {
	uint64_t tick, ns;
};

/* The beginning of a tick. */
static struct moment clock_moment(const struct cpuc_clock *c)
{
	const long long last = c->tick();
	uint64_t before, after;
	long long tick;
	int wait = 1000;

	do {
		before = cpuc_os_clock_ns();
		tick = c->tick();
		after = cpuc_os_clock_ns();
	} while (tick == last && wait--);
	return (struct moment){(uint64_t)tick, before + (after - before) / 2};
}

/* Some virtual machines have steps of up to 10 ms. The first may be ending. */
bool cpuc_clock_coarse(void)
{
	uint64_t begun;
	int i, reads;

	for (i = 0; i < 2; i++) {
		begun = cpuc_os_clock_ns();
		for (reads = 0; cpuc_os_clock_ns() == begun; reads++)
			if (reads == COARSE_READS)
				return true;
	}
	return false;
}

/* Ticks per second; 0: unknown. */
static uint64_t clock_between(struct moment a, struct moment b)
{
	uint64_t ticks = b.tick - a.tick;

	if (b.ns <= a.ns || ticks > UINT64_MAX / 1000000000)
		return 0;
	return ticks * 1000000000 / (b.ns - a.ns);
}

/* Three estimates over the shortest window in which they agree to 1/agree; 0:
 * none. No moment is in all three, so a disturbed one makes them disagree. */
static uint64_t clock_measure(const struct cpuc_clock *c, uint64_t agree)
{
	/* gcc's analyser loses the loop that sets them. */
	struct moment m[4] = {{0, 0}};
	uint64_t window, hz;
	int i;

	for (window = 10000; window <= 10000000; window *= 4) {
		m[0] = clock_moment(c);
		for (i = 1; i < 4; i++) {
			while (cpuc_os_clock_ns() - m[i - 1].ns < window / 2)
				;
			m[i] = clock_moment(c);
		}
		hz = clock_between(m[0], m[2]);
		if (hz != 0 &&
		    cpuc_within(hz, clock_between(m[1], m[3]), agree) &&
		    cpuc_within(hz, clock_between(m[0], m[3]), agree))
			return hz;
	}
	return 0;
}

/* Whether every read traps, into a hypervisor or a debugger. */
static bool clock_traps(const struct cpuc_clock *c, uint64_t hz)
{
	uint64_t last = (uint64_t)c->tick(), least = UINT64_MAX, ticks;
	int i;

	for (i = 0; i < TRAPPING_READS; i++, last += ticks) {
		ticks = (uint64_t)c->tick() - last;
		least = ticks < least ? ticks : least;
	}
	return least > hz / 1000000;
}

static unsigned clock_selection = 1; /* under the engine's lock */

void cpuc_clock_again(void)
{
	clock_selection++;
}

/* c->hz is stored last, because any read may fault. */
bool cpuc_clock_rate(struct cpuc_clock *c)
{
	uint64_t hz = 0;
	bool coarse;

	if (c->hz != 0 || c->last_measured == clock_selection)
		return c->hz != 0;
	if (c->stated != NULL)
		hz = c->stated();
	coarse = cpuc_clock_coarse();
	/* Emulators and firmware state wrong rates, which are believed where
	 * the system's clock is too coarse to tell, or missing. */
	if (hz != 0)
		c->exact =
			coarse || cpuc_within(clock_measure(c, RATE_CONFIRMS),
					      hz, RATE_CONFIRMS);
	if (!c->exact)
		hz = coarse ? 0 : clock_measure(c, RATE_AGREES);
	c->last_measured = clock_selection;
	c->traps = clock_traps(c, hz);
	c->hz = hz;
	return hz != 0;
}

bool cpuc_clock_scale(struct cpuc_clock *c, uint64_t nominal_hz,
		      struct cpuc_scale *scale)
{
	uint64_t k;

	*scale = cpuc_scale_of(1, 1);
	if (!cpuc_clock_rate(c))
		/* A nominal clock without a scale is still a fair count. */
		return c->nominal;
	if (c->nominal && cpuc_within(c->hz, nominal_hz, 100))
		return true;
	if (c->exact) {
		*scale = cpuc_scale_of(nominal_hz, c->hz);
		return true;
	}
	/* Rounded it is as accurate, and mostly the same in every process. */
	k = (nominal_hz * 1024 + c->hz / 2) / c->hz;
	*scale = cpuc_scale_of(k ? k : 1, 1024);
	return true;
}

/* The resolution of a clock that advances less often than it is read. On Apple
 * silicon it is 41.67 ticks, and a read takes 0.3. */
static uint64_t clock_resolution(const struct cpuc_clock *c)
{
	uint64_t v[GRAIN_TICKS + 1], last = (uint64_t)c->tick();
	unsigned i, reads;

	for (i = 0; i <= GRAIN_TICKS; i++, last = v[i - 1]) {
		reads = GRAIN_STANDS;
		do
			v[i] = (uint64_t)c->tick();
		while (v[i] == last && --reads > 0);
		if (reads == 0)
			return 0;
	}
	for (i = 0; i < GRAIN_TICKS; i++)
		v[i] = v[i + 1] - v[i];
	cpuc_sort(v, GRAIN_TICKS);
	return v[GRAIN_TICKS / 2];
}

/* The greatest common divisor of v[0 ... n), sorted: exact, or of values that
 * may be a little off its multiples. The median is the best to begin with. */
static uint64_t clock_common(const uint64_t *v, unsigned n, bool exactly)
{
	uint64_t a, b, times, rest, divisor = 0;
	unsigned i;

	for (i = 0; i < n; i++) {
		for (a = v[(n / 2 + i) % n], b = divisor; b != 0;
		     a = b, b = rest) {
			times = (a + b / 2) / b;
			rest = a > times * b ? a - times * b : times * b - a;
			if (!exactly && rest <= times && rest <= b / 8)
				rest = 0;
		}
		divisor = a;
	}
	return divisor;
}

/* The spread of the costs of reads or, if greater, their common divisor.
 * Intel's TSC advances by 1 or 2 ticks at a time. Zen's advances by 24 to 26,
 * not always a whole number, and a second read soon after shows a tick more
 * than the first. Equal costs show no resolution, so half of the reads wait
 * first. */
uint64_t cpuc_clock_grain(const struct cpuc_clock *c, uint64_t *resolution)
{
	uint64_t v[GRAIN_READS], grain, spread, last = (uint64_t)c->tick();
	unsigned i, n = 0, same;
	volatile unsigned wait;

	for (i = 0; i < GRAIN_READS; i++) {
		for (wait = i < GRAIN_READS / 2 ? 0 : i % 8 * 5; wait > 0;
		     wait--)
			;
		v[n] = (uint64_t)c->tick() - last;
		last += v[n];
		n += (int64_t)v[n] > 1;
	}
	same = GRAIN_READS - n;
	if (same > GRAIN_READS / 2)
		return *resolution = clock_resolution(c);
	cpuc_sort(v, n);
	spread = v[n / 2] - v[0];
	grain = clock_common(v, n, false);
	if (same < GRAIN_READS / 8 && v[n - 1] < 2 * grain - grain / 8)
		grain = clock_common(v, n, true);
	*resolution = grain;
	return spread > grain ? spread : grain;
}
