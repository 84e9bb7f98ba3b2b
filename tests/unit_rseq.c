/* SPDX-License-Identifier: 0BSD */
/* Which kernels are known not to report waits, before the first wait shows it;
 * and which threads have a word. */
#include <config.h>
#include "tap.h"
#if !HAVE_RSEQ
SKIPPED_MAIN("no restartable sequences")
#else
#include <sys/utsname.h>

static int pretended_uname(struct utsname *system);
#define uname pretended_uname
#include "../src/system/rseq.c"

static const char *release; /* NULL: uname(2) fails */

static int pretended_uname(struct utsname *system)
{
	memset(system, 0, sizeof *system);
	if (release != NULL)
		snprintf(system->release, sizeof system->release, "%s",
			 release);
	return release != NULL ? 0 : -1;
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
	/* The kernel may store the CPU's number again at any time. */
	for (i = 0; i < 100 && cpuc_rseq_own() != NULL; i++)
		area->cpu_id = (uint32_t)RSEQ_CPU_ID_REGISTRATION_FAILED;
	ok(i > 0 && i < 100, "a thread whose area was refused has no word");
	return done_testing();
}
#endif
