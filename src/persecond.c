/* SPDX-License-Identifier: 0BSD */
/* Cycles per second, by the order of sources in cpucycles(7).
 *
 * On a virtual machine most statements are of the time-stamp counter's rate.
 * A calibrated counter counts the core's cycles, so there only a statement
 * about the core comes before a measurement. */
#include <config.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "system/stated_rate.h"
#include "observe.h"
#include "persecond.h"
#include "system/probe.h"
#include "system/textfile.h"

/* The number that the library's users have come to recognise as "unknown". */
const struct cpuc_persecond cpuc_persecond_unknown = {UINT64_C(2399987654),
						      "unknown"};

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
	*(struct cpuc_rate *)arg = cpuc_stated_rate("");
}

static struct cpuc_rate persecond_stated(void)
{
	const char *text = cpuc_getenv("cpucyclespersecond");
	struct cpuc_rate s = {0, NULL, false};

	if (cpuc_probe(persecond_ask_system, &s) != 0)
		s.hz = 0;
	if (s.hz == 0 && text != NULL) {
		s.hz = cpuc_parse_hz(text, strlen(text), 0, "");
		s.source = "environment variable cpucyclespersecond";
	}
	return s;
}

/* Settled once a process, `stated` and `measured` as far as asked. */
static bool asked_system, observed;
static struct cpuc_rate stated;
static struct cpuc_persecond measured;

struct cpuc_persecond cpuc_persecond_of(struct cpuc_slot *slots, size_t n,
					const struct cpuc_slot *current)
{
	bool calibrated =
		current->counter != NULL && current->counter->chains != NULL;
	struct cpuc_persecond by_system;

	if (!asked_system)
		stated = persecond_stated();
	asked_system = true;
	by_system = (struct cpuc_persecond){stated.hz, stated.source};
	if (stated.hz != 0 && (stated.of_core || !calibrated))
		return by_system;
	if (!observed)
		measured = (struct cpuc_persecond){
			cpuc_observe(slots, n, current), "measured"};
	observed = true;
	if (measured.hz != 0)
		return measured;
	return stated.hz != 0 ? by_system : cpuc_persecond_unknown;
}
