/* SPDX-License-Identifier: 0BSD */
/* Cycles per second, by the order of sources in cpucycles(3).
 *
 * On a virtual machine most statements are of the time-stamp counter's rate.
 * A calibrated counter counts the core's cycles, so there only a statement
 * about the core comes before a measurement. */
#include <config.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "number.h"
#include "observe.h"
#include "osfreq.h"
#include "persecond.h"
#include "probe.h"

/* The number that the library's users have come to recognise as "unknown". */
const struct cpuc_persecond cpuc_persecond_unknown = {UINT64_C(2399987654),
						      "unknown"};

struct statement {
	struct cpuc_persecond rate; /* hz 0: there is none */
	bool of_core;
};

const char *cpuc_getenv(const char *name)
{
#ifdef HAVE_SECURE_GETENV
	return secure_getenv(name);
#else
	if (getuid() != geteuid() || getgid() != getegid())
		return NULL;
	return getenv(name);
#endif
}

static void persecond_ask_system(void *arg)
{
	struct statement *s = arg;

	s->rate.hz = cpuc_osfreq("", &s->rate.source);
}

static struct statement persecond_stated(void)
{
	const char *text = cpuc_getenv("cpucyclespersecond");
	struct statement s = {{0, NULL}, false};

	if (cpuc_probe(persecond_ask_system, &s) != 0)
		s.rate.hz = 0;
	if (s.rate.hz == 0 && text != NULL) {
		s.rate.hz = cpuc_parse_hz(text, strlen(text), 0, "");
		s.rate.source = "environment variable cpucyclespersecond";
	}
	return s;
}

/* Settled once a process, `stated` and `measured` as far as asked. */
static bool asked_system, observed;
static struct statement stated;
static struct cpuc_persecond measured;

struct cpuc_persecond cpuc_persecond_of(struct cpuc_slot *slots, size_t n,
					const struct cpuc_slot *current)
{
	bool calibrated =
		current->counter != NULL && current->counter->chains != NULL;

	if (!asked_system)
		stated = persecond_stated();
	asked_system = true;
	if (stated.rate.hz != 0 && (stated.of_core || !calibrated))
		return stated.rate;
	if (!observed)
		measured = (struct cpuc_persecond){
			cpuc_observe(slots, n, current), "measured"};
	observed = true;
	if (measured.hz != 0)
		return measured;
	return stated.rate.hz != 0 ? stated.rate : cpuc_persecond_unknown;
}
