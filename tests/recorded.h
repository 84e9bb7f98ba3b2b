/* SPDX-License-Identifier: 0BSD */
/* Recordings of real cores' rates, replayed on the pretended machine. */
#ifndef RECORDED_H
#define RECORDED_H

#include "sim_machine.h"

/* A file beside this, which has for each change of a rate the time in ms, and
 * the rate from then on over the clock's; the clock's rate and step. */
struct recorded_core {
	const char *file;
	int record; /* in the file, from 0 on */
	double ghz, step;
};

static const struct recorded_core
	granite = {"rate-steps.txt", 0, 2.6, 1},
	granite_coarse UNUSED = {"rate-steps.txt", 0, 2.6, 26},
	cascade UNUSED = {"rate-steps-licence.txt", 0, 2.5, 2},
	cascade_quiet UNUSED = {"rate-steps-licence.txt", 1, 2.5, 2},
	zen5 = {"rate-wander.txt", 0, 2.096, 21},
	zen5_more UNUSED = {"rate-wander.txt", 1, 2.096, 21};

#define STEPS_MOST 6000

static struct {
	double ms[STEPS_MOST], level[STEPS_MOST];
	int n, k;    /* of these, and how many have been */
	double next; /* when the next one comes */
} steps;

/* A time that is less than the one before begins another record. */
static bool steps_read(const struct recorded_core *r)
{
	const char *top = getenv("top_srcdir");
	double ms, level, last = 0;
	char path[512], comment[2];
	int record = 0;
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/%s", top ? top : "..", r->file);
	f = fopen(path, "r");
	if (f == NULL)
		return false;
	while (fscanf(f, " %1[#]%*[^\n]", comment) == 1)
		;
	steps.n = 0;
	while (fscanf(f, "%lf %lf", &ms, &level) == 2) {
		record += ms < last;
		last = ms;
		if (record == r->record && steps.n < STEPS_MOST) {
			steps.ms[steps.n] = ms;
			steps.level[steps.n++] = level;
		}
	}
	fclose(f);
	return true;
}

static void steps_begin(const struct recorded_core *r)
{
	/* Windows of 1200 cycles were off by 0.8%. */
	open_machine((struct machine){.core = steps.level[0] * r->ghz,
				      .ticks = r->ghz,
				      .step = r->step,
				      .jitter = r->step > 2 ? 0 : 10});
	run(200e6);
	steps.k = 0;
	steps.next = now;
	measuring = 0;
}

static void steps_on(double ghz)
{
	if (now < steps.next)
		return;
	on.core = steps.level[steps.k] * ghz;
	steps.next += (steps.ms[steps.k + 1] - steps.ms[steps.k]) * 1e6;
	on.turning = steps.next;
	on.later = steps.level[++steps.k] * ghz;
}

#endif
