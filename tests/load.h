/* SPDX-License-Identifier: 0BSD */
/* Load beside a test's counting code of a calibrated counter. */
#ifndef LOAD_H
#define LOAD_H

#include "faults/faults.h"

#include <stdbool.h>
#include "tools/common/affinity.h"

static double load_seconds;

/* Selects a calibrated counter: under a sanitizer a clock may be selected, as
 * calls take longer. False: there is none. */
static inline bool load_select(void)
{
	struct cpucycles_counter c;
	unsigned i;

	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (c.usable && c.kind_id == CPUCYCLES_CALIBRATED)
			return cpucycles_select(c.name) == 0;
	return false;
}

/* Selects a calibrated counter, or skips all tests. */
static inline void load_begin(void)
{
	struct cpucycles_counter c;

	load_seconds = live_seconds();
	patience += (int)load_seconds * 3;
	/* Not to disturb the child too often. */
	nap_ns = 5000000;
	if (!load_select())
		skip_all("no calibrated counter here");
	cpucycles_counterbyname(NULL, &c, sizeof c);
	if (!c.per_thread)
		skip_all("%s does not count each thread alone", c.name);
	diag("%s, %g s for each scenario", c.name, load_seconds);
}

/* The core's rate in Hz. A host may be too busy for one try; 0: for ten. */
static inline long long load_rate(void)
{
	long long hz;
	int tries = 10;

	do
		hz = cpucycles_observepersecond();
	while (hz == 0 && --tries > 0);
	return hz;
}

static inline void load_busy(void)
{
	__asm__ __volatile__("");
}

/* A process that does nothing but act(), on the CPUs of its parent, and ends
 * with it. */
static inline pid_t load_rival(void (*act)(void))
{
	pid_t pid = fork();

	if (pid == 0) {
#ifdef PR_SET_PDEATHSIG
		prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
		for (;;)
			act();
	}
	return pid;
}

static inline void load_rival_end(pid_t pid)
{
	if (pid <= 0)
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

#endif
