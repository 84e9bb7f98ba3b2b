/* SPDX-License-Identifier: 0BSD */
/* amd64-pmcff: RDPMC of Intel's fixed-function counter for core cycles, outside
 * perf, where the system enables it for everybody. It belongs to the core, not
 * to a thread: it counts for other threads too, and differs between cores. */
#include <config.h>
#if HAVE_COUNTER_AMD64_PMCFF
#include "x86.h"

static long long amd64_pmcff_read(void)
{
	return (long long)CPUC_RDPMC(CPUC_X86_FIXED_CYCLES);
}

static int amd64_pmcff_open(struct cpuc_slot *slot)
{
	long allowed;
	const char *file =
		cpuc_first_setting(cpuc_x86_cycle_events.access, &allowed);
	int err;

	slot->trial.hint =
		file ? "reads outside perf need a 2 there" : CPUC_NO_PMU_HINT;
	if (file == NULL)
		return cpuc_reason(slot, CPUC_NO_PMU);
	if (allowed < 0)
		return cpuc_reason(slot, "only root may read %s", file);
	if (allowed != 2)
		return cpuc_reason(slot, "%s is %ld", file, allowed);
	slot->trial.hint = NULL;
	err = cpuc_perf_absent(slot, &cpuc_x86_cycle_events);
	return err ? err : cpuc_x86_fixed_cycles(slot);
}

const struct cpuc_counter cpuc_counter_amd64_pmcff = {
	.name = "amd64-pmcff",
	.kind = CPUC_CORE,
	.read = amd64_pmcff_read,
	.open = amd64_pmcff_open,
};

#endif
