/* SPDX-License-Identifier: 0BSD */
/* Which kernels are known not to report waits, before the first wait shows it;
 * which threads have a word; and the number of interruptions. */
#include <config.h>
#include "tap.h"
#if !HAVE_RSEQ
SKIPPED_MAIN("no restartable sequences")
#else
#include <sys/resource.h>
#include <sys/utsname.h>

static int pretended_uname(struct utsname *system);
static int pretended_switches(struct rusage *usage);
#define uname pretended_uname
#define getrusage(who, usage) pretended_switches(usage)
#include "../src/system/rseq.c"
#include "../src/system/scheduling.c"

static const char *release; /* NULL: uname(2) fails */

static int pretended_uname(struct utsname *system)
{
	memset(system, 0, sizeof *system);
	if (release != NULL)
		snprintf(system->release, sizeof system->release, "%s",
			 release);
	return release != NULL ? 0 : -1;
}

static bool denied; /* getrusage(2) */

static int pretended_switches(struct rusage *usage)
{
	usage->ru_nvcsw = 300;
	usage->ru_nivcsw = 5000;
	errno = denied ? EPERM : 0;
	return denied ? -1 : 0;
}

/* From Linux 6.19 on, only the kernel's number tells of waits. */
static void check_interruptions(void)
{
	cpuc_rseq_word word = 0;
	struct cpuc_rseq r = {.word = NULL};

	ok(cpuc_rseq_interruptions(&r, 20) == -1, "none before the first call");
	cpuc_rseq_begin(&r, NULL);
	ok(cpuc_rseq_interruptions(&r, 20) == -1,
	   "nor is their number known to a thread that has no word");
	cpuc_rseq_begin(&r, &word);
	errno = EDOM;
	ok(cpuc_rseq_interruptions(&r, 20) == 5320 && errno == EDOM,
	   "interruptions are what cleared the word, waits and preemptions");
	denied = true;
	ok(cpuc_rseq_interruptions(&r, 20) == 20 && errno == EDOM,
	   "where getrusage is denied, what cleared the word; errno is kept");
	denied = false;
}

/* A handler that counts for long, between a call's look at the armed value and
 * its look at the word. */
static void check_sections(void)
{
	cpuc_rseq_word word = 0;
	struct cpuc_rseq r = {.word = NULL};
	uintptr_t armed;
	int n = 0;

	cpuc_rseq_begin(&r, &word);
	armed = r.armed;
	do
		cpuc_rseq_rearm(&r);
	while (++n < 2000 && r.armed != armed && word == r.armed);
	ok(cpuc_rseq_ours(armed) && r.armed == armed && n > 1000,
	   "a word has a value again after it was armed %d times", n);
}

int main(void)
{
	static const struct {
		const char *release;
		bool tells;
	} kernels[] = {{"4.18.0-553.el8_10.x86_64", true},
		       {"6.9.12", true},
		       {"6.18.12+deb14", true},
		       {"6.19-rc1", false},
		       {"10.1.0", false},
		       {NULL, false}};
	volatile struct rseq *area =
		(void *)((char *)__builtin_thread_pointer() + __rseq_offset);
	unsigned i;

	if (__rseq_size < RSEQ_AREA_SIZE)
		skip_all("threads have no restartable sequences");
	for (i = 0; i < COUNT(kernels); i++) {
		release = kernels[i].release;
		cpuc_rseq_misses_waits = false;
		cpuc_rseq_section = NULL;
		cpuc_probe_begin();
		cpuc_rseq_prepare();
		cpuc_probe_end();
		ok(cpuc_rseq_misses_waits != kernels[i].tells,
		   "Linux %s %s waits", release ? release : "(unknown)",
		   kernels[i].tells ? "reports" : "does not report");
	}
	check_sections();
	check_interruptions();
	/* The kernel may store the CPU's number again at any time. */
	for (i = 0; i < 100 && cpuc_rseq_own() != NULL; i++)
		area->cpu_id = (uint32_t)RSEQ_CPU_ID_REGISTRATION_FAILED;
	ok(i > 0 && i < 100, "a thread whose area was refused has no word");
	return done_testing();
}
#endif
