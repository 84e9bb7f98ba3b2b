/* SPDX-License-Identifier: 0BSD */
/* amd64-tsc, x86-tsc: RDTSC by the compiler's intrinsic. Of constant rate since
 * about 2008 (invariant TSC: Intel SDM vol. 3, "Time-Stamp Counter"). */
#include <config.h>
#include "x86.h"

static long long amd64_tsc_read(void)
{
	return (long long)__builtin_ia32_rdtsc();
}

CPUC_DEFINE_COUNTER(amd64_tsc, CPUC_X86_NAME("tsc"), .kind = CPUC_REFERENCE,
		    .clock = &cpuc_x86_tsc, .open = cpuc_x86_open_tsc)
