/* SPDX-License-Identifier: 0BSD */
/* amd64-tsccore, x86-tsccore: RDTSC, converted to cycles of the core by a ratio
 * that is measured: what the time-stamp counter cannot say where no PMU can be
 * read, as on most virtual machines. */
#include <config.h>
#if HAVE_COUNTER_AMD64_TSCCORE
#include "../calibrate.h"
#include "chains_x86.h"
#include "x86.h"

static long long tick(void)
{
	return (long long)__builtin_ia32_rdtsc();
}

static long long count(void)
{
	return (long long)cpuc_calibrated((uint64_t)tick());
}

static const struct cpuc_chain_ops chains = {
	.tick = tick,
	.chain = x86_chain,
	.nchains = sizeof x86_chain / sizeof *x86_chain,
	.steady = &x86_steady,
};

const struct cpuc_counter cpuc_counter_amd64_tsccore = {
	.name = CPUC_X86_NAME("tsccore"),
	.kind = CPUC_CALIBRATED,
	.unit = CPUC_TICK,
	.bits = 64,
	.read = count,
	.open = cpuc_x86_open_tsc,
	.shared_rate = &cpuc_x86_tsc_rate,
	.chains = &chains,
};

#endif
