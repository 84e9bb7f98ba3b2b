/* SPDX-License-Identifier: 0BSD */
/* riscv64-rdtime, riscv32-rdtime: the time CSR, by RDTIME (The RISC-V
 * Instruction Set Manual, Volume I, "Zicntr"), of 1 to 100 MHz on most
 * machines. On many a read traps into the firmware. */
#include <config.h>
#include "riscv.h"

const struct cpuc_counter cpuc_counter_riscv64_rdtime = {
	.name = CPUC_RISCV_NAME("rdtime"),
	.kind = CPUC_REFERENCE,
	.clock = &cpuc_riscv_time,
	.read = cpuc_riscv_ticks,
};
