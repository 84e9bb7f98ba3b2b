/* SPDX-License-Identifier: 0BSD */
/* RISC-V's PMU under Linux. */
#ifndef CPUC_RISCV_PERF_H
#define CPUC_RISCV_PERF_H

#include "../perf.h"
#include "riscv_csr.h"

extern struct cpuc_pmu cpuc_riscv_pmu;

#endif
