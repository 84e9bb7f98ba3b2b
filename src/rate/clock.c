/* SPDX-License-Identifier: 0BSD */
/* A clock's rate, stated and confirmed, or measured against the operating
 * system's clock; the cycles per tick that follow from it; and the clock's
 * resolution. */
#include <config.h>
#include "clock.h"
#include "../system/os_clock.h"

#define READS 64         /* to see the resolution */
#define STEPS_SEEN 9     /* if reads are faster than the clock's steps, */
#define STEP_READS 10000 /* each of which takes fewer than so many */
#define COARSE 10000     /* reads of the system's clock in one of its steps */
#define BRACKETS 3
#define TRAPS 8    /* reads, the fastest of which tells whether all trap */
#define AGREE 1000 /* a clock of 10 ns steps agrees over 10 us, mostly */
#define CONFIRM 50 /* parts of a rate: nonsense is further off */

struct moment {
	uint64_t tick, ns;
};

/* The beginning of a tick, by the best of three tries. */
static struct moment clock_moment(const struct cpuc_clock *c)
{
	struct moment best = {0, 0};
	uint64_t before, after, tick, gap = UINT64_MAX;
	long long last;
	int i, wait;

	for (i = 0; i < BRACKETS; i++) {
		last = c->tick();
		wait = 1000;
		do {
			before = cpuc_os_clock_ns();
			tick = (uint64_t)c->tick();
			after = cpuc_os_clock_ns();
		} while (tick == (uint64_t)last && wait--);
		if (after - before < gap) {
			gap = after - before;
			best = (struct moment){tick, before + gap / 2};
		}
	}
	return best;
}

/* No rate can be measured in a short time by steps of 0.1 to 10 ms, as some
 * virtual machines have. Of two, as the first one may be about to end. */
bool cpuc_clock_coarse(void)
{
	uint64_t begun;
	int i, reads;

	for (i = 0; i < 2; i++) {
		begun = cpuc_os_clock_ns();
		for (reads = 0; cpuc_os_clock_ns() == begun; reads++)
			if (reads == COARSE)
				return true;
	}
	return false;
}

/* The next moment, so many nanoseconds later. */
static struct moment clock_wait(const struct cpuc_clock *c,
				const struct moment *from, uint64_t ns)
{
	while (cpuc_os_clock_ns() - from->ns < ns)
		;
	return clock_moment(c);
}

/* Ticks per second; 0: unknown. */
static uint64_t clock_between(struct moment a, struct moment b)
{
	uint64_t ticks = b.tick - a.tick;

	if (b.ns <= a.ns || ticks > UINT64_MAX / 1000000000)
		return 0;
	return ticks * 1000000000 / (b.ns - a.ns);
}

bool cpuc_clock_within(uint64_t a, uint64_t b, uint64_t parts)
{
	return (a > b ? a - b : b - a) <= b / parts;
}

/* Three estimates over the shortest window in which they agree to 1/agree:
 * microseconds for a fine clock, milliseconds for a coarse one. The windows
 * overlap, and no moment is in all of them, so that a disturbed one shows. 0:
 * the rate is unknown. */
static uint64_t clock_measure(const struct cpuc_clock *c, uint64_t agree)
{
	/* gcc's analyser loses the loop that sets them. */
	struct moment m[4] = {{0, 0}};
	uint64_t window, hz;
	int i;

	for (window = 10000; window <= 10000000; window *= 4) {
		m[0] = clock_moment(c);
		for (i = 1; i < 4; i++)
			m[i] = clock_wait(c, &m[i - 1], window / 2);
		hz = clock_between(m[0], m[2]);
		if (hz != 0 &&
		    cpuc_clock_within(hz, clock_between(m[1], m[3]), agree) &&
		    cpuc_clock_within(hz, clock_between(m[0], m[3]), agree))
			return hz;
	}
	return 0;
}

/* Whether every read traps, into a hypervisor or a debugger. */
static bool clock_traps(const struct cpuc_clock *c)
{
	uint64_t last = (uint64_t)c->tick(), least = UINT64_MAX, ticks;
	int i;

	for (i = 0; i < TRAPS; i++, last += ticks) {
		ticks = (uint64_t)c->tick() - last;
		least = ticks < least ? ticks : least;
	}
	return least > c->hz / 1000000;
}

static unsigned clock_selection = 1; /* under the engine's lock */

