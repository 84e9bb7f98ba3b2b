/* SPDX-License-Identifier: 0BSD */
/* default-zero: the count of a machine on which nothing counts. It keeps the
 * promise that cpucycles() may always be called; its kind is "zero". */
#include <config.h>
#include "../slot.h"

static long long default_zero_read(void)
{
	return 0;
}

CPUC_DEFINE_COUNTER(default_zero, "default-zero", .kind = CPUC_ZERO)
