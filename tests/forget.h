/* SPDX-License-Identifier: 0BSD */
/* For tests of the calibrated count. */
#ifndef FORGET_H
#define FORGET_H

#include <string.h>
#include "calibrated/count.h"

/* As if this thread had not counted. */
__attribute__((unused)) static void calibrated_forget(void)
{
	memset(&cpuc_own_count, 0, sizeof cpuc_own_count);
}

/* The next call measures. */
__attribute__((unused)) static void calibrated_expire(void)
{
	cpuc_own_count.due = 0;
	cpuc_own_count.ratio.glimpse_in = 0;
	cpuc_own_count.ratio.measure_in = 0;
}

#endif
