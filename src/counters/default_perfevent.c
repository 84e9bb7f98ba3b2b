/* SPDX-License-Identifier: 0BSD */
/* default-perfevent: read(2) of this thread's cycles event: as true as a
 * register's, at the price of three system calls.
 *
 * When there are more events than registers, the kernel lets them take turns,
 * and the count stands still in between. It is not scaled up by the time that
 * the event was on a register: that would be a guess, would go back at times,
 * and nobody who times code wants a guess of what it took. */
#include <config.h>
#if HAVE_COUNTER_DEFAULT_PERFEVENT
#include "../perf/read.h"
#include "../slot.h"

static struct cpuc_pmu default_perfevent_pmu = {
	.core_types = {"cpu_core", "cpu_atom"},
};

static long long default_perfevent_read(void)
{
	return cpuc_perf_slow(&default_perfevent_pmu);
}

const struct cpuc_counter cpuc_counter_default_perfevent = {
	.name = "default-perfevent",
	.kind = CPUC_CORE_KERNEL,
	.unit = CPUC_CYCLE,
	.bits = 64,
	.pmu = &default_perfevent_pmu,
	.read = default_perfevent_read,
};

#endif
