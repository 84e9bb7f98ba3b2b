/* SPDX-License-Identifier: 0BSD */
/* CPU cycles per second, settled once in a process. */
#include <config.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cpucycles.h"
#include "engine.h"
#include "lock.h"
#include "number.h"
#include "osfreq.h"
#include "probe.h"

/* What the library says where nothing at all is known: the number that its
 * users have come to recognise as such. */
#define UNKNOWN_HZ UINT64_C(2399987654)

struct rate {
	uint64_t hz;
	const char *source; /* static storage; one of those in cpucycles(3) */
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

static void ask_files(void *arg)
{
	struct rate *r = arg;

	r->hz = cpuc_osfreq("", &r->source);
}

static void ask_environment(struct rate *r)
{
	const char *text = cpuc_getenv("cpucyclespersecond");

	if (text != NULL) {
		r->hz = cpuc_parse_hz(text, strlen(text), 0, "");
		r->source = "environment variable cpucyclespersecond";
	}
}

static const struct rate unknown = {UNKNOWN_HZ, "unknown"};
static struct rate settled;

uint64_t cpuc_persecond(void)
{
	struct rate r = {0, NULL};

	if (settled.hz != 0)
		return settled.hz;
	if (cpuc_probe(ask_files, &r) != 0)
		r.hz = 0;
	if (r.hz == 0)
		ask_environment(&r);
	if (r.hz == 0)
		r = (struct rate){cpuc_observe(), "measured"};
	if (r.hz == 0)
		r = unknown;
	/* In this order for a handler of SIGSYS, which looks at hz. */
	settled.source = r.source;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	settled.hz = r.hz;
	return r.hz;
}

static struct rate settle(void)
{
	struct cpuc_guard guard;

	/* A handler in the midst of the engine, where nothing can be tried:
	 * what is not known yet must stay open. */
	if (cpuc_lock(&guard) != 0)
		return settled.hz ? settled : unknown;
	if (settled.hz == 0) {
		cpuc_probe_begin();
		cpuc_persecond();
		cpuc_probe_end();
	}
	cpuc_unlock(&guard);
	return settled;
}

long long cpucycles_persecond(void)
{
	return (long long)settle().hz;
}

const char *cpucycles_persecondsource(void)
{
	return settle().source;
}
