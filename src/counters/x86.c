/* SPDX-License-Identifier: 0BSD */
/* The counters of x86: whether and how their registers can be read. */
#include <config.h>
#if HAVE_COUNTER_AMD64_TSC || HAVE_COUNTER_AMD64_TSCASM
#include <cpuid.h>
#include <errno.h>
#include "../clock.h"
#include "x86.h"

uint64_t cpuc_x86_tsc_rate;

/* CPUID costs microseconds in a virtual machine, where it traps. */
static uint64_t stated_rate(void)
{
	unsigned max, a, b, c, d;

	/* Intel SDM vol. 2, CPUID leaf 0x15: the crystal's rate in ECX, and
	 * the ratio EBX / EAX of the counter to it. */
	max = (unsigned)__get_cpuid_max(0, NULL);
	if (max >= 0x15) {
		__cpuid(0x15, a, b, c, d);
		if (a != 0 && b != 0 && c != 0)
			return (uint64_t)c * b / a;
	}
	/* The hypervisors' convention: leaf 0x40000010 has kHz in EAX, where
	 * leaf 1 says that there is a hypervisor and its own maximum leaf
	 * reaches that far. */
	if (max < 1)
		return 0;
	__cpuid(1, a, b, c, d);
	if (!(c >> 31))
		return 0;
	__cpuid(0x40000000, a, b, c, d);
	if (a < 0x40000010 || a > 0x400000ff)
		return 0;
	__cpuid(0x40000010, a, b, c, d);
	return (uint64_t)a * 1000;
}

int cpuc_x86_open_tsc(struct cpuc_slot *slot)
{
	static bool asked; /* under the engine's lock, as every open is */
	static uint64_t rate;

	if (cpuc_tsc_forbidden()) {
		cpuc_reason(slot, "RDTSC is forbidden in this process by "
				  "prctl(PR_SET_TSC)");
		return -EPERM;
	}
	if (!asked)
		rate = stated_rate();
	asked = true;
	if (slot->rate == 0)
		slot->rate = rate;
	return 0;
}

#if HAVE_COUNTER_AMD64_PERFPMC
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

#endif
