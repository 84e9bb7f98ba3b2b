/* SPDX-License-Identifier: 0BSD */
/* The counters of x86: whether and how their registers can be read. */
#include <config.h>
#if HAVE_COUNTER_AMD64_TSC || HAVE_COUNTER_AMD64_TSCASM
#include <cpuid.h>
#include "../system/os_clock.h"
#include "x86.h"

#define SIGNATURE(a, b, c, d) \
	((unsigned)(a) | (b) << 8 | (c) << 16 | (unsigned)(d) << 24)

/* Leaf 0x40000000: the last of the hypervisor's leaves, and its name. A CPU
 * that has none answers something else. Asked once, as each leaf costs
 * microseconds in a virtual machine, where CPUID traps. */
static unsigned x86_hypervisor(unsigned *vendor)
{
	static unsigned max, who; /* under the engine's lock */

	if (max == 0)
		max = (unsigned)__get_cpuid_max(0x40000000, &who);
	*vendor = who;
	return max;
}

uint64_t cpuc_x86_tsc_stated(void)
{
	unsigned max, vendor, a, b, c, d;

	/* Leaf 0x40000010: kHz. */
	max = x86_hypervisor(&vendor);
	if (max >= 0x40000010 && max <= 0x400000ff) {
		__cpuid(0x40000010, a, b, c, d);
		if (a != 0)
			return (uint64_t)a * 1000;
	}
	/* Intel SDM vol. 2, CPUID leaf 0x15: the crystal's rate in ECX, and
	 * the ratio EBX / EAX of the counter to it. AMD has no such leaf. */
	max = (unsigned)__get_cpuid_max(0, &vendor);
	if (max < 0x15 || vendor == SIGNATURE('A', 'u', 't', 'h'))
		return 0;
	__cpuid(0x15, a, b, c, d);
	return a != 0 && b != 0 && c != 0 ? (uint64_t)c * b / a : 0;
}

/* QEMU's code generator. */
const char *cpuc_x86_emulated(void)
{
	unsigned vendor;

	x86_hypervisor(&vendor);
	return vendor == SIGNATURE('T', 'C', 'G', 'T')
		       ? "an emulated CPU: no instruction has a known latency"
		       : NULL;
}

int cpuc_x86_open_tsc(struct cpuc_slot *slot)
{
	return cpuc_tsc_forbidden()
		       ? cpuc_reason(slot, "RDTSC is forbidden in this process "
					   "by prctl(PR_SET_TSC)")
		       : 0;
}

#if HAVE_COUNTER_AMD64_PERFPMC
struct cpuc_event_set cpuc_x86_cycle_events = {
	.reg = cpuc_x86_register,
	.access = CPUC_X86_ACCESS,
};

long long cpuc_x86_cycles(void)
{
	return cpuc_perf_count(&cpuc_x86_cycle_events, cpuc_x86_register);
}

int cpuc_x86_fixed_cycles(struct cpuc_slot *slot)
{
	unsigned a = 0, b, c, d = 0;

	/* EAX 7:0 version; EDX 4:0 number of fixed counters, 12:5 their
	 * width. Intel SDM vol. 2, CPUID leaf 0xA; zeros on AMD. */
	if (__get_cpuid_max(0, NULL) >= 0xa)
		__cpuid(0xa, a, b, c, d);
	if ((a & 0xff) >= 3 && (d & 0x1f) >= 2 && (d >> 5 & 0xff) >= 48)
		return 0;
	return cpuc_reason(slot,
			   "this CPU has no fixed-function counter of 48 bits");
}
#endif

#endif