void cpuc_clock_again(void)
{
	clock_selection++;
}

/* `hz` is stored late, as this may end in a fault at any read. */
bool cpuc_clock_rate(struct cpuc_clock *c)
{
	uint64_t hz = 0;
	bool coarse;

	if (c->hz != 0 || c->last_measured == clock_selection)
		return c->hz != 0;
	if (c->stated != NULL)
		hz = c->stated();
	coarse = cpuc_clock_coarse();
	/* A stated rate that the clock does not confirm is worse than none:
	 * emulators and wrong firmware tables have been seen. It is believed
	 * where the system's clock is too coarse to tell, or not there. */
	if (hz != 0)
		c->exact =
			coarse || cpuc_clock_within(clock_measure(c, CONFIRM),
						    hz, CONFIRM);
	if (c->exact)
		c->hz = hz;
	else if (!coarse)
		c->hz = clock_measure(c, AGREE);
	c->last_measured = clock_selection;
	c->traps = clock_traps(c);
	return c->hz != 0;
}

bool cpuc_clock_scale(struct cpuc_clock *c, uint64_t nominal_hz,
		      struct cpuc_scale *scale)
{
	uint64_t k;

	*scale = cpuc_scale_of(1, 1);
	if (!cpuc_clock_rate(c))
		/* A nominal clock without a scale is still a fair count. */
		return c->nominal;
	if (c->nominal && cpuc_clock_within(c->hz, nominal_hz, 100))
		return true;
	if (c->exact) {
		*scale = cpuc_scale_of(nominal_hz, c->hz);
		return true;
	}
	/* Rounded to 1/1024 it is as true as the measurement, and mostly the
	 * same in every process. */
	k = (nominal_hz * 1024 + c->hz / 2) / c->hz;
	*scale = cpuc_scale_of(k ? k : 1, 1024);
	return true;
}

void cpuc_sort(uint64_t *v, unsigned n)
{
	unsigned i, j;
	uint64_t x;

	for (i = 1; i < n; i++) {
		x = v[i];
		for (j = i; j > 0 && v[j - 1] > x; j--)
			v[j] = v[j - 1];
		v[j] = x;
	}
}

/* A step of a clock that is read several times in each: ticks. They are of
 * 41.67, and a read of 0.3, on Apple silicon. */
static uint64_t clock_step(const struct cpuc_clock *c)
{
	uint64_t v[STEPS_SEEN + 1], last = (uint64_t)c->tick();
	unsigned i, reads;

	for (i = 0; i <= STEPS_SEEN; i++, last = v[i - 1]) {
		reads = STEP_READS;
		do
			v[i] = (uint64_t)c->tick();
		while (v[i] == last && --reads > 0);
		if (reads == 0)
			return 0;
	}
	for (i = 0; i < STEPS_SEEN; i++)
		v[i] = v[i + 1] - v[i];
	cpuc_sort(v, STEPS_SEEN);
	return v[STEPS_SEEN / 2];
}

/* The common divisor of v[0 ... n), sorted: exactly, or of values that are a
 * little more or less than its multiples. The median is the best to begin with.
 */
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

/* The spread of a read's cost, or the common divisor of costs, whichever is
 * greater. Intel's TSC advances by 1 or 2 ticks at a time, that of AMD's Zen by
 * 24 to 26, which need not be whole; and its second read in a step shows a tick
 * more than the first. So half of the reads come later by something: costs that
 * are all about the same are not yet a step. */
uint64_t cpuc_clock_grain(const struct cpuc_clock *c)
{
	uint64_t v[READS], grain, spread, last = (uint64_t)c->tick();
	unsigned i, n = 0, same;
	volatile unsigned wait;

	for (i = 0; i < READS; i++) {
		for (wait = i < READS / 2 ? 0 : i % 8 * 5; wait > 0; wait--)
			;
		v[n] = (uint64_t)c->tick() - last;
		last += v[n];
		n += v[n] > 1;
	}
	same = READS - n;
	if (same > READS / 2)
		return clock_step(c);
	cpuc_sort(v, n);
	spread = v[n / 2] - v[0];
	grain = clock_common(v, n, false);
	if (same < READS / 8 && v[n - 1] < 2 * grain - grain / 8)
		grain = clock_common(v, n, true);
	return spread > grain ? spread : grain;
}
