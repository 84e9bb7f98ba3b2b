/* SPDX-License-Identifier: 0BSD */
/* alpha-rpcc: the process cycle counter, by RPCC (Alpha Architecture Handbook,
 * version 4, "RPCC"). The low half is the core's own counter; Linux keeps
 * nothing useful in the high half. Cores are not synchronised. */
#include <config.h>
#include "extend32.h"

static uint32_t alpha_rpcc_raw(void)
{
	uint64_t cycles;

	__asm__ volatile("rpcc %0" : "=r"(cycles));
	return (uint32_t)cycles;
}

CPUC_EXTEND32(alpha_rpcc, "alpha-rpcc")
