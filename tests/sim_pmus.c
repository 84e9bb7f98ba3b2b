/* SPDX-License-Identifier: 0BSD */
/* Which perf events are opened on a pretended kernel, by what sysfs lists and
 * the kernel permits; and the reasons that users get. Each case has a tree of
 * files. */
#define _GNU_SOURCE
#include <config.h>
#include <limits.h>
#include "cases.h"

#if !HAVE_COUNTER_DEFAULT_PERFEVENT
SKIPPED_MAIN("there is no <linux/perf_event.h>")
#else

#include "tree.h"
#include "../src/system/syscalls.h"

/* A file of mode 0 may not be read, not even by root. */
static int pretended_open(const char *path, int flags)
{
	struct stat s;

	if (stat(path, &s) != 0 || (s.st_mode & 0777) != 0)
		return cpuc_sys_open(path, flags);
	errno = EACCES;
	return -1;
}

#define cpuc_sys_open pretended_open
#define CPUC_SYS_ROOT root
#include "system/os_clock.h"
#include "pretended_perf.h"

/* A file of a PMU's. */
static void put_pmu(const char *pmu, const char *file, const char *text)
{
	char name[256];

	snprintf(name, sizeof name, CPUC_PMUS "%s/%s", pmu, file);
	put_text(name, text);
}

#if HAVE_COUNTER_AMD64_PERFPMCFF
static uint32_t operand;

static uint64_t pretended_rdpmc(uint32_t ecx)
{
	operand = ecx;
	return register_of(ecx + 1);
}

#define CPUC_RDPMC(ecx) pretended_rdpmc(ecx)
#include "../src/counters/amd64_perfpmc.c"
#include "../src/counters/amd64_perfpmcff.c"
#include "../src/counters/amd64_pmcff.c"

#include <cpuid.h>
#include "calibrated/proof.h"
#include "pretended_chains.h"

static unsigned extended_b, extended_d; /* of CPUID leaf 0x80000008 */

static int pretended_cpuid(unsigned leaf, unsigned *a, unsigned *b, unsigned *c,
			   unsigned *d)
{
	*a = *c = 0;
	*b = leaf == 0x80000008 ? extended_b : 0;
	*d = leaf == 0x80000008 ? extended_d : 0;
	return 1;
}

#define __get_cpuid pretended_cpuid
#include "../src/counters/amd64_rdpru.c"
#endif

/* Of the PMUs that are listed: they have files of their CPUs, and the numbers
 * of their own events, or what is no number; type * REFUSED: the kernel refuses
 * its events. */
enum { CPUS = 1, NUMBERS = 2, UNKNOWN = 4, REFUSED = 8 };
#define PMU_NUMBER 0x11

/* PMUs of no core, and n others, of this type and those that follow. */
static void put_pmus(const char *names, unsigned n, unsigned type, unsigned how)
{
	const char *event = counts_instructions() ? "events/inst_retired"
						  : "events/cpu_cycles";
	char name[32], text[12];
	int length = 0;

	put_pmu("uncore_imc_20", "type", "20\n");
	put_pmu("uncore_imc_20", "cpumask", "0\n");
	for (; n-- > 0; names += length) {
		sscanf(names, "%31s%n", name, &length);
		snprintf(text, sizeof text, "%u\n", type++);
		put_pmu(name, "type", text);
		if (how & CPUS)
			put_pmu(name, "cpus", n ? "0-3,8-11\n" : "0\n");
		if (how & NUMBERS)
			put_pmu(name, event, "event=0x0011\n");
		if (how & UNKNOWN)
			put_pmu(name, event, "umask=0x0011\n");
	}
}

static void fresh_tree(void)
{
	remove_all(root);
	fresh();
}

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
	{"cpu_core cpu_atom", 2, 4, CPUS, 2},
	{"cpu_core cpu_atom", 2, 4, CPUS | UNKNOWN, 2},
	{"cpu_core cpu_atom", 2, 4, CPUS | 4 * REFUSED, 1},
	{"cpu_core cpu_atom", 2, 4, CPUS | 5 * REFUSED, 1},
	{"cpu_core cpu_atom cpu", 3, 4, CPUS, 1},
	{"cortex_a520 cortex_a720 cortex_a725 x4", 4, 4, CPUS | NUMBERS, 4},
	{"p0 p1 p2 p3 p4 p5 p6 p7 p8 p9 p10 p11", 12, 4, CPUS, 8},
	{"one of no core", 0, 1, 0, 0},
	{"nothing at all", 0, 0, 0, 1},
};

