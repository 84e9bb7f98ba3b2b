/* SPDX-License-Identifier: 0BSD */
/* riscv64-perfrdcycle, riscv32-perfrdcycle: the counter CSR that the kernel has
 * put this thread's cycles event on: `cycle` on a plain CPU, one of the others
 * where counters raise interrupts when they overflow (Sscofpmf). */
#include <config.h>
#include "riscv.h"

CPUC_PERF_COUNTERS(riscv64_perfrdcycle, CPUC_RISCV_NAME("perfrdcycle"),
		   CPUC_CORE, cpuc_riscv_cycle_events, cpuc_riscv_register, 0,
		   0, .defer_unmap = true,
		   .access = {"/proc/sys/kernel/perf_user_access"},
		   .outside = 2)
