/* SPDX-License-Identifier: 0BSD */
/* Which perf events are opened on a pretended kernel, by what sysfs lists and
 * the kernel permits; the reasons that users get; and the counters of x86. */
#define _GNU_SOURCE
#include <config.h>
#include "cases.h"

#if !HAVE_COUNTER_DEFAULT_PERFEVENT
SKIPPED_MAIN("there is no <linux/perf_event.h>")
#else

#include "pretended_perf.h"

/* In `how`, type * REFUSED: the kernel refuses its events. */
enum { REFUSED = 4 };

/* What sysfs lists beside PMUs of no core, and how many events the counter has.
 * If all are of no core the kernel is not asked: a filter might kill. */
static const struct listing {
	const char *pmus;
	unsigned n, type; /* how many; the first one's */
	unsigned how, events;
} listings[] = {
	{"software", 1, 1, NUMBERS, 0},
	{"breakpoint kprobe msr software tracepoint uprobe", 6, 1, CPUS, 0},
	{"cpum_cf", 1, 9, NUMBERS, 1},
	{"armv7_cortex_a9", 1, 9, NUMBERS, 1},
	{"arc_pct", 1, 4, NUMBERS, 1},
	{"cpu", 1, 8, NUMBERS, 1},
	{"armv8_pmuv3_0", 1, 8, CPUS | NUMBERS, 1},
	{"cpu_core cpu_atom cpu_lowpower", 3, 4, CPUS, 3},
	{"cpu_core cpu_atom", 2, 4, CPUS | 4 * REFUSED, 1},
	{"cpu_core cpu_atom", 2, 4, CPUS | 5 * REFUSED, 1},
	{"cpu_core cpu_atom cpu", 3, 4, CPUS, 1},
	{"cortex_a520 cortex_a720 cortex_a725 x4", 4, 4, CPUS | NUMBERS, 4},
	{"p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11", 12, 4, CPUS, CPUC_CORES},
	{"one of no core", 0, 1, 0, 0},
	{"nothing at all", 0, 0, 0, 1},
};

static void check_listing(const struct listing *l)
{
	const bool generic = l->events == 1 || (l->how & NUMBERS) == 0;
	struct cpuc_event all[CPUC_CORES];
	unsigned i, bad = 0, seen = 0;

	fresh();
	place(CPUC_PMUS "none"); /* an empty directory */
	if (l->type > 0)
		put_pmus(l->pmus, l->n, l->type, l->how);
	k.refuse_type = l->how / REFUSED;
	memset(all, 0xff, sizeof all);
	if (cpuc_core_pmus(all, one.counts) == 1)
		bad += all->type != PERF_TYPE_HARDWARE ||
		       all->config != one.counts;
	bad += (open_counter(&one) == 0) != (l->events > 0);
	/* Once: threads use what was found. */
	put_pmus("late later", 2, 20, CPUS);
	cpuc_perf_close(&one);
	open_counter(&one);
	bad += one.n != l->events || (k.made > 0) != (l->events > 0);
	bad += one.opened !=
	       (one.n > 0 ? 1 + (CPUC_NO_KERNEL | CPUC_NO_HV) : 0);
	for (i = 0; i < one.n; i++) {
		const struct cpuc_event *e = &one.event[i];

		bad += generic ? e->type != PERF_TYPE_HARDWARE ||
					 (uint32_t)e->config != one.counts
			       : e->config != PMU_NUMBER;
		seen |= 1u << (generic ? e->config >> 32 : e->type);
	}
	/* One without a type, or one for each. */
	bad += __builtin_popcount(seen) != (int)l->events;
	bad += (seen & 1) != (l->events == 1);
	ok(bad == 0, "listed: %s: %u events%s", l->pmus, l->events,
	   k.refuse_type ? ", of which one is refused" : "");
}

#define RDPMC CPUC_PMUS "cpu/rdpmc"
#define OPEN "run cpucycles-open as root"
#define SECCOMP "its seccomp profile must allow this call"

/* The counter does not open: the reason and the hint that a user gets. */
static const struct refusal {
	int err, exclude, rest; /* of k.refuse... */
	const char *paranoid, *rdpmc;
	const char *reason, *hint;
} refusals[] = {
	{-EACCES, 0, 0, "4\n", NULL,
	 "perf_event_paranoid is 4, and 2 or less is needed", OPEN},
	{-EACCES, 0, 0, "2\n", NULL, "perf_event_open: EACCES (container?)",
	 SECCOMP},
	{-EACCES, 0, 0, "4 or so\n", NULL,
	 "perf_event_open: EACCES (container?)", SECCOMP},
	{-EINVAL, CPUC_NO_KERNEL, -EACCES, "2\n", NULL,
	 "perf_event_paranoid is 2, and 1 or less is needed",
	 "run sysctl kernel.perf_event_paranoid=1 as root"},
	{-ENOENT, CPUC_NO_KERNEL, -EACCES, "2\n", NULL, NULL, CPUC_NO_PMU_HINT},
	{-ENODEV, CPUC_NO_KERNEL, -EACCES, "2\n", NULL, NULL, CPUC_NO_PMU_HINT},
	{-EOPNOTSUPP, 0, 0, "2\n", NULL, NULL, CPUC_NO_PMU_HINT},
	{-EPERM, 0, 0, "2\n", NULL, "perf_event_open: EPERM (container?)",
	 SECCOMP},
	{-ENOSYS, 0, 0, "4\n", NULL, "perf_event_open: ENOSYS (container?)",
	 SECCOMP},
	{-ENOSYS, 0, 0, "", NULL,
	 "perf_event_open: ENOSYS (kernel without perf events?)", ""},
	{-EMFILE, 0, 0, "2\n", NULL, "perf_event_open: errno 24", ""},
	{0, 0, 0, "2\n", "0\n", RDPMC " is 0", OPEN},
	{0, 0, 0, "2\n", "2\n", RDPMC " is 2",
	 "reads by perf events need it to be 1"},
	{0, 0, 0, "2\n", "unreadable",
	 RDPMC " is 0, or the kernel has no counter to give", OPEN},
	{0, 0, 0, "2\n", NULL, "index 0: the kernel has no counter to give",
	 ""},
	{0, 0, 0, "2\n", "1\n", "index 0: the kernel has no counter to give",
	 ""},
};

