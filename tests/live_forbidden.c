/* SPDX-License-Identifier: 0BSD */
/* RDTSC forbidden by prctl(PR_SET_TSC), with which the vDSO's clocks fault
 * too: before the first call, and after it. */
#include "faults/faults.h"

#include <setjmp.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#if defined PR_SET_TSC && defined HAVE_LINUX_FILTER_H

static int forbid(void)
{
	return prctl(PR_SET_TSC, PR_TSC_SIGSEGV) == 0 ? 0 : CANNOT;
}

/* Some virtual machines do not enforce it. */
static int readable(void)
{
#if defined __x86_64__ || defined __i386__
	return forbid() == 0 && __builtin_ia32_rdtsc() != 0;
#else
	return 0;
#endif
}

/* The system's clock, by system calls, and every reader of the TSC says why
 * it is not used; so does that of APERF. */
static int recovered(void)
{
	struct cpucycles_counter c;
	unsigned i;

	if (counts(100000) != 0)
		return 2;
	/* The speed decides which of the system's clocks: see valgrind. */
	if (strcmp(cpucycles_kind(), "os") != 0)
		return 4;
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if ((strstr(c.name, "tsc") || strstr(c.name, "rdpru")) &&
		    (c.usable || !strstr(c.reason, "RDTSC is forbidden")))
			return 5;
	return cpucycles_persecond() < 1000000 ? 6 : 0;
}

static int has_core(void)
{
	return !strcmp(cpucycles_kind(), "core");
}

/* Once more allowed, the counter is found. */
static int before_first(void)
{
	int bad;

	if (forbid() != 0)
		return CANNOT;
	if (counts(1000) != 0)
		return 2;
	bad = has_core() ? 0 : recovered();
	prctl(PR_SET_TSC, PR_TSC_ENABLE);
	if (bad == 0 && (cpucycles_select(NULL) != 0 || counts(1000) != 0 ||
			 !strcmp(cpucycles_kind(), "os")))
		bad = 3;
	return bad;
}

/* PR_GET_TSC fails: the probe finds the fault. */
static int unasked(void)
{
	if (forbid() != 0 || deny(SYS_prctl, SECCOMP_RET_ERRNO | EPERM) != 0)
		return CANNOT;
	return counts(100000) != 0 || !strcmp(cpucycles_kind(), "zero");
}

static sigjmp_buf way_out;

static void leave(int sig)
{
	siglongjmp(way_out, sig);
}

/* Nothing that measures may fault: no rate is observed. But, as the manual
 * says, the next count faults. A program may catch that, and select then. */
static int after_fault(void)
{
	cpucycles();
	if (has_core() || in_child(readable) == 1 || forbid() != 0)
		return CANNOT;
	if (cpucycles_observepersecond() != 0)
		return 8;
	signal(SIGSEGV, leave);
	if (sigsetjmp(way_out, 1) == 0) {
		cpucycles();
		return 3;
	}
	if (cpucycles_select(NULL) != 0)
		return 6;
	return recovered();
}

int main(void)
{
	static const char why[] = "prctl(PR_SET_TSC) does not work here, or "
				  "counts are the core's own";

	if (SANITIZED)
		skip_all("sanitizers read the clock where nobody expects it");
	point("RDTSC forbidden before the first call: a clock by system calls; "
	      "allowed again: cpucycles_select(NULL) finds the counter",
	      before_first, why);
	point("forbidden, and prctl denied", unasked, why);
	point("forbidden after the selection: no rate is observed, the next "
	      "count faults, and then cpucycles_select(NULL) recovers",
	      after_fault, why);
	return done_testing();
}
#else
SKIPPED_MAIN("no counter can be forbidden by prctl(PR_SET_TSC) here")
#endif
