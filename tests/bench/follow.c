/* SPDX-License-Identifier: 0BSD */
/* How a calibrated count follows three kinds of cores, on the pretended
 * machine: one whose rate stands still, and recordings of one that steps and
 * one that wanders. For each a title, then lines of ms, the core's rate and the
 * one that the count goes by, in GHz; gnuplot takes each as a data set. */
#include "../recorded.h"

#define TIMED 30000 /* cycles */
#define SHOWN 400   /* points of each */

static const struct recorded_core still = {NULL, 0, 2.096, 21};

static const struct followed {
	const char *title;
	const struct recorded_core *core;
	int ms; /* that are shown */
} followed[] = {
	{"a core whose rate stands still", &still, 20},
	{"one that steps: a Granite Rapids beside others", &granite, 20},
	{"one that wanders: a Zen 5", &zen5, 200},
};

static bool begin(const struct recorded_core *core)
{
	if (core->file == NULL) {
		steps.ms[0] = 0;
		steps.ms[1] = 1e9;
		steps.level[0] = steps.level[1] = 1.7;
		steps.n = 2;
	} else if (!steps_read(core)) {
		fprintf(stderr, "follow: no %s\n", core->file);
		return false;
	}
	steps_begin(core);
	return true;
}

static void follow(const struct followed *f)
{
	const double from = now, each = f->ms * 1e6 / SHOWN;
	double next;

	printf("\"%s\"\n", f->title);
	for (next = now; now < from + f->ms * 1e6;) {
		steps_on(f->core->ghz);
		pass(TIMED);
		count();
		if (now < next)
			continue;
		next += each;
		printf("%.3f %.4f %.4f\n", (now - from) / 1e6, on.core,
		       (double)cpuc_own_count.ratio.estimate / 0x1p32 * on.ticks);
	}
}

int main(void)
{
	machine_prepare();
	for (size_t i = 0; i < COUNT(followed); i++) {
		if (!begin(followed[i].core))
			return 1;
		printf("%s", i > 0 ? "\n\n" : "");
		follow(&followed[i]);
	}
	return 0;
}
