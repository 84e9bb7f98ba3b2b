/* SPDX-License-Identifier: 0BSD */
/* In place of os_clock.c. The test defines cpuc_os_clock_ns(). */
#ifndef PRETENDED_CLOCK_H
#define PRETENDED_CLOCK_H

#include "system/os_clock.h"

uint64_t cpuc_os_clock_us(void)
{
	return cpuc_os_clock_ns() / 1000;
}

uint64_t cpuc_os_clock_coarse_ns(void)
{
	return cpuc_os_clock_ns() / 4000000 * 4000000;
}

uint64_t cpuc_os_clock_thread(uint64_t hz)
{
	(void)hz;
	return 0;
}

void cpuc_os_clock_check(void)
{
}

bool cpuc_tsc_forbidden;

#endif
