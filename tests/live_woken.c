/* SPDX-License-Identifier: 0BSD */
/* A calibrated counter counts no less than a thread's work where a process on
 * another CPU wakes a rival on the thread's. The work has a known length, and
 * what the thread's clock lacks of it was hidden: tests/woken.h. What is hidden
 * is known of this run; beyond what the page says counts of each pause, pieces
 * may be low. */
#include "woken.h"

#include <sys/prctl.h>
#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif
#include "calibrated/constants.h"

#define LOW 0.95
#define CALM 41       /* pieces without a rival, before a try and after it */
#define STILL 1.03    /* the rate stands still meanwhile */
#define TURN_NS 1e7   /* the rival is woken for so long, then sleeps */
#define ENOUGH 60     /* pieces of which much was hidden, or */
#define TRIES 3       /* of live_seconds(), */
#define AGAIN 5       /* and of them all: the host may be busy */
#define HID_PARTS 10  /* one part of those that hid may be low, */
#define ALL_PARTS 100 /* of those with a sleep this part, */
#define FEW 2         /* and so many more; and for each that is low */
#define OTHER 3       /* while the rival sleeps, so many */

static const struct job {
	double us;
	long sleep;
	unsigned before;
	const char *name;
} jobs[] = {
	{10, 0, 0, "pieces of 10 us"},
	{25, 0, 0, "pieces of 25 us"},
	{100, 0, 0, "pieces of 100 us"},
	{1, 20000, 20, "sleeps of 20 us in 1 us"},
};

/* Of all tries in which the core's rate stood still. While the rival sleeps
 * something else makes pieces low: a core that becomes faster for a moment. */
struct sum {
	int pieces, hid, low, other;
	double lowest; /* of what should have been counted */
};

static double counts_ns = 1e9 / SWITCH_HIDES_VIRTUAL; /* of each pause */

/* Less where CPUID says that this is no virtual machine. */
static void find_counts(void)
{
#if defined __x86_64__ || defined __i386__
	unsigned a, b, c, d;

	if (__get_cpuid(1, &a, &b, &c, &d) && !(c >> 31))
		counts_ns = 1e9 / SWITCH_HIDES;
#endif
}

static int compare(const void *a, const void *b)
{
	const double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The own time of an undisturbed piece; 0: a count was low. */
static double calm(const struct woken_piece *p)
{
	double own[CALM];
	struct woken_took t;
	int i, low = 0;

	*woken.awake = false;
	for (i = 0; i < CALM; i++) {
		t = woken_work(p);
		own[i] = t.own;
		low += t.counted < LOW * woken_cycles(p);
	}
	*woken.awake = true;
	qsort(own, CALM, sizeof *own, compare);
	return low > 0 ? 0 : own[CALM / 4];
}

/* A piece of which more than so much was hidden may lack the rest. */
static void judge(struct sum *s, const struct woken_piece *p,
		  const struct woken_took *t, double own)
{
	const double work = woken_cycles(p), hid = own - t->own;
	double should = work, part;

	s->pieces++;
	s->hid += p->sleep == 0 && hid > (1 - LOW) * own;
	if (p->sleep == 0 && hid > counts_ns)
		should -= work * (hid - counts_ns) / own;
	part = should > 0 ? t->counted / should : 1;
	s->low += part < LOW;
	if (part < s->lowest)
		s->lowest = part;
}

static void turn(const struct woken_piece *p, struct sum *s, double own)
{
	const double end = wall_ns() + TURN_NS;
	struct woken_took t;

	while (wall_ns() < end) {
		t = woken_work(p);
		judge(s, p, &t, own);
	}
}

/* Whether the core's rate stood still. */
static bool try(const struct woken_piece *p, struct sum *s)
{
	const double end = wall_ns() + load_seconds * 1e9, own = calm(p);
	struct sum other = {.lowest = 1};
	double then;

	while (wall_ns() < end && s->hid < ENOUGH) {
		turn(p, s, own);
		*woken.awake = false;
		turn(p, &other, own);
		*woken.awake = true;
	}
	s->other += other.low;
	then = calm(p);
	return p->sleep > 0 || (own < STILL * then && then < STILL * own);
}

/* How many of the tries count. */
static int tries(const struct woken_piece *p, struct sum *all)
{
	struct sum now;
	int i, still = 0;

	*all = (struct sum){.lowest = 1};
	for (i = 0; i < TRIES && all->hid < ENOUGH; i++) {
		now = *all;
		if (!try(p, &now))
			continue;
		still++;
		*all = now;
	}
	return still;
}

static int may_be_low(const struct woken_piece *p, const struct sum *s)
{
	return FEW + OTHER * s->other +
	       (p->sleep > 0 ? s->pieces / ALL_PARTS : s->hid / HID_PARTS);
}

static void check_job(const struct job *job, int how, double rate)
{
	const struct woken_piece piece = {
		(unsigned long)(job->us * 1e3 * rate) / known->turn + 1,
		job->sleep, job->before};
	const char *who = how == WOKEN_FIFO ? "a real-time rival" : "a rival";
	struct sum all;
	int i = 0, still;

	do
		still = tries(&piece, &all);
	while (all.low > may_be_low(&piece, &all) && ++i < AGAIN);
	if (still == 0) {
		skip("%s beside %s: in each of %d tries the core's rate moved, "
		     "or pieces were low while it slept",
		     job->name, who, TRIES);
		return;
	}
	ok(bounded(0, all.low, may_be_low(&piece, &all),
		   "pieces are below the work, less what may be missing"),
	   "%s beside %s: %d of %d low, lowest %.3f; of %d much was hidden; "
	   "%d low while it slept",
	   job->name, who, all.low, all.pieces, all.lowest, all.hid, all.other);
}

int main(void)
{
	const char *why;
	int how;
	double rate;
	size_t i;

	if (SANITIZED)
		skip_all("a sanitizer makes calls long");
	load_begin();
	why = woken_begin();
	if (why != NULL)
		skip_all("%s", why);
	prctl(PR_SET_TIMERSLACK, 1);
	rate = (double)load_rate() / 1e9;
	if (rate == 0)
		skip_all("the core's rate cannot be observed");
	find_counts();
	for (how = WOKEN_ORDINARY; how <= WOKEN_FIFO; how++) {
		if (!woken_set((enum woken_how)how)) {
			skip("a process may not be a real-time one here");
			continue;
		}
		for (i = 0; i < COUNT(jobs); i++)
			check_job(&jobs[i], how, rate);
	}
	woken_end();
	return done_testing();
}
