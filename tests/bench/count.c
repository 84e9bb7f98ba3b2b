/* SPDX-License-Identifier: 0BSD */
/* How many instructions a call takes: exact, whatever else the machine does.
 *
 * A child counts between marks: nothing between the first two, one call before
 * the third. The difference is a later call, with the caller's own call
 * instruction. Counters that this machine lacks are pretended, so that all
 * paths are counted, with the clock that it has in their place. */
#include <config.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../../src/calibrated/count.h"
#include "../../src/slot.h"
#include "../../src/thread/thread.h"
#if HAVE_COUNTER_DEFAULT_PERFEVENT
#include "../../src/perf/read.h"
#endif
#include "bench.h"
#include "tools/common/affinity.h"
#include "trace.h"

#define TIMES 11
#define CODES 32

/* The counts, on a page that parent and child share. */
static struct shared {
	int n; /* codes */
	struct {
		char name[64];
		long long steps[TIMES];
		int times;
	} code[CODES];
} * shared;

static long long (*volatile count)(void);

/* The first call, at full speed, does what is due now and then; the one between
 * the marks is like most. A calibrated count looks at the core's rate every now
 * and then, and time runs while steps are taken: not in the next call. */
static void run(const char *name, long long (*reader)(void))
{
	int i;

	snprintf(shared->code[shared->n].name, sizeof shared->code[0].name,
		 "%s", name);
	shared->n++;
	count = reader;
	for (i = 0; i < TIMES; i++) {
		count();
		if (cpuc_own_count.due != 0)
			cpuc_own_count.due = cpuc_own_count.gap = UINT32_MAX;
		trace_mark();
		trace_mark();
		count();
		trace_mark();
	}
}

static long long bare(void)
{
	return bench_bare();
}

/* The entry of a counter with so many cycles a tick. */
static long long (*composed(unsigned ratio))(void)
{
	static struct cpuc_counter counter = {.read = bare};
	static struct cpuc_slot slot = {.counter = &counter};

	slot.reader.scale = cpuc_scale_of(ratio, 1);
	cpuc_compose(&slot);
	cpuc_current = &slot;
	return slot.reader.entry;
}

#if HAVE_COUNTER_DEFAULT_PERFEVENT
#define REGISTER 1u

static uint64_t pretended_register(uint32_t index)
{
	/* Any value will do, but the operand must be computed as for RDPMC. */
	__asm__ __volatile__("" : : "r"(index - 1));
	return (uint64_t)bench_bare();
}

static long long perf(void)
{
	static struct cpuc_event_set pmu;

	return cpuc_perf_count(&pmu, PERF_COUNT_HW_CPU_CYCLES,
			       pretended_register);
}

/* A perf event whose page is mapped. */
static void run_perf(void)
{
	static struct perf_event_mmap_page page;
	static const uint32_t quick = 1;
	static struct cpuc_perf_thread states[CPUC_STATES] = {
		{.quick = &quick,
		 .page = &page,
		 .index = REGISTER,
		 .unused = 16}};

	cpuc_perf_own = states;
	run("(perf event)", perf);
}
#endif

static void child(void)
{
	struct cpucycles_counter c;
	unsigned i = 0;

	trace_me();
	run("(" BENCH_BARE " in a function)", bare);
	/* Those of the system's clocks depend on the kernel and the moment. */
	while (bench_next(&i, &c))
		if (c.kind_id != CPUCYCLES_OS)
			run(c.name, cpucycles);
	run("(scaled)", composed(3));
#if HAVE_COUNTER_DEFAULT_PERFEVENT
	run_perf();
#endif
}

int main(void)
{
	long empty, steps;
	pid_t pid;
	int i;

	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	/* Parent and child take turns: on one CPU that is faster. */
	affinity_pin(affinity_here());
	pid = fork();
	if (pid == 0) {
		child();
		_exit(0);
	}
	trace_begin(pid);
	while (trace_run(pid, TRACE_NOTHING) >= 0) {
		i = shared->n - 1;
		empty = trace_run(pid, TRACE_STEPS);
		steps = trace_run(pid, TRACE_STEPS);
		shared->code[i].steps[shared->code[i].times++] = steps - empty;
	}
	if (shared->n == 0 || shared->code[0].steps[0] <= 0)
		bench_skip("this system does not let a process be run step by "
			   "step");
	for (i = 0; i < shared->n; i++)
		bench_value("instructions", shared->code[i].name,
			    "instructions", "%lld",
			    stats_median(shared->code[i].steps, TIMES));
	return 0;
}
