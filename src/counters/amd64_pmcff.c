/* SPDX-License-Identifier: 0BSD */
/* amd64-pmcff: RDPMC of Intel's fixed-function counter for core cycles, outside
 * perf, where everybody may read it. It counts the core, not the thread. */
#include <config.h>
#include <cpuid.h>
#include "x86.h"

static long long amd64_pmcff_read(void)
{
	return (long long)CPUC_RDPMC(CPUC_X86_FIXED_CYCLES);
}

/* Called last: CPUID takes microseconds in a virtual machine. */
static int amd64_pmcff_exists(struct cpuc_slot *slot)
{
	unsigned a = 0, b, c, d = 0;

	/* Intel SDM vol. 2, CPUID leaf 0xA; zeros on AMD. EAX 7:0 version; EDX
	 * 4:0 number of fixed counters, 12:5 their width. */
	if (__get_cpuid_max(0, NULL) >= 0xa)
		__cpuid(0xa, a, b, c, d);
	if ((a & 0xff) >= 3 && (d & 0x1f) >= 2 && (d >> 5 & 0xff) >= 48)
		return 0;
	return cpuc_reason(slot,
			   "this CPU has no fixed-function counter of 48 bits");
}

static int amd64_pmcff_open(struct cpuc_slot *slot)
{
	long allowed;
	const char *file =
		cpuc_first_setting(cpuc_x86_cycle_events.access, &allowed);
	int err;

	slot->trial.hint = CPUC_NO_PMU_HINT;
	if (file == NULL)
		return cpuc_reason(slot, CPUC_NO_PMU);
	slot->trial.hint = "reads outside perf need it to be 2";
	if (allowed < 0)
		return cpuc_reason(slot, "only root may read %s", file);
	if (allowed != 2)
		return cpuc_reason(slot, "%s is %ld", file, allowed);
	slot->trial.hint = NULL;
	err = cpuc_perf_absent(slot, &cpuc_x86_cycle_events);
	return err ? err : amd64_pmcff_exists(slot);
}

CPUC_DEFINE_COUNTER(amd64_pmcff, "amd64-pmcff", .kind = CPUC_CORE, .bits = 48,
		    .open = amd64_pmcff_open)
