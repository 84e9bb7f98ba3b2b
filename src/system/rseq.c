/* SPDX-License-Identifier: 0BSD */
/* Restartable sequences (rseq(2), Linux 4.18). The word is rseq_cs, in the area
 * that glibc 2.35 registers for each thread. It points to an empty section: the
 * thread is always outside, so the kernel clears it (rseq_update_usr()).
 *
 * Others' sections have ended before anything else runs in the thread: they may
 * be overwritten. An empty one is another copy's of this library, and stays, or
 * each copy would take the other's calls for interruptions. */
#include <config.h>
#include <stddef.h>
#include "probe.h"
#include "rseq.h"
#include "scheduling.h"
#include "syscalls.h"
#if HAVE_RSEQ
#include <string.h>
#include <sys/rseq.h>
#include <sys/utsname.h>
#endif

struct cpuc_rseq_section *cpuc_rseq_section;

bool cpuc_rseq_misses_waits;

static bool rseq_of_copy(uintptr_t value)
{
	const struct cpuc_rseq_section *s =
		(const struct cpuc_rseq_section *)value;

	return value != 0 && !cpuc_rseq_ours(value) && s->start == 0 &&
	       s->length == 0;
}

/* Returns what the word was. */
static uintptr_t rseq_arm(struct cpuc_rseq *r)
{
	uintptr_t was = *r->word, value = was;

	if (!cpuc_rseq_has_word(r)) {
		value++;
	} else if (!rseq_of_copy(value)) {
		/* The next section; after the last one the first. */
		value = r->armed + sizeof *cpuc_rseq_section;
		if (!cpuc_rseq_ours(value))
			value = (uintptr_t)cpuc_rseq_section;
		was = __atomic_exchange_n(r->word, value, __ATOMIC_RELAXED);
	}
	r->armed = value;
	return was;
}

bool cpuc_rseq_rearm(struct cpuc_rseq *r)
{
	const uintptr_t armed = r->armed;

	return rseq_arm(r) != armed;
}

void cpuc_rseq_begin(struct cpuc_rseq *r, cpuc_rseq_word *word)
{
	r->word = word != NULL ? word : &r->armed;
	rseq_arm(r);
}

/* Signals clear the word; waits that do not are switches. Some count twice. */
long long cpuc_rseq_interruptions(const struct cpuc_rseq *r, uint32_t cleared)
{
	struct cpuc_switches n = {0, 0};

	if (r->word == NULL || !cpuc_rseq_has_word(r))
		return -1;
	cpuc_thread_switches(&n);
	return (long long)cleared + n.voluntary + n.involuntary;
}

#if HAVE_RSEQ

#define RSEQ_AREA_SIZE 20 /* up to the last field of Linux 4.18 */

/* It stays mapped when the library is unloaded: threads' words point to it. The
 * kernel wants the signature before the address to which a section aborts. */
struct rseq_mapping {
	struct cpuc_rseq_section section[CPUC_RSEQ_SECTIONS];
	uint32_t signature[2];
};

static void rseq_try(void *arg)
{
	struct rseq_mapping *m;
	struct cpuc_switches n;
	struct utsname system;

	cpuc_thread_switches(&n); /* a sandbox's SIGSYS is to come here */
	if (uname(&system) != 0 || strverscmp(system.release, "6.19") >= 0)
		cpuc_rseq_misses_waits = true;
	m = cpuc_sys_zeros(sizeof *m);
	if (m == NULL)
		return;
	m->signature[0] = RSEQ_SIG;
	for (int i = 0; i < CPUC_RSEQ_SECTIONS; i++)
		m->section[i].abort = (uintptr_t)&m->signature[1];
	*(struct cpuc_rseq_section **)arg = m->section;
}

void cpuc_rseq_prepare(void)
{
	struct cpuc_rseq_section *section = NULL;

	if (cpuc_rseq_section != NULL || __rseq_size < RSEQ_AREA_SIZE)
		return;
	/* A sandbox may answer a system call with SIGSYS. */
	cpuc_probe(rseq_try, &section);
	/* With its sections filled in, for cpuc_rseq_own() in any thread. */
	__atomic_store_n(&cpuc_rseq_section, section, __ATOMIC_RELEASE);
}

/* On a 32-bit host, the half of the field that holds the pointer. */
cpuc_rseq_word *cpuc_rseq_own(void)
{
	char *self = __builtin_thread_pointer();
	volatile struct rseq *area = (void *)(self + __rseq_offset);
	volatile char *field = (volatile char *)&area->rseq_cs;

	/* Negative where the kernel refused to register the thread. */
	if (__atomic_load_n(&cpuc_rseq_section, __ATOMIC_ACQUIRE) == NULL ||
	    (int32_t)area->cpu_id < 0)
		return NULL;
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	field += sizeof(uint64_t) - sizeof(uintptr_t);
#endif
	return (cpuc_rseq_word *)(volatile void *)field;
}

#else

void cpuc_rseq_prepare(void)
{
}

cpuc_rseq_word *cpuc_rseq_own(void)
{
	return NULL;
}

#endif
