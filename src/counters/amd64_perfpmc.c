/* SPDX-License-Identifier: 0BSD */
/* amd64-perfpmc, x86-perfpmc: RDPMC of whichever counter the kernel has put
 * this thread's cycles event on: core cycles, halted time left out. */
#include <config.h>
#if HAVE_COUNTER_AMD64_PERFPMC
#include "x86.h"
#include "x86_perf.h"

static long long amd64_perfpmc_read(void)
{
	return cpuc_perf_count(&cpuc_x86_pmu, cpuc_x86_register, 0);
}

static int amd64_perfpmc_open(struct cpuc_slot *slot)
{
	return cpuc_perf_open(slot, &cpuc_x86_pmu);
}

static void amd64_perfpmc_close(struct cpuc_slot *slot)
{
	(void)slot;
	cpuc_perf_close(&cpuc_x86_pmu);
}

const struct cpuc_counter cpuc_counter_amd64_perfpmc = {
	.name = CPUC_X86_NAME("perfpmc"),
	.kind = CPUC_CORE,
	.unit = CPUC_CYCLE,
	.bits = 64,
	.per_thread = true,
	.read = amd64_perfpmc_read,
	.open = amd64_perfpmc_open,
	.close = amd64_perfpmc_close,
};

#endif
