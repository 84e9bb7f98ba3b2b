/* SPDX-License-Identifier: 0BSD */
/* riscv64-rdcycle, riscv32-rdcycle: the cycle CSR outside perf, open to users
 * before Linux 6.6. It counts the core, not the thread; cores differ. */
#include <config.h>
#include "riscv.h"

static long long riscv64_rdcycle_read(void)
{
	uint64_t value;

	CPUC_RISCV_CSR(0, value);
	return (long long)value;
}

static int riscv64_rdcycle_open(struct cpuc_slot *slot)
{
	return cpuc_perf_absent(slot, &cpuc_riscv_cycle_events);
}

CPUC_DEFINE_COUNTER(riscv64_rdcycle, CPUC_RISCV_NAME("rdcycle"),
		    .kind = CPUC_CORE, .open = riscv64_rdcycle_open)
