/* SPDX-License-Identifier: 0BSD */
/* Which of two commands takes fewer cycles.
 *
 * Each pair of runs in turn has a ratio. Whatever their distribution, their
 * median lies between the k-th lowest and the k-th highest unless fewer than k
 * of n tosses of a coin are heads, or tails. */
#include <config.h>
#include <stdlib.h>
#include "run.h"
#include "../common/json.h"
#include "../common/stats.h"
#include "../common/terminal.h"
#include "../common/tool.h"

#define LEAST 6     /* runs: fewer cannot be as sure as that */
#define DOUBT 0.025 /* at each end */
#define NORMAL 200  /* tosses whose sum is distributed normally */
#define MANY 0.98   /* half of the 1.96 deviations that leave DOUBT */

/* How many of n sorted ratios may be left out at each end. */
static int verdict_left(int n)
{
	double part = 1, sum; /* the odds of k heads; of that, or fewer */
	int i, k = 0;

	if (n > NORMAL)
		return (int)(n / 2.0 - MANY * stats_root(n));
	for (i = 0; i < n; i++)
		part /= 2;
	sum = part;
	while (sum <= DOUBT) {
		k++;
		part *= (double)(n - k + 1) / k;
		sum += part;
	}
	return k;
}

static int verdict_ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* Cycles, or CPU time where they are unknown. */
static double verdict_value(const struct command *c, int i)
{
	return (double)(c->rows[CYCLES][i] >= 0
				? c->rows[CYCLES][i]
				: c->rows[USER][i] + c->rows[SYSTEM][i]);
}

struct verdict verdict_find(const struct command *first,
			    const struct command *second)
{
	static double ratios[RUNS_MOST];
	struct verdict v = {-1, -1, -1, false};
	int n = second->runs < first->runs ? second->runs : first->runs, i, k;
	double one;

	for (i = 0; i < n; i++) {
		one = verdict_value(first, i);
		v.time |= first->rows[CYCLES][i] < 0;
		ratios[i] = verdict_value(second, i) / (one > 0 ? one : 1);
	}
	if (n == 0)
		return v;
	qsort(ratios, (size_t)n, sizeof *ratios, verdict_ascending);
	v.ratio = (ratios[(n - 1) / 2] + ratios[n / 2]) / 2;
	if (n < LEAST)
		return v;
	k = verdict_left(n) - 1;
	v.low = ratios[k];
	v.high = ratios[n - 1 - k];
	return v;
}

/* Such as "2.1% more", in a text of PART bytes. */
#define PART 32
static const char *verdict_part(char *text, double ratio)
{
	const double part = ratio < 1 ? 1 - ratio : ratio - 1;

	snprintf(text, PART, "%.*f%% %s", part < 0.1, part * 100,
		 ratio < 1 ? "less" : "more");
	return text;
}

/* Static storage. */
static const char *verdict_text(const struct verdict *v)
{
	const char *what = v->time ? "CPU time" : "cycles";
	char low[PART], high[PART], typical[PART];
	static char text[200];

	verdict_part(low, v->low);
	verdict_part(high, v->high);
	verdict_part(typical, v->ratio);
	if (v->low < 0)
		snprintf(text, sizeof text,
			 "too few runs to tell: %d of each are needed", LEAST);
	else if (v->low <= 1 && v->high >= 1)
		snprintf(text, sizeof text,
			 "no difference can be seen; by %s, the second takes "
			 "between %s and %s",
			 what, low, high);
	else
		snprintf(text, sizeof text,
			 "by %s, the second takes %s than the first: between "
			 "%s and %s",
			 what, typical, low, high);
	return text;
}

void verdict_print(FILE *f, const struct verdict *v)
{
	const char *text = verdict_text(v);

	if (run.form == FORM_PEOPLE) {
		terminal_print(0, 0, "Verdict: %s.", text);
		return;
	}
	result_number(f, "ratio", 4, v->ratio);
	result_number(f, "ratio_minimum", 4, v->low);
	result_number(f, "ratio_maximum", 4, v->high);
	if (run.form == FORM_JSON)
		json_text("verdict", text);
	else
		fprintf(f, "%-30s %s\n", "verdict", text);
}
