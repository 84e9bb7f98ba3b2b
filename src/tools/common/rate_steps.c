/* SPDX-License-Identifier: 0BSD */
/* Steps of the core's rate, found in the lengths of windows of equal work.
 *
 * An interruption makes a window longer, too, but hardly several in a row by
 * the same amount. A slow drift is no step: the level follows it. */
#include <config.h>
#include <stdbool.h>
#include <stdlib.h>
#include "rate_steps.h"
#include "stats.h"

#define PERCENT 1 /* closer windows have the same rate */
#define AGREE 5   /* windows in a row that make a level */
#define FOLLOW 16 /* windows in a level's mean */
#define READINGS 1000

static bool rate_same(long long a, long long b, long long grain)
{
	return llabs(a - b) <= b * PERCENT / 100 + grain;
}

long long rate_steps_grain(long long (*clock)(void))
{
	long long least = 0, last = clock(), now;
	int i;

	for (i = 0; i < READINGS; i++, last = now) {
		now = clock();
		if (now > last && (least == 0 || now - last < least))
			least = now - last;
	}
	return least;
}

void rate_steps_add(struct rate_steps *s, long long ns, long long length,
		    long long grain)
{
	if (s->first == 0)
		s->first = ns;
	s->last = ns;
	if (s->level != 0 && rate_same(length, s->level, grain)) {
		s->level += (length - s->level) / FOLLOW;
		s->off = 0;
		return;
	}
	if (s->off == 0 || !rate_same(length, s->other, grain)) {
		s->other = length;
		s->since = ns;
		s->off = 0;
	}
	if (++s->off < AGREE)
		return;
	if (s->level != 0 && s->n < RATE_STEPS_MOST) {
		s->size[s->n] = llabs(s->other - s->level) * 10000 / s->level;
		s->lasted[s->n] = s->since - s->begun;
	}
	s->n += s->level != 0;
	s->level = s->other;
	s->begun = s->since;
	s->off = 0;
}

struct rate_summary rate_steps_sum(struct rate_steps *s)
{
	int n = s->n < RATE_STEPS_MOST ? s->n : RATE_STEPS_MOST;

	if (n == 0)
		return (struct rate_summary){0, 0, 0};
	return (struct rate_summary){s->n * 1e9 / (double)(s->last - s->first),
				     (double)stats_median(s->size, n) / 1e4,
				     (double)stats_median(s->lasted, n) / 1e9};
}
