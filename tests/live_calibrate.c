/* SPDX-License-Identifier: 0BSD */
/* The calibrated counter of this machine, if it has one: a thread may be the
 * first to read it, the core's rate is known, and waits are interruptions, as
 * preemptions are in live_waits. What there is without restartable sequences,
 * tests/amalgamation/fibre.c looks at. */
#include "load.h"

#if defined __aarch64__ && defined __linux__
#include <sys/utsname.h>
#endif
#include "registry.h"

static void check_rate(void)
{
	struct cpucycles_counter c;
	const long long hz = load_rate();
	unsigned i = 0;

	ok(bounded(1e8, (double)hz, 1e10,
		   "no core has this rate: a clock or a chain is misread"),
	   "the core's rate is %lld Hz", hz);
	while (cpucycles_counter(i++, &c, sizeof c) == 0)
		if (c.kind_id == CPUCYCLES_REFERENCE &&
		    cpucycles_select(c.name) == 0)
			break;
	ok(!strcmp(cpucycles_kind(), "reference"),
	   "the clock below it can be asked for: %s",
	   cpucycles_implementation());
	ok(load_rate() > 0, "and the core's rate is known all the same");
}

/* Whether none is told in one of many short times, and one for a wait. */
static bool told(void)
{
	long long before;
	int i = 0;

	do
		before = cpucycles_interruptions();
	while (cpucycles_interruptions() != before && ++i < 1000);
	usleep(1000);
	return i < 1000 && cpucycles_interruptions() > before;
}

static volatile sig_atomic_t handled;

static void handler(int sig)
{
	(void)sig;
	handled = 1;
}

/* As cpucycles(3) says of arm64. */
static bool tells_signals(void)
{
#if defined __aarch64__ && defined __linux__
	struct utsname system;

	return uname(&system) == 0 && strverscmp(system.release, "6.19") < 0;
#else
	return true;
#endif
}

/* While the thread works: new kernels do not tell of one in a system call. */
static bool told_of_signal(void)
{
	long long before = cpucycles_interruptions();

	signal(SIGALRM, handler);
	alarms(1000);
	while (!handled)
		;
	alarms(0);
	return cpucycles_interruptions() > before;
}

/* Even if it has not waited for that. */
static int told_of_move(void)
{
	const int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
	long long before;
	int cpu, moved = 0, untold = 0;

	for (cpu = 0; cpu < cpus; cpu++) {
		if (cpu == affinity_here() || affinity_pin(cpu) != 0)
			continue;
		moved++;
		before = cpucycles_interruptions();
		affinity_pin((cpu + 1) % cpus);
		untold += affinity_here() != cpu &&
			  cpucycles_interruptions() <= before;
	}
	return moved == 0 ? CANNOT : untold;
}

static void check_interruptions(void)
{
	const char *name = cpucycles_implementation();

	ok(told(), "a wait is an interruption, a short time is none");
	if (tells_signals())
		ok(told_of_signal(), "so is a signal");
	else
		skip("so is a signal: this kernel does not tell");
	point("so is a move to another CPU", told_of_move, "one CPU");
	cpucycles_select("default-monotonic");
	ok(told(), "with another counter, too");
	cpucycles_select(name);
}

/* As on a weakly ordered CPU, which shows a thread the new value of `cpucycles`
 * before the calibration. */
static int reads_first(void)
{
	size_t i;

	for (i = 0; i < cpuc_slot_count; i++)
		if (cpuc_slots[i].counter->kind == CPUC_CALIBRATED)
			return cpuc_slots[i].counter->read() <= 0;
	return CANNOT;
}

int main(void)
{
	struct cpucycles_counter c;

	point("a thread that lacks the calibration makes it", reads_first,
	      "no counter here is calibrated");
	if (!load_select()) {
		skip("%s is not calibrated", cpucycles_implementation());
		return done_testing();
	}
	cpucycles_counterbyname(NULL, &c, sizeof c);
	affinity_pin(affinity_here());
	if (c.per_thread && cpucycles_interruptions() >= 0)
		check_interruptions();
	else
		skip("interruptions: no restartable sequences");
	check_rate();
	return done_testing();
}
