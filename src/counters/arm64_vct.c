/* SPDX-License-Identifier: 0BSD */
/* arm64-vct: CNTVCT_EL0, the virtual count (Arm ARM for A-profile, DDI 0487,
 * "CNTVCT_EL0"). Its rate is in CNTFRQ_EL0, if firmware has set that: 1 GHz
 * from Armv8.6 on, tens of MHz before, so most adjacent reads are equal. */
#include <config.h>
#include "arm64.h"

const struct cpuc_counter cpuc_counter_arm64_vct = {
	.name = "arm64-vct",
	.kind = CPUC_REFERENCE,
	.clock = &cpuc_arm64_cntvct,
	.read = cpuc_arm64_ticks,
};
