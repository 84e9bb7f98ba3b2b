/* SPDX-License-Identifier: 0BSD */
/* libcpucycles: counts CPU cycles, on any CPU, in every thread.
 *
 *     long long t0 = cpucycles();
 *     work();
 *     long long cycles = cpucycles() - t0;
 *
 * Link with -lcpucycles. Every function may be called from any thread at any
 * time, and none of them fails for want of a counter, changes errno other
 * than as said, or leaves signal masks or signal handlers changed; a
 * descriptor is kept only for a perf event that must be read through the
 * kernel. See cpucycles(3). */
#ifndef CPUCYCLES_H
#define CPUCYCLES_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CPUCYCLES_API __attribute__((visibility("default")))
#else
#define CPUCYCLES_API
#endif

/* The count, in CPU cycles since some fixed moment; differences are what
 * means something. It is a variable that holds a function: the first call
 * selects a counter by measuring those that this machine has (mostly well
 * under a millisecond, in one thread while others wait) and puts the best in
 * its place. Do not assign to it.
 *
 * A raw counter of one core may step when the thread migrates; cpucycles(3)
 * says which do, and what holds for threads, signal handlers and fork. */
extern CPUCYCLES_API long long (*cpucycles)(void);

/* The name of the counter in use, such as "amd64-tsc"; selects if nothing
 * has. Static storage. */
extern CPUCYCLES_API const char *cpucycles_implementation(void);

/* The version of this library, such as "1.0.0". Selects nothing. */
extern CPUCYCLES_API const char *cpucycles_version(void);

/* CPU cycles per second as configured or as the operating system states it:
 * between 10^6 and 10^11, settled once in a process. cpucycles(3) lists the
 * sources. A nominal rate: a core may run slower or faster than this. */
extern CPUCYCLES_API long long cpucycles_persecond(void);

/* What states that rate: the path of a file, with the line's key where the
 * file has several; "sysctl KEY" and the like on systems that tell it by a
 * call; "environment variable cpucyclespersecond"; "measured"; or "unknown",
 * the rate then being a guess. Settles the rate as cpucycles_persecond() does.
 * Static storage. */
extern CPUCYCLES_API const char *cpucycles_persecondsource(void);

/* Makes the next selection print a line for each counter to stdout. */
extern CPUCYCLES_API void cpucycles_tracesetup(void);

/* What the count is made of; selects if nothing has. Static storage.
 *   "core"        a hardware counter at the core's own clock
 *   "calibrated"  a clock outside the core, times a measured ratio
 *   "reference"   a clock outside the core, times a nominal ratio
 *   "os"          a clock of the operating system, times a nominal ratio
 *   "zero"        nothing works here: the count is always 0 */
extern CPUCYCLES_API const char *cpucycles_kind(void);

/* One counter of those that this build of the library knows. */
struct cpucycles_counter {
	const char *name;    /* as cpucycles_implementation() gives it */
	const char *kind;    /* as cpucycles_kind() gives it */
	long long precision; /* cycles: the smallest step between two calls,
				and what its kind adds; 0 if not usable */
	double scaling;      /* cycles per tick; 0 if not usable */
	unsigned bits;       /* of the count that is read: 32 are extended */
	int usable;          /* 1: can be selected; 0: see reason */
	char reason[160];    /* why not, and after "; " what would help, if
				anything would; "" if usable */
};

/* Describes counter `index`, 0 being the most preferred, as the last
 * selection found it; selects if nothing has. `size` is sizeof *out: a
 * program built with another version of the struct gets the fields that both
 * know, the others zeroed. Returns 0, or -1 with errno EINVAL when there is
 * no such index (which ends a loop over all) or out is NULL, or EDEADLK as
 * cpucycles_select() does. */
extern CPUCYCLES_API int cpucycles_counter(unsigned index,
					   struct cpucycles_counter *out,
					   size_t size);

/* From now on counts with the counter of this name; NULL: selects again as
 * the first call did, which finds what has changed since. Returns 0, or -1
 * with the selection unchanged and errno ENOENT (no counter of this name in
 * this build), ENOTSUP (it does not work here; cpucycles_counter() tells
 * why), or EDEADLK (called by a handler of a fault in a selection itself).
 * Counts of before and after must not be subtracted. */
extern CPUCYCLES_API int cpucycles_select(const char *name);

/* The rate of the core that this thread is running on, now, in Hz, measured:
 * by chains of instructions of known latency, or by a core counter. Takes 0.1
 * to some milliseconds; selects if nothing has. 0 where it cannot be measured. */
extern CPUCYCLES_API long long cpucycles_observepersecond(void);

/* Put before and after a call of cpucycles() keeps the timed code between
 * them: earlier instructions have executed before it, later ones start after
 * it, as far as the architecture lets a user ask for that. Costs some tens
 * of cycles, so subtract what an empty interval measures. */
static inline void cpucycles_fence(void)
{
#if !defined(__GNUC__)
#elif defined(__x86_64__) || (defined(__i386__) && defined(__SSE2__))
	/* Waits for earlier instructions, holds back later ones: Intel SDM
	 * vol. 2, LFENCE; on AMD with the setting that Linux makes. */
	__asm__ __volatile__("lfence" ::: "memory");
#elif defined(__i386__)
	/* Orders memory only: LFENCE is not in every CPU of this baseline. */
	__asm__ __volatile__("lock; addl $0, (%%esp)" ::: "memory", "cc");
#elif defined(__aarch64__) || (defined(__ARM_ARCH) && __ARM_ARCH >= 7)
	__asm__ __volatile__("isb" ::: "memory");
#elif defined(__powerpc__)
	__asm__ __volatile__("isync" ::: "memory");
#elif defined(__riscv)
	__asm__ __volatile__("fence iorw, iorw" ::: "memory");
#elif defined(__loongarch__)
	__asm__ __volatile__("ibar 0" ::: "memory");
#elif defined(__s390__)
	__asm__ __volatile__("bcr 15, 0" ::: "memory");
#elif defined(__sparc__) && defined(__arch64__)
	__asm__ __volatile__("membar #Sync" ::: "memory");
#elif defined(__alpha__)
	__asm__ __volatile__("mb" ::: "memory");
#else
	__asm__ __volatile__("" ::: "memory");
#endif
}

#ifdef __cplusplus
}
#endif

#endif