static void check_refused(const struct refusal *r)
{
	const char *reason = r->reason               ? r->reason
			     : counts_instructions() ? CPUC_NO_INSTRUCTIONS
						     : CPUC_NO_PMU;
	const char *rdpmc = r->rdpmc != NULL ? r->rdpmc : "";
	const bool opens = r->err == 0 && *rdpmc != '0' && *rdpmc != '2';
	int got;

	fresh();
	k.refuse = r->err;
	k.refuse_exclude = (unsigned)r->exclude;
	k.refuse_rest = r->rest;
	k.next_index = 0;
	put_text("/proc/sys/kernel/perf_event_paranoid", r->paranoid);
	put_pmu("cpu", "type", "4\n");
	if (r->rdpmc != NULL)
		put_pmu("cpu", "rdpmc", r->rdpmc);
	if (*rdpmc == 'u')
		chmod(place(RDPMC), 0);
	one.outside = 2;
	got = open_counter(&one);
	ok(got < 0 && !strcmp(it.trial.reason, reason) &&
		   !strcmp(it.trial.hint ? it.trial.hint : "", r->hint) &&
		   (k.made > 0) == opens && left_open() == 0 &&
		   own->set == NULL,
	   "%s; %s; nothing stays open", it.trial.reason, r->hint);
	/* Perhaps later: then only its events are true. */
	got = cpuc_perf_absent(&it, &one);
	one.outside = 0;
	ok(*rdpmc == '1' ? got < 0 && strstr(it.trial.reason, "perf events")
			 : got == 0 && !*it.trial.reason && !it.trial.hint,
	   "so it %s be read outside perf", got == 0 ? "may" : "may not");
}

/* The PMU cannot leave these out. */
static void check_less(unsigned exclude, unsigned opened)
{
	fresh();
	k.refuse = -EINVAL;
	k.refuse_exclude = exclude;
	ok(open_counter(&one) == 0 && one.opened == 1 + opened,
	   "a PMU that cannot leave out %#x (%s)", exclude, it.trial.reason);
}

#if HAVE_COUNTER_AMD64_PERFPMCFF
#include "../src/counters/amd64_perfpmcff.c"
#include "../src/counters/amd64_perfpmc.c"
#include "../src/counters/amd64_pmcff.c"

#define FIXED 0x40000000u

/* Indexes as in the page: RDPMC's operand plus 1. */
static void check_x86_index(uint32_t index, const char *what)
{
	const struct cpuc_counter *all[] = {&cpuc_counter_amd64_perfpmcff,
					    &cpuc_counter_amd64_perfpmc,
					    &cpuc_instructions_amd64_perfpmc};
	uint64_t a;
	int i, bad = 0;

	for (i = 0; i < 3; i++) {
		count_by(all[i]->events->counts);
		fresh();
		unopened(all[i]->events);
		k.next_index = index;
		k.next_width = 48;
		k.next_start = UINT64_C(0xffff80000000);
		/* This CPU may lack the fixed counter. */
		open_counter(all[i]->events);
		bad += !all[i]->events->keep_page;
		if (i == 0)
			bad += (all[i]->open(&it) == 0) != (index > FIXED);
		a = (uint64_t)all[i]->read();
		run(12345);
		bad += (uint64_t)all[i]->read() - a != 12345;
	}
	count_by(PERF_COUNT_HW_CPU_CYCLES);
	ok(bad == 0, "x86: %s", what);
}

static void check_pmcff(const char *reason)
{
	ok(amd64_pmcff_open(&it) < 0 && strstr(it.trial.reason, reason),
	   "amd64-pmcff: %s", it.trial.reason);
}

static void check_x86(void)
{
	check_x86_index(FIXED + 2, "fixed counter 1");
	check_x86_index(1, "counter 0");
	fresh();
	put_pmu("cpu_atom", "rdpmc", "1\n");
	put_pmu("cpu_core", "rdpmc", "1\n");
	check_pmcff(CPUC_PMUS "cpu_core/rdpmc is 1");
	fresh();
	check_pmcff("no PMU");
	unopened(&cpuc_x86_cycle_events);
	put_pmu("cpu", "rdpmc", "2\n");
	check_pmcff("perf events");
	ok(left_open() == 0, "which it closes");
	amd64_perfpmcff_read();
	check_pmcff("perf events");
	ok(own->set != NULL, "but not if the thread had them before");
}
#else
static void check_x86(void)
{
	skip("not 64-bit x86");
}
#endif

static void check_all(void)
{
	size_t i;

	for (i = 0; i < COUNT(listings); i++)
		check_listing(&listings[i]);
	for (i = 0; i < COUNT(refusals); i++)
		check_refused(&refusals[i]);
	check_less(CPUC_NO_KERNEL | CPUC_NO_HV, 0);
	check_less(CPUC_NO_HV, CPUC_NO_KERNEL);
}

int main(void)
{
	int lowest = dup(1);

	close(lowest);
	setenv("TMPDIR", "/tmp", 1);
	make_base("sim_pmus");

	on_both(check_all);
	check_x86();
	ok(dup(1) == lowest, "no descriptor is left");
	return done_with_kernel();
}

#endif