static void check_listing(const struct listing *l)
{
	const bool generic = l->events == 1 || (l->how & NUMBERS) == 0;
	struct cpuc_event all[CPUC_TYPES];
	unsigned i, bad = 0, seen = 0;

	fresh_tree();
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
	bad += left_open() > 0;
	open_counter(&one);
	bad += one.n != l->events || (k.made > 0) != (l->events > 0);
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
#define OPEN "run cpucycles-open --apply as root"
#define SECCOMP "its seccomp profile must allow this call"

/* The counter does not open: the reason and the hint that a user gets. */
static const struct refusal {
	int err, exclude, rest; /* of k.refuse... */
	unsigned tries;         /* until it is sure that none opens */
	const char *paranoid, *rdpmc;
	const char *reason, *hint;
} refusals[] = {
	{-EACCES, 0, 0, 1, "4\n", NULL,
	 "perf_event_paranoid is 4, and 2 or less is needed", OPEN},
	{-EACCES, 0, 0, 1, "2\n", NULL, "perf_event_open: EACCES (container?)",
	 SECCOMP},
	{-EACCES, 0, 0, 1, "4 or so\n", NULL,
	 "perf_event_open: EACCES (container?)", SECCOMP},
	{-EINVAL, CPUC_NO_KERNEL, -EACCES, 3, "2\n", NULL,
	 "perf_event_paranoid is 2, and 1 or less is needed",
	 "run sysctl kernel.perf_event_paranoid=1 as root"},
	{-ENOENT, CPUC_NO_KERNEL, -EACCES, 1, "2\n", NULL, NULL,
	 CPUC_NO_PMU_HINT},
	{-ENODEV, CPUC_NO_KERNEL, -EACCES, 1, "2\n", NULL, NULL,
	 CPUC_NO_PMU_HINT},
	{-EOPNOTSUPP, 0, 0, 4, "2\n", NULL, NULL, CPUC_NO_PMU_HINT},
	{-EPERM, 0, 0, 4, "2\n", NULL, "perf_event_open: EPERM (container?)",
	 SECCOMP},
	{-ENOSYS, 0, 0, 1, "4\n", NULL, "perf_event_open: ENOSYS (container?)",
	 SECCOMP},
	{-ENOSYS, 0, 0, 1, "", NULL,
	 "perf_event_open: ENOSYS (kernel without perf events?)", ""},
	{-EMFILE, 0, 0, 4, "2\n", NULL, "perf_event_open: errno 24", ""},
	{0, 0, 0, 0, "2\n", "0\n", CPUC_PMUS "cpu_core/rdpmc is 0", OPEN},
	{0, 0, 0, 0, "2\n", "2\n", RDPMC " is 2",
	 "reads by perf events need it to be 1"},
	{0, 0, 0, 0, "2\n", "unreadable",
	 RDPMC " is 0, or the kernel has no counter to give", OPEN},
	{0, 0, 0, 0, "2\n", NULL, "index 0: the kernel has no counter to give",
	 ""},
	{0, 0, 0, 0, "2\n", "1\n", "index 0: the kernel has no counter to give",
	 ""},
};

static void check_refused(const struct refusal *r)
{
	const char *reason = r->reason               ? r->reason
			     : counts_instructions() ? CPUC_NO_INSTRUCTIONS
						     : CPUC_NO_PMU;
	const char *rdpmc = r->rdpmc != NULL ? r->rdpmc : "";
	const char *pmu = strstr(reason, "cpu_core") ? "cpu_core" : "cpu";
	const bool opens = r->err == 0 && *rdpmc != '0' && *rdpmc != '2';
	int got;

	fresh_tree();
	k.refuse = r->err;
	k.refuse_exclude = (unsigned)r->exclude;
	k.refuse_rest = r->rest;
	k.next_index = 0;
	put_text("/proc/sys/kernel/perf_event_paranoid", r->paranoid);
	put_pmu("cpu", "type", "4\n");
	if (r->rdpmc != NULL)
		put_pmu(pmu, "rdpmc", r->rdpmc);
	if (*rdpmc == 'u')
		chmod(place(RDPMC), 0);
	one.outside = 2;
	got = open_counter(&one);
	ok(got < 0 && !strcmp(it.trial.reason, reason) &&
		   !strcmp(it.trial.hint ? it.trial.hint : "", r->hint) &&
		   (k.made > 0) == opens && k.refused == r->tries &&
		   left_open() == 0 && own->set == NULL,
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
	fresh_tree();
	k.refuse = -EINVAL;
	k.refuse_exclude = exclude;
	ok(open_counter(&one) == 0 && one.opened == 1 + opened &&
		   newest.excludes == opened,
	   "a PMU that cannot leave out %#x (%s)", exclude, it.trial.reason);
}

/* A counter outside perf is not read where perf has it. */
static void check_absent(void)
{
	unsigned made;

	fresh_tree();
	ok(cpuc_perf_absent(&it, &one) < 0 && left_open() == 0 &&
		   strstr(it.trial.reason, "perf events"),
	   "%s; which are closed", it.trial.reason);
	open_counter(&one);
	cpuc_perf_close(NULL);
	made = k.made;
	ok(cpuc_perf_absent(&it, &one) < 0 && own->set == &one &&
		   open_counter(&one) == 0 && k.made == made,
	   "but not if the thread had them before, nor are they opened anew");
}

/* No key is left whose destructor could close a thread's events. Before all
 * others, as the library keeps its key. */
static void check_no_key(void)
{
	static pthread_key_t keys[PTHREAD_KEYS_MAX + 1];
	unsigned n = 0;
	char reason[64];
	int got;

	fresh_kernel();
	while (n < COUNT(keys) && pthread_key_create(&keys[n], NULL) == 0)
		n++;
	snprintf(reason, sizeof reason, "pthread_key_create: errno %d", EAGAIN);
	got = open_counter(&one);
	ok(got < 0 && !strcmp(it.trial.reason, reason) && left_open() == 0,
	   "%s; nothing stays open", it.trial.reason);
	while (n > 0)
		pthread_key_delete(keys[--n]);
}

static void check_all(void)
{
	size_t i;

	for (i = 0; i < COUNT(listings); i++)
		check_listing(&listings[i]);
	for (i = 0; i < COUNT(refusals); i++)
		check_refused(&refusals[i]);
	check_less(1u << 31, CPUC_NO_KERNEL | CPUC_NO_HV);
	check_less(CPUC_NO_KERNEL | CPUC_NO_HV, 0);
	check_less(CPUC_NO_HV, CPUC_NO_KERNEL);
	check_absent();
}

#if HAVE_COUNTER_AMD64_PERFPMCFF
/* The event is on this register, as the kernel numbers it. */
static void check_register(uint32_t index, uint32_t right, bool fixed)
{
	bool counted;
	long long a;

	fresh_tree();
	unopened(&cpuc_x86_cycle_events);
	k.next_index = index;
	open_counter(&cpuc_x86_cycle_events);
	a = amd64_perfpmc_read();
	run(1000);
	operand = 0;
	counted = amd64_perfpmc_read() == a + 1000 && operand == right;
	run(1000);
	operand = 0;
	counted &= amd64_perfpmcff_read() == a + 2000 && operand == right;
	ok(counted && (amd64_perfpmcff_open(&it) == 0) == fixed &&
		   !strcmp(it.trial.reason,
			   fixed ? ""
				 : "the kernel uses another counter than "
				   "the fixed-function one"),
	   "x86: RDPMC of %#x counts, %s", operand,
	   fixed ? "fixed" : it.trial.reason);
	cpuc_perf_close(&cpuc_x86_cycle_events);
}

/* Outside perf: what must be set, and that perf has no event there. */
static void check_outside(const char *rdpmc, const char *reason)
{
	fresh_tree();
	unopened(&cpuc_x86_cycle_events);
	memset(&it, 0, sizeof it);
	put_pmu("cpu", "type", "4\n");
	if (rdpmc != NULL)
		put_pmu("cpu", "rdpmc", rdpmc);
	ok(amd64_pmcff_open(&it) != 0 && strstr(it.trial.reason, reason) &&
		   left_open() == 0,
	   "x86: outside perf: %s", it.trial.reason);
}

/* AMD's APERF: what CPUID says, and whether perf has a PMU. */
static void check_rdpru(unsigned b, unsigned d, bool pmu, const char *reason)
{
	fresh_tree();
	unopened(&cpuc_x86_cycle_events);
	memset(&it, 0, sizeof it);
	k.refuse = pmu ? 0 : -ENOENT;
	extended_b = b;
	extended_d = d;
	ok((amd64_rdpru_open(&it) == 0) == (*reason == '\0') &&
		   !strcmp(it.trial.reason, reason) && left_open() == 0,
	   "x86: RDPRU %s%s", *reason ? "is not used: " : "is used",
	   it.trial.reason);
}

static void check_rdprus(void)
{
	static const char none[] = "CPUID says that this CPU has no RDPRU";

	check_rdpru(0, 0x10000, false, none);
	check_rdpru(0x10, 0, false, none);
	check_rdpru(0x10, 0x10000, true,
		    "the per-thread counters work here, and are truer");
	check_rdpru(0x10, 0x10000, false, "");
	cpuc_tsc_forbidden = true;
	check_rdpru(0x10, 0x10000, false,
		    "RDTSC is forbidden in this process by prctl(PR_SET_TSC)");
	cpuc_tsc_forbidden = false;
}

static void works(uint64_t cycles, uint64_t instructions)
{
	(void)instructions;
	run(cycles);
}

/* RDPMC, by perf and outside it, on a PMU that counts so much. */
static void check_rdpmc(const struct pretended_cpu *of, unsigned percent,
			unsigned a_read, const char *counts)
{
	static const struct cpuc_counter *const ways[] = {
		&cpuc_counter_amd64_perfpmc, &cpuc_counter_amd64_perfpmcff,
		&cpuc_counter_amd64_pmcff, NULL};
	/* Events never go back. */
	const unsigned first = of->others < 0 ? 2 : 0;
	unsigned i, bad = 0;

	fresh_tree();
	unopened(&cpuc_x86_cycle_events);
	k.next_index = CPUC_X86_FIXED_CYCLES + 1;
	open_counter(&cpuc_x86_cycle_events);
	the_cpu = of;
	k.wrong = percent != 100;
	k.percent = percent;
	k.a_read = a_read;
	for (i = first; ways[i] != NULL; i++) {
		it = (struct cpuc_slot){.counter = ways[i]};
		bad += cpuc_prove(&it, &pretended_ops[of->of]) !=
			       (counts ? -ENOTSUP : 0) ||
		       strcmp(it.trial.reason, counts ? counts : "") != 0;
	}
	ok(bad == 0, "x86: RDPMC of %u%%, %s: %s", percent, of->what,
	   counts ? it.trial.reason : "is used");
	cpuc_perf_close(&cpuc_x86_cycle_events);
}

static const struct pretended_cpu *cpu_named(const char *what)
{
	size_t i;

	for (i = 0; strcmp(cpus[i].what, what) != 0; i++)
		;
	return &cpus[i];
}

/* An APERF that counts so much: it may be the TSC, of about the core's rate. */
static void check_aperf(const char *cpu, unsigned percent, const char *counts)
{
	struct cpuc_counter aperf = cpuc_counter_amd64_rdpru;

	fresh_tree();
	unopened(&cpuc_x86_cycle_events);
	open_counter(&cpuc_x86_cycle_events);
	aperf.read = amd64_perfpmc_read;
	the_cpu = cpu_named(cpu);
	k.wrong = 1;
	k.percent = percent;
	it = (struct cpuc_slot){.counter = &aperf};
	ok(cpuc_prove(&it, &pretended_ops[X86_CHAINS]) ==
			   (*counts ? -ENOTSUP : 0) &&
		   !strcmp(it.trial.reason, counts),
	   "x86: APERF of %u%%, %s: %s", percent, cpu,
	   *counts ? it.trial.reason : "is used");
	cpuc_perf_close(&cpuc_x86_cycle_events);
}

static void check_aperfs(void)
{
	check_aperf("x86", 101, "");
	check_aperf("x86, interrupted", 100, "");
	check_aperf("x86, SMT", 100, "");
	check_aperf("x86", 98, "counts 5081 of 5184 cycles: a virtual PMU?");
	check_aperf("x86", 102, "counts 5287 of 5184 cycles: a virtual PMU?");
	check_aperf("x86", 120, "counts 6221 of 5184 cycles: a virtual PMU?");
	check_aperf("x86, -icount", 100,
		    "counts 1830 of 5184 cycles: a virtual PMU?");
}

static void check_rdpmcs(void)
{
	size_t i;

	for (i = 0; i < COUNT(cpus); i++)
		if (cpus[i].of == X86_CHAINS)
			check_rdpmc(&cpus[i], 100, 0, NULL);
	check_rdpmc(cpus, 99, 0, NULL);
	check_rdpmc(cpus, 150, 0, "counts 7776 of 5184 cycles: a virtual PMU?");
	check_rdpmc(cpus, 50, 0, "counts 2592 of 5184 cycles: a virtual PMU?");
	check_rdpmc(cpus, 200, 0,
		    "counts 10368 of 5184 cycles: a virtual PMU?");
	check_rdpmc(cpus, 0, 1, "counts 0 of 5184 cycles: a virtual PMU?");
	check_rdpmc(cpus, 0, 0, "counts 0 of 5184 cycles: a virtual PMU?");
}

static void check_x86(void)
{
	check_register(3, 2, false);
	check_register(0x40000002, 0x40000001, true);
	check_outside(NULL, CPUC_NO_PMU);
	check_outside("0\n", RDPMC " is 0");
	check_outside("1\n", RDPMC " is 1");
	check_outside("2\n", "perf events");
	check_rdprus();
	check_aperfs();
	check_rdpmcs();
}
#else
#define check_x86() skip("x86: this is another CPU")
#endif

int main(void)
{
	int lowest = dup(1);

	close(lowest);
	make_base("sim_pmus");

	check_no_key();
	on_both(check_all);
	check_x86();
	ok(dup(1) == lowest, "no descriptor is left");
	return done_with_kernel();
}

#endif
