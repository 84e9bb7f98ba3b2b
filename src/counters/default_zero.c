/* SPDX-License-Identifier: 0BSD */
/* default-zero: so that cpucycles() may be called where nothing counts. */
#include <config.h>
#include "../slot.h"

static long long default_zero_read(void)
{
	return 0;
}

CPUC_DEFINE_COUNTER(default_zero, "default-zero", .kind = CPUC_ZERO)
