/* SPDX-License-Identifier: 0BSD */
/* loong64-rdtime: the stable counter, by RDTIME.D (LoongArch Reference Manual,
 * Volume 1, "RDTIME{L/H}.W, RDTIME.D"). CPUCFG gives its rate. */
#include <config.h>
#include "../rate/clock.h"

/* LLFTP in word 2: words 4 and 5 are valid. */
#define HAS_CLOCK (1u << 14)

CPUC_ASM_READ(long long, loong64_rdtime_read, "rdtime.d %0, $zero")

static uint32_t loong64_rdtime_config(unsigned long word)
{
	unsigned long value;

	__asm__("cpucfg %0, %1" : "=r"(value) : "r"(word));
	return (uint32_t)value;
}

static uint64_t loong64_rdtime_stated(void)
{
	uint32_t crystal, mul, div;

	if (!(loong64_rdtime_config(2) & HAS_CLOCK))
		return 0;
	crystal = loong64_rdtime_config(4);
	mul = loong64_rdtime_config(5) & 0xffff;
	div = loong64_rdtime_config(5) >> 16;
	return div != 0 ? (uint64_t)crystal * mul / div : 0;
}

CPUC_CLOCK_COUNTER(loong64_rdtime, "loong64-rdtime", CPUC_REFERENCE,
		   .stated = loong64_rdtime_stated)
