/* SPDX-License-Identifier: 0BSD */
/* How many instructions a call takes: exact, whatever else the machine does. A
 * signal handler counts single steps, with the caller's own call instruction.
 * An emulator would count as well, but not run every counter.
 *
 * Counters that this machine lacks are pretended, so that all paths are
 * counted, with the clock that it has in their place. */
#include <config.h>
#include "../../src/calibrated/count.h"
#include "../../src/slot.h"
#include "../../src/thread/guard.h"
#if HAVE_COUNTER_DEFAULT_PERFEVENT
#include "../../src/perf/read.h"
#endif
#include "bench.h"

#if defined(__x86_64__) && defined(__linux__)
#include <signal.h>
#include <ucontext.h>

#define TIMES 11
#define TRAP_FLAG 0x100

static long long (*volatile count)(void);
static volatile long stepped;

/* SIGUSR1 begins steps, and ends them. */
static void handle(int sig, siginfo_t *info, void *context)
{
	(void)info;
	if (sig == SIGTRAP)
		stepped++;
	else
		((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] ^=
			TRAP_FLAG;
}

/* The first call, at full speed, does what is due now and then; the next one is
 * like most. A calibrated count looks at the core's rate every now and then,
 * and time runs while steps are taken: not in that call. */
static void run(const char *name, long long (*reader)(void))
{
	long long taken[TIMES];
	int i;

	count = reader;
	for (i = 0; i < TIMES; i++) {
		count();
		if (cpuc_own_count.due != 0)
			cpuc_own_count.due = cpuc_own_count.gap = UINT32_MAX;
		stepped = 0;
		raise(SIGUSR1);
		raise(SIGUSR1);
		taken[i] = -stepped;
		stepped = 0;
		raise(SIGUSR1);
		count();
		raise(SIGUSR1);
		taken[i] += stepped;
	}
	if (stepped > 0)
		bench_value("instructions", name, "instructions", "%lld",
			    stats_median(taken, TIMES));
}

/* The entry of a counter with so many cycles a tick. */
static long long (*composed(unsigned ratio))(void)
{
	static struct cpuc_counter counter = {.read = bench_bare};
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

int main(void)
{
	const struct sigaction act = {.sa_sigaction = handle,
				      .sa_flags = SA_SIGINFO};
	struct cpucycles_counter c;
	unsigned i = 0;

	sigaction(SIGTRAP, &act, NULL);
	sigaction(SIGUSR1, &act, NULL);
	run("(" BENCH_BARE " in a function)", bench_bare);
	/* Those of the system's clocks depend on the kernel and the moment. */
	while (bench_next(&i, &c))
		if (c.kind_id != CPUCYCLES_OS)
			run(c.name, cpucycles);
	run("(scaled)", composed(3));
#if HAVE_COUNTER_DEFAULT_PERFEVENT
	run_perf();
#endif
	return 0;
}
#else
int main(void)
{
	bench_skip("no single steps on this system");
}
#endif
