/* SPDX-License-Identifier: 0BSD */
/* In place of persecond.c and os_clock.c: a nominal rate, how often it was
 * asked for, and a clock. The test defines cpuc_os_clock_ns(), and the time of
 * day. */
#ifndef PRETENDED_CLOCK_H
#define PRETENDED_CLOCK_H

#include "persecond.h"
#include "system/os_clock.h"

static uint64_t nominal_rate;
static unsigned rates_asked;
static const char *asked_for; /* in the environment */

const struct cpuc_persecond cpuc_persecond_unknown;

struct cpuc_persecond cpuc_persecond(const struct cpuc_slot *current)
{
	(void)current;
	rates_asked++;
	return (struct cpuc_persecond){nominal_rate, "the test"};
}

uint64_t cpuc_persecond_now(const struct cpuc_slot *current)
{
	(void)current;
	return 0;
}

const char *cpuc_getenv(const char *name)
{
	(void)name;
	return asked_for;
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

bool cpuc_os_clock_thread_agrees(long long (*tick)(void))
{
	(void)tick;
	return false;
}

void cpuc_os_clock_check(void)
{
}

bool cpuc_tsc_forbidden(void)
{
	return false;
}

#endif
