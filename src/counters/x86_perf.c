/* SPDX-License-Identifier: 0BSD */
/* What the counters that read x86's PMU have in common. */
#include <config.h>
#if HAVE_COUNTER_AMD64_PERFPMC
#include <cpuid.h>
#include <errno.h>
#include "x86_perf.h"

struct cpuc_pmu cpuc_x86_pmu = {
	.reg = cpuc_x86_register,
	.core_types = {"cpu_core", "cpu_atom"},
	.access_file = CPUC_PMUS "cpu/rdpmc",
	.access_name = CPUC_PMUS "cpu/rdpmc",
};

int cpuc_x86_fixed_cycles(struct cpuc_slot *slot)
{
	unsigned a = 0, b, c, d = 0;

	/* EAX 7:0 version; EDX 4:0 number of fixed counters, 12:5 their
	 * width. Intel SDM vol. 2, CPUID leaf 0xA; zeros on AMD. */
	if (__get_cpuid_max(0, NULL) >= 0xa)
		__cpuid(0xa, a, b, c, d);
	if ((a & 0xff) >= 3 && (d & 0x1f) >= 2 && (d >> 5 & 0xff) >= 48)
		return 0;
	cpuc_reason(slot, "this CPU has no fixed-function counter of 48 bits");
	return -ENOTSUP;
}

#endif
