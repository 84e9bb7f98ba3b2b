/* SPDX-License-Identifier: 0BSD */
/* A pretended machine's time, in which a core runs at a known rate; and its
 * kernel: the thread's clock, its word and its switches, and what takes the CPU
 * from it. For sim_machine.h. */
#ifndef SIM_KERNEL_H
#define SIM_KERNEL_H

#include <stdbool.h>
#include <stdint.h>
#include "system/rseq.h"
#include "system/scheduling.h"
#include "thread/guard.h"
#include "thread/marks.h"

#define UNUSED __attribute__((unused))

enum kernel { REPORTS, HIDES_WAITS, NO_WORD, KERNELS };

static const char *const kernel_name[KERNELS] UNUSED = {
	"reported", "waits not reported", "no word"};

/* Times in ns, rates in cycles or ticks per ns. */
static struct machine {
	double core, ticks, step; /* so many ticks at a time */
	const struct cpuc_chain_ops *ops;
	enum kernel kernel;
	double drift;          /* relative change of the core's rate per ns */
	double turning, later; /* when the rate becomes another one, or 0 */
	double ahead;          /* of another core's clock */
	double away;           /* for which others had the CPU, in all */
	unsigned bad;          /* one of so many windows is interrupted */
	bool switches_unknown; /* a filter denies getrusage(2) */
	double longer, by;     /* a part of windows is, up to twice so much */
	bool stopped;          /* the clock stands still */
	const char *distrusted;
	bool virtual;        /* of which CPUID tells */
	double odd[4];       /* of each chain: it takes so much longer */
	double reading;      /* cycles that the clock takes */
	double sibling;      /* how much longer a cycle's link takes */
	double sibling_ends; /* when it waits, or 0 */
	double bubble;       /* cycles that a turn takes beyond its links */
	double jitter;       /* cycles by which a run may be off */
} on;

static double now, begun;  /* and the time at which the machine began */
static double cycles;      /* that the core has done in all */
static double measuring;   /* ns inside the slow path */
static void (*hook)(void); /* called in a window */
static unsigned draw = 1;  /* state of all choices */
static unsigned seed;
static uint64_t highest; /* of all counts */
static int up; /* none was below one that had been given before it began */

/* A handler comes at one of the next ticks: 1, before the next, 2, after it. */
static void (*tick_hook)(void);
static int tick_hook_at;
static bool open_signals; /* they cannot be blocked */

static unsigned next_draw(void)
{
	return draw = draw * 1664525u + 1013904223u;
}

static double up_to(double most)
{
	return (double)(next_draw() >> 8) / (1 << 24) * most;
}

static double distance(double a)
{
	return a < 0 ? -a : a;
}

static void come_in(void)
{
	void (*h)(void) = tick_hook;

	/* Inside the guard it is pending. */
	if (h == NULL || --tick_hook_at > 0 ||
	    (cpuc_guard_inside && !open_signals))
		return;
	tick_hook = NULL;
	h();
}

static double rate(void)
{
	return on.core * (1 + on.drift * now);
}

static void run_on(double c)
{
	double left = on.turning > now ? on.turning - now : 0;

	cycles += c;
	if (on.turning > 0 && c >= left * rate()) {
		c -= left * rate();
		now += left;
		on.core = on.later;
		on.turning = 0;
	}
	now += c / rate();
}

/* Something takes the CPU from the thread at this time, whatever it does. */
static void (*strike)(void);
static double strike_at;

static void pass(double c)
{
	double before;

	while (strike != NULL && now + c / rate() > strike_at) {
		before = strike_at > now ? (strike_at - now) * rate() : 0;
		run_on(before);
		c -= before;
		strike();
	}
	run_on(c);
}

/* One that is behind may be below 0, and wraps then, as a register does. */
static uint64_t shown(void)
{
	static double at;
	double ticks;

	if (!on.stopped)
		at = now;
	ticks = (at + on.ahead) * on.ticks + 1e9;
	return (uint64_t)(long long)(on.step *
				     (double)(long long)(ticks / on.step));
}

/* The kernel's word, the thread's CPU, and its clock, which stands still while
 * the thread is away; each reading takes 0.9 us. */
static struct cpuc_rseq_section sections[CPUC_RSEQ_SECTIONS];
static uintptr_t pretended_word;
static uint32_t cpu, waited, preempted;
bool fake_misses_waits; /* known, or a wait was missed */

cpuc_rseq_word *fake_word(void)
{
	return on.kernel != NO_WORD ? &pretended_word : NULL;
}

uint32_t fake_cpu(void)
{
	return cpu;
}

bool fake_switches(struct cpuc_switches *n)
{
	*n = (struct cpuc_switches){waited, preempted};
	return !on.switches_unknown;
}

/* For which the thread ran, by its clock: now, and up to its latest reading or
 * switch. */
static double charged;

static double (*own_ns)(void); /* what that clock shows instead */

static double own_time(void)
{
	return own_ns != NULL ? own_ns() : now - on.away;
}

uint64_t fake_thread(uint64_t hz)
{
	pass(900 * rate());
	charged = own_time();
	return (uint64_t)((charged + 1e9) * (double)hz / 1e9);
}

/* The host has the CPU for so many ns. */
UNUSED static void host_pauses(double ns)
{
	now += ns;
	on.away += ns;
}

/* Another thread has it; or this one waits, of which the kernel may not tell.
 */
UNUSED static void leave(double ns, bool waits)
{
	host_pauses(ns);
	charged = own_time();
	if (ns > 0)
		++*(waits ? &waited : &preempted);
	if (!waits || on.kernel == REPORTS)
		pretended_word = 0;
}

/* How late interrupts from another CPU come, in the median and in all but one
 * case of a hundred: on a paravirtual Zen 5 beside others, and on an EPYC. */
struct lateness {
	double median, most;
};
static const struct lateness virtual_late UNUSED = {15e3, 30e3};
static const struct lateness bare_late UNUSED = {2.7e3, 7e3};

/* Half of them take from 0.3 of the median on, few much more than it. */
UNUSED static double lateness(const struct lateness *l)
{
	const double u = up_to(1), x = (u - 0.5) / 0.49;

	return u < 0.5 ? l->median * (0.3 + 1.4 * u)
		       : l->median + (l->most - l->median) * x * x * x * x;
}

/* A wakeup on another CPU charges the thread, which runs on for so many ns,
 * until the interrupt comes. What its clock shows already is charged. */
UNUSED static double hide(double ns)
{
	double most = own_time() - charged;

	ns = ns < most ? ns : most;
	on.away += ns;
	return ns;
}

#endif
