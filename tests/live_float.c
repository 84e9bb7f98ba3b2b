/* SPDX-License-Identifier: 0BSD */
/* No function raises a floating-point exception, or changes what the program
 * has set: all of them run with every exception unmasked, where the C library
 * and the CPU can do that, and everywhere with an eye on the flags.
 * tests/unit_float.sh compares what is called here with the header; sim_probe
 * has counters that fault. */
#include "faults/faults.h"

#include <fenv.h>
#if defined FE_ALL_EXCEPT && FE_ALL_EXCEPT != 0

static int flags; /* that are raised */

/* Traps are an extension, which some CPUs refuse: then the flags must do. */
static void trap(void)
{
	feclearexcept(FE_ALL_EXCEPT);
#ifdef __GLIBC__
	feenableexcept(FE_ALL_EXCEPT);
#endif
}

static int changed(void)
{
	return fetestexcept(FE_ALL_EXCEPT) != flags;
}

/* Long enough for a calibrated count to measure again, with pauses. */
static int counting(void)
{
	const struct timespec nap = {0, 2000000};
	int i;

	for (i = 0; i < 5; i++) {
		if (counts(10000) == 2)
			return 2;
		nanosleep(&nap, NULL);
	}
	cpucycles_fence();
	cpucycles_count();
	return changed() ? 3 : 0;
}

static int asking(void)
{
	if (cpucycles_version()[0] == '\0' || cpucycles_kind()[0] == '\0' ||
	    cpucycles_implementation()[0] == '\0' ||
	    cpucycles_persecondsource()[0] == '\0')
		return 4;
	if (cpucycles_persecond() < 1 || cpucycles_observepersecond() < 0 ||
	    cpucycles_interruptions() < -1)
		return 5;
	return changed() ? 6 : 0;
}

static int instructions(void)
{
	struct cpucycles_counter c;
	long long pair[2];
	int refused = cpucycles_pair(&pair[0], &pair[1]);

	if ((refused != 0) != (cpucycles_instructions() < 0))
		return 7;
	cpucycles_instructionscounter(&c, sizeof c);
	return changed() ? 8 : 0;
}

/* Each as described, in the trace, and in use. */
static int counters(void)
{
	struct cpucycles_counter c, same;
	int bad = 0, usable;
	unsigned i;

	for (i = 0; bad == 0 && cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		if (cpucycles_counterbyname(c.name, &same, sizeof same) != 0)
			return 9;
		usable = cpucycles_select(c.name) == 0;
		bad = changed() ? 10 : usable ? counting() : 0;
		bad = bad || !usable ? bad : asking();
	}
	cpucycles_tracesetup();
	if (cpucycles_select(NULL) != 0)
		return 11;
	return bad == 0 && changed() ? 12 : bad;
}

static int everything(void)
{
	int bad = counting();

	bad = bad ? bad : asking();
	bad = bad ? bad : instructions();
	return bad ? bad : counters();
}

static int trapped(void)
{
	trap();
	return everything();
}

static int first_with_trace(void)
{
	trap();
	cpucycles_tracesetup();
	return everything();
}

static int first_in_thread(void)
{
	return in_threads(1, NULL, trapped);
}

static int thread_after(void)
{
	trap();
	cpucycles();
	return in_threads(1, NULL, trapped);
}

static int forked(void)
{
	trap();
	cpucycles();
	return in_child(trapped);
}

/* Every flag, and a rounding that is not the usual one. */
static int kept(void)
{
	int rounding, bad;

#ifdef FE_UPWARD
	fesetround(FE_UPWARD);
#endif
	rounding = fegetround();
	feraiseexcept(FE_ALL_EXCEPT);
	flags = FE_ALL_EXCEPT;
	if (changed())
		return CANNOT;
	bad = everything();
	return bad ? bad : fegetround() != rounding;
}

static int traps_kept(void)
{
#ifdef __GLIBC__
	int traps, bad;

	trap();
	traps = fegetexcept();
	bad = traps == 0 ? CANNOT : everything();
	return bad ? bad : fegetexcept() != traps;
#else
	return CANNOT;
#endif
}

/* What the others would do if there were a division somewhere. */
static int inexact(void)
{
	volatile double number = 1;

	trap();
	number /= 3;
	return changed() || number < 0;
}

int main(void)
{
	static const char why[] = "the CPU does not keep that";
	int status;

	if (SANITIZED)
		skip_all("a sanitizer may compute");
	status = in_child(inexact);
	diag("an inexact division %s",
	     status == KILLED + SIGFPE ? "traps" : "raises a flag");
	if (status != KILLED + SIGFPE && status != 1)
		skip_all("floating point has no flags here (%d)", status);
	point("the first call, with a trace, then all", first_with_trace, why);
	point("the first call in a second thread", first_in_thread, why);
	point("a thread after the first call", thread_after, why);
	point("a child of fork", forked, why);
	point("all flags and the rounding stay as they are", kept, why);
	point("so do the traps", traps_kept, "no exception traps here");
	return done_testing();
}
#else
SKIPPED_MAIN("no floating-point exceptions here")
#endif
