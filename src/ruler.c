/* SPDX-License-Identifier: 0BSD */
/* The first calibration: what windows must be like on this machine, and
 * whether its chains can be trusted. */
#include <config.h>
#include <errno.h>
#include <stddef.h>
#include "chain.h"

#define READS 16           /* of a stamp; chain.c has as many */
#define WINDOW_CYCLES 3840 /* at least: a microsecond */
#define WINDOW_STEPS 75    /* at least: 1.3%, which READS make 0.1% */
#define TURNS_MAX 2048
#define FIRST 12 /* windows of the first chain */
#define OTHER 6  /* and of each other, for comparison */
#define ROUNDS 8 /* before a machine counts as too noisy */
#define NOISE_MIN 128   /* 0.012% */
#define DISAGREE 10     /* permille: chains further apart are not trusted */
#define LATENCY_MAX 8   /* of a steady chain */
#define LATENCY_LOW 80  /* permille: how much less than a whole number of */
#define LATENCY_HIGH 10 /* cycles it may seem to take, and how much more */

/* Chooses the chain to make windows of, as long as `cycles` cycles. */
static void choose(struct cpuc_ruler *r, const struct cpuc_chain *c,
		   uint32_t latency, uint32_t cycles)
{
	uint32_t turn = c->cycles * latency;

	r->chain = c;
	r->latency = latency;
	r->turns = (cycles + turn - 1) / turn;
}

/* The clock's resolution and cost, and from them the windows' length. */
static int survey(struct cpuc_ruler *r)
{
	uint64_t first, a, b, w, most = WINDOW_STEPS;
	unsigned i, steps = 0;

	first = a = (uint64_t)r->ops->tick();
	for (i = 0; i < 64; i++, a = b) {
		b = (uint64_t)r->ops->tick();
		steps += b != a;
	}
	if (steps == 0 || a - first > r->hz / 100)
		return -EAGAIN;
	r->step = (uint32_t)((a - first) / steps);
	/* Reads that share a step, or come one in each, resolve less of it
	 * between them. */
	if (steps < 48 || r->step < 4)
		most *= 8;
	/* Averaging is for clocks that are read in nanoseconds. */
	r->reads = (a - first) / 4 < r->hz / 250000 ? READS : 1;
	choose(r, r->ops->chain, 1, WINDOW_CYCLES);
	a = (uint64_t)r->ops->tick();
	r->chain->run(r->turns);
	w = (uint64_t)r->ops->tick() - a;
	if (w < most * r->step)
		most = r->turns * (1 + most * r->step / (w ? w : 1));
	else
		most = r->turns;
	if (most > TURNS_MAX)
		return -EAGAIN;
	r->turns = (uint32_t)most;
	/* Code, predictors and the core's rate settle. */
	for (i = 0; i < 4; i++)
		cpuc_window_warm(r);
	return 0;
}

static int32_t permille_of(uint64_t a, uint64_t b)
{
	return cpuc_deviation(a, b) / ((1 << 20) / 1000);
}

/* Makes windows of the steady chain from now on, if its latency is close to a
 * whole number of cycles. The others only ever make that seem less. */
static void prefer_steady(struct cpuc_ruler *r, uint32_t cycles)
{
	struct cpuc_ruler s = *r;
	uint64_t latency;
	int32_t off;

	/* As long a window, had it the latency that is the most common. */
	choose(&s, r->ops->steady, 1, cycles / 3);
	s.ratio = cpuc_windows(&s, FIRST);
	if (s.ratio >> 6 == 0)
		return;
	latency = r->ratio / (s.ratio >> 6);
	off = permille_of(latency, (latency + 32) / 64 * 64);
	latency = (latency + 32) / 64;
	if (latency < 1 || latency > LATENCY_MAX || off > LATENCY_HIGH ||
	    off < -LATENCY_LOW)
		return;
	s.ratio *= latency;
	choose(&s, r->ops->steady, (uint32_t)latency, cycles);
	*r = s;
}

static int make(struct cpuc_ruler *r, const char **why, unsigned *permille)
{
	struct cpuc_ruler other;
	uint32_t cycles;
	unsigned i;
	int32_t off;

	*why = "windows too noisy to agree";
	*permille = 0;
	if (survey(r) != 0)
		return -EAGAIN;
	cycles = r->turns * r->chain->cycles;
	r->ratio = cpuc_windows(r, FIRST);
	if (r->ratio == 0)
		return -EAGAIN;
	for (i = 1; i < r->ops->nchains; i++) {
		other = *r;
		choose(&other, &r->ops->chain[i], 1, cycles);
		other.ratio = cpuc_windows(&other, OTHER);
		if (other.ratio == 0)
			return -EAGAIN;
		off = permille_of(other.ratio, r->ratio);
		off = off < 0 ? -off : off;
		if ((unsigned)off > *permille)
			*permille = (unsigned)off;
	}
	if (*permille > DISAGREE) {
		*why = "chains of different instructions disagree";
		return -EDOM;
	}
	if (r->ops->steady != NULL)
		prefer_steady(r, cycles);
	*why = "the core's rate is outside 100 MHz ... 10 GHz";
	return cpuc_core_rate(r, r->ratio) ? 0 : -ERANGE;
}

int cpuc_ruler_make(struct cpuc_ruler *r, const char **why, unsigned *permille)
{
	uint64_t cycles;
	int i, err = -EAGAIN;

	for (i = 0; i < ROUNDS; i++) {
		err = make(r, why, permille);
		if (err == 0 || err == -ERANGE)
			break;
	}
	if (err)
		return err;
	/* An eighth of the clock's step is left in a window. */
	cycles = (uint64_t)r->turns * r->chain->cycles * r->latency;
	r->noise = (uint32_t)((r->step * r->ratio >> 15) / cycles);
	if (r->noise < NOISE_MIN)
		r->noise = NOISE_MIN;
	/* The long part, and as much again for what is around it. */
	r->span = (uint32_t)((cycles << 17) / (r->ratio >> 16)) + 1;
	return 0;
}
