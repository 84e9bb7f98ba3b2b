/* SPDX-License-Identifier: 0BSD */
/* In place of persecond.c: a nominal rate, and how often it was asked for. */
#ifndef PRETENDED_RATE_H
#define PRETENDED_RATE_H

#include "rate/persecond.h"
#include "system/environment.h"

static uint64_t nominal_rate;
static unsigned rates_asked;
static const char *asked_for; /* in the environment */

const struct cpuc_rate cpuc_persecond_unknown;

struct cpuc_rate cpuc_persecond(const struct cpuc_slot *current)
{
	(void)current;
	rates_asked++;
	return (struct cpuc_rate){nominal_rate, "the test", false};
}

const struct cpuc_rate *cpuc_persecond_known(const struct cpuc_slot *current)
{
	(void)current;
	return NULL;
}

struct cpuc_rate cpuc_persecond_now(const struct cpuc_slot *current)
{
	(void)current;
	return cpuc_persecond_unknown;
}

const char *cpuc_getenv(const char *name)
{
	(void)name;
	return asked_for;
}

#endif
