/* SPDX-License-Identifier: 0BSD */
/* cpucycles_interruptions() on this machine, with others who use restartable
 * sequences, or have switched them off. Which events it tells, live_waits
 * looks at. */
#include "load.h"

static void check_interruptions(void)
{
	long long before = 0, after;
	const char *name;
	int i;

	for (i = 0; i < 1000; i++) {
		before = cpucycles_interruptions();
		__asm__ __volatile__("");
		if (cpucycles_interruptions() == before)
			break;
	}
	ok(i < 1000, "no interruption in a short time");
	name = cpucycles_implementation();
	cpucycles_select("default-monotonic");
	before = cpucycles_interruptions();
	after = cpucycles_interruptions();
	usleep(1000);
	ok(cpucycles_interruptions() > before && after - before <= 1,
	   "with another counter, too");
	cpucycles_select(name);
}

static void check_sections(void)
{
#if HAVE_RSEQ
	long long before = cpucycles_interruptions();
	int i, bad = 0;

	for (i = 0; i < 400; i++) {
		load_section();
		if (i % 4 == 0)
			usleep(100);
		bad |= counts(10);
	}
	ok(!bad && cpucycles_interruptions() - before >= 400,
	   "critical sections of the program's own are interruptions");
#else
	skip("critical sections: none here");
#endif
}

static char **arguments;

/* The program runs itself again without rseq. */
static int without(void)
{
	setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
	setenv("LIVE_PREEMPTED", "without", 1);
	execv("/proc/self/exe", arguments);
	return CANNOT;
}

static int is_without(void)
{
	struct cpucycles_counter c;

#if HAVE_RSEQ && defined(SYS_rseq)
	static char area[64] __attribute__((aligned(64)));

	if (__rseq_size != 0)
		return 2;
	load_select();
	/* Somebody else's, of another size than the C library's. */
	if (syscall(SYS_rseq, area, (int)sizeof area, 0, RSEQ_SIG) != 0)
		syscall(SYS_rseq, area, 32, 0, RSEQ_SIG);
#endif
	if (cpucycles_counterbyname(NULL, &c, sizeof c) != 0 || !c.per_thread)
		return 3;
	return cpucycles_interruptions() == -1 ? counts(1000) : 4;
}

int main(int argc, char **argv)
{
	struct cpucycles_counter c;

	(void)argc;
	arguments = argv;
	if (getenv("LIVE_PREEMPTED") != NULL)
		return is_without();
	if (!load_select())
		skip_all("no calibrated counter here");
	point("switched off by GLIBC_TUNABLES, or somebody else's", without,
	      "cannot run itself again");
	cpucycles_counterbyname(NULL, &c, sizeof c);
	load_pin();
	if (!c.per_thread || cpucycles_interruptions() < 0) {
		skip("interruptions: no restartable sequences");
		return done_testing();
	}
	check_interruptions();
	check_sections();
	return done_testing();
}
