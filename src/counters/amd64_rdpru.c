/* SPDX-License-Identifier: 0BSD */
/* amd64-rdpru: RDPRU of APERF, AMD's count of the core's cycles, since Zen 2.
 * It counts the core, not the thread, and stops if that idles; cores differ. */
#include <config.h>
#include <cpuid.h>
#include <errno.h>
#include "../perf/perf.h"
#include "x86.h"

#define APERF 1u

static long long amd64_rdpru_read(void)
{
	uint32_t low, high;

	/* Assemblers of its time do not know its name. */
	__asm__ volatile(".byte 0x0f, 0x01, 0xfd"
			 : "=a"(low), "=d"(high)
			 : "c"(APERF));
	return (long long)((uint64_t)high << 32 | low);
}

static int amd64_rdpru_open(struct cpuc_slot *slot)
{
	unsigned a, b = 0, c, d = 0;

	/* What forbids RDTSC, by which chains end, forbids RDPRU. */
	if (cpuc_x86_open_tsc(slot) != 0)
		return -ENOTSUP;
	/* AMD64 Architecture Programmer's Manual, vol. 3, CPUID Fn8000_0008:
	 * EBX bit 4; EDX 31:16, the last register. */
	if (!__get_cpuid(0x80000008, &a, &b, &c, &d) || (b & 1 << 4) == 0 ||
	    d >> 16 < APERF)
		return cpuc_reason(slot,
				   "CPUID says that this CPU has no RDPRU");
	if (cpuc_perf_absent(slot, &cpuc_x86_cycle_events) != 0)
		return cpuc_reason(slot, "the per-thread counters work here, "
					 "and are truer");
	return 0;
}

/* A hypervisor may count something else, as the TSC. */
CPUC_DEFINE_COUNTER(amd64_rdpru, "amd64-rdpru", .kind = CPUC_CORE,
		    .strict = true, .open = amd64_rdpru_open)
