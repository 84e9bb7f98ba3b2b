/* SPDX-License-Identifier: 0BSD */
/* Restartable sequences (rseq(2), Linux 4.18). glibc registers an area for each
 * thread, since 2.35. Its field rseq_cs may point to the description of a
 * critical section. When the kernel preempts a thread outside the section,
 * moves it or delivers a signal to it, it sets the field to NULL on the way
 * back (<linux/rseq.h>). The sections here are empty, so every address is
 * outside.
 *
 * Others who use rseq in the process point the field to sections of their own.
 * Those have ended, or were aborted, before anything else runs in the thread.
 * So a value that is not ours counts as an interruption, and may be
 * overwritten. An empty section is another copy's of this library: it stays, or
 * each of two copies would take every call of the other for an
 * interruption. */
#include <config.h>
#include <errno.h>
#include <stddef.h>
#include "os_clock.h"
#include "probe.h"
#include "rseq.h"
#include "thread.h"
#include "windows/api.h"
#ifdef __APPLE__
#include <pthread.h>
#endif
#ifdef __FreeBSD__
#include <sched.h>
#endif
#if HAVE_RSEQ
#include <sys/resource.h>
#include <sys/rseq.h>
#endif

/* The layout is that of struct rseq_cs: version and flags are 0, pointers have
 * 64 bits. */
struct cpuc_rseq_section cpuc_rseq_section[CPUC_RSEQ_SECTIONS];

/* How often the calling thread armed a word, and was interrupted; the word's
 * latest value. */
struct rseq_thread {
	volatile uint32_t armed, interrupted;
	volatile uintptr_t value;
};
static CPUC_OWN_DEFINE(struct rseq_thread, rseq_own, {0});
#define rseq_own CPUC_OWN(rseq_own)

static bool rseq_ready;

bool cpuc_rseq_available(void)
{
	return __atomic_load_n(&rseq_ready, __ATOMIC_ACQUIRE);
}

static bool rseq_of_copy(uintptr_t value)
{
	const struct cpuc_rseq_section *s =
		(const struct cpuc_rseq_section *)value;

	return value != 0 && !cpuc_rseq_ours(value) && s->start == 0 &&
	       s->length == 0;
}

uintptr_t cpuc_rseq_arm(cpuc_rseq_word *word)
{
	uintptr_t value = *word;

	if (!rseq_of_copy(value)) {
		value = (uintptr_t)&cpuc_rseq_section[++rseq_own.armed %
						      CPUC_RSEQ_SECTIONS];
		*word = value;
	}
	rseq_own.value = value;
	return value;
}

void cpuc_rseq_interrupted(void)
{
	rseq_own.interrupted++;
}

long long cpuc_rseq_interruptions(bool look)
{
	cpuc_rseq_word *word = cpuc_rseq_own();

	if (word == NULL)
		return -1;
	if (look && (rseq_own.value == 0 || *word != rseq_own.value)) {
		rseq_own.interrupted++;
		cpuc_rseq_arm(word);
	}
	return rseq_own.interrupted;
}

#if HAVE_RSEQ

#define SIZE 20 /* of the area, with all that it had at first */

/* The kernel looks for this before the address to which a section aborts. */
static const uint32_t rseq_signature[2] = {RSEQ_SIG};

static void rseq_try_clock(void *ns)
{
	*(uint64_t *)ns = cpuc_os_clock_thread(1000000000);
}

void cpuc_rseq_prepare(void)
{
	static bool tried;
	uint64_t ns = 0;
	int i;

	/* Without a mark of the process, a child would be taken for it. */
	if (tried || __rseq_size < SIZE || cpuc_process == NULL)
		return;
	tried = true;
	if (cpuc_probe(rseq_try_clock, &ns) != 0 || ns == 0)
		return;
	for (i = 0; i < CPUC_RSEQ_SECTIONS; i++)
		cpuc_rseq_section[i].abort = (uintptr_t)&rseq_signature[1];
	__atomic_store_n(&rseq_ready, true, __ATOMIC_RELEASE);
}

static volatile struct rseq *rseq_area(void)
{
	char *self = __builtin_thread_pointer();

	return (volatile struct rseq *)(void *)(self + __rseq_offset);
}

uint32_t cpuc_rseq_cpu(void)
{
	return rseq_area()->cpu_id;
}

struct cpuc_switches cpuc_rseq_switches(void)
{
	struct rusage usage;
	/* Nobody asks twice about one interruption. */
	struct cpuc_switches n = {0, rseq_own.interrupted};
	int saved = errno;

	if (getrusage(RUSAGE_THREAD, &usage) == 0)
		n = (struct cpuc_switches){(uint32_t)usage.ru_nvcsw,
					   (uint32_t)usage.ru_nivcsw};
	errno = saved;
	return n;
}

/* The half of the field that holds a pointer: the other one stays zero. */
cpuc_rseq_word *cpuc_rseq_own(void)
{
	volatile char *field = (volatile char *)&rseq_area()->rseq_cs;

	/* Negative where the kernel refused to register the thread. */
	if (!cpuc_rseq_available() || (int32_t)cpuc_rseq_cpu() < 0)
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

uint32_t cpuc_rseq_cpu(void)
{
#if !CPUC_TELLS_CPU
	return 0;
#elif defined __APPLE__
	size_t cpu = 0;

	return pthread_cpu_number_np(&cpu) == 0 ? (uint32_t)cpu : 0;
#elif defined _WIN32
	return GetCurrentProcessorNumber();
#else
	return (uint32_t)sched_getcpu();
#endif
}

cpuc_rseq_word *cpuc_rseq_own(void)
{
	return NULL;
}

struct cpuc_switches cpuc_rseq_switches(void)
{
	return (struct cpuc_switches){0, 0};
}

#endif
