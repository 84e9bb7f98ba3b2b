/* SPDX-License-Identifier: 0BSD */
/* libcpucycles: counts CPU cycles, on any CPU, in every thread.
 *
 *     long long t0 = cpucycles();
 *     work();
 *     long long cycles = cpucycles() - t0;
 *
 * Link with -lcpucycles, or compile the cpucycles.c beside this file if there
 * is one. Every function may be called from any thread at any time. None fails
 * for lack of a cycle counter, or leaves signal masks or handlers changed, or
 * computes in floating point. errno changes only where noted. A descriptor is
 * kept only for a perf event that must be read through the kernel. See
 * cpucycles(3). */
#ifndef LIBCPUCYCLES_PUBLIC_H
#define LIBCPUCYCLES_PUBLIC_H

#include <stddef.h>

/* C90 and C++98 have no long long, and strict compilers warn of it. */
#ifdef __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wlong-long"
/* In C++, a struct and a function of one name. */
#pragma GCC diagnostic ignored "-Wshadow"
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* On Windows the linkers of GCC and Clang find what is in a DLL by themselves,
 * so this header also serves the static library. With other compilers, define
 * CPUCYCLES_API as nothing to link statically. */
#ifndef CPUCYCLES_API
#if defined(_WIN32) && !defined(__GNUC__)
#define CPUCYCLES_API __declspec(dllimport)
#elif defined(__GNUC__) && !defined(_WIN32)
#define CPUCYCLES_API __attribute__((visibility("default")))
#else
#define CPUCYCLES_API
#endif
#endif

/* The version of this header; the number is 10000 major + 100 minor + patch. */
#define CPUCYCLES_VERSION "1.0.0"
#define CPUCYCLES_VERSION_NUMBER 10000

/* The count, in CPU cycles since some fixed moment; only differences are
 * meaningful. It is a variable that points to a function: the first call
 * measures this machine's counters, in one thread while others wait, and makes
 * the variable point to the best. Do not assign to it. Programs that look it up
 * by dlsym() or GetProcAddress() get the variable's address:
 *
 *     long long (**count)(void) = (void *)dlsym(library, "cpucycles");
 *     long long n = (*count)();
 *
 * A raw counter of one core may jump when the thread migrates; cpucycles(7)
 * names those counters. cpucycles-internals(7) explains signal handlers and
 * fork. */
extern CPUCYCLES_API long long (*cpucycles)(void);

/* The same count, by a function: for other languages, which cannot call what a
 * variable points to, and for what needs the address of a function that follows
 * each selection. Costs one more jump. */
extern CPUCYCLES_API long long cpucycles_count(void);

/* The name of the counter in use, such as "amd64-tsc"; selects if nothing
 * has. Static storage. */
extern CPUCYCLES_API const char *cpucycles_implementation(void);

/* The version of the library that is loaded: "1.0.0"; built from a commit after
 * that release, "1.0.0+12.g0123456789". Selects nothing. */
extern CPUCYCLES_API const char *cpucycles_version(void);

/* What to divide a count by to get seconds: cycles per second of the counter in
 * use, between 10^6 and 10^11; selects if nothing has. cpucycles(7) lists the
 * sources. Constant until cpucycles_select() changes the counter. */
extern CPUCYCLES_API long long cpucycles_persecond(void);

/* Where that rate comes from: the path of a file, followed by the line's key if
 * the file has several; "sysctl KEY" or the like on systems that have a call
 * for it; "environment variable cpucyclespersecond"; "time-stamp counter";
 * "measured"; or "unknown" if the rate is a guess. Static storage. */
extern CPUCYCLES_API const char *cpucycles_persecondsource(void);

/* Makes the next selection print a line for each counter to stdout. */
extern CPUCYCLES_API void cpucycles_tracesetup(void);

/* The kind of the counter in use, by its name below; selects if nothing has.
 * Static storage. */
extern CPUCYCLES_API const char *cpucycles_kind(void);

/* Kinds of counters, best first. */
enum cpucycles_kind_id {
	CPUCYCLES_CORE = 1,   /* "core": hardware counts the core's cycles */
	CPUCYCLES_CALIBRATED, /* "calibrated": a clock outside the core, times
				 a measured ratio */
	CPUCYCLES_REFERENCE,  /* "reference": the same, times a nominal ratio */
	CPUCYCLES_OS,         /* "os": an operating system's clock, times a
				 nominal ratio */
	CPUCYCLES_ZERO        /* "zero": nothing works here; always 0 */
};

/* A counter that this build of the library knows. */
struct cpucycles_counter {
	const char *name;               /* as cpucycles_implementation() */
	const char *kind;               /* as cpucycles_kind() */
	enum cpucycles_kind_id kind_id; /* the same, to compare */
	unsigned bits;       /* of the raw count; 32 are extended to 64 */
	double scaling;      /* cycles per tick; 0 if not usable */
	long long step;      /* the smallest difference between two calls, in
				cycles; 0 if not usable */
	long long precision; /* step plus what its kind adds: the counter with
				the lowest is selected; 0 if not usable, and for
				kind zero, which is selected last */
	int per_thread;      /* 1: counts this thread's cycles only; 0: runs on
				while other threads have the CPU */
	int usable;          /* 1: can be selected; 0: see reason */
	char reason[160];    /* why not; "" if usable */
	char hint[160];      /* what would make it usable; "" if unknown */
};

/* Describes counter `index`, 0 being the most preferred, as the last
 * selection found it; selects if nothing has. `size` is sizeof *out: a
 * program built with another version of the struct gets the fields that both
 * know, the others zeroed. Returns 0, or -1 with errno EINVAL (no such index,
 * which ends a loop over all, or out is NULL) or EDEADLK (as
 * cpucycles_select()). */
extern CPUCYCLES_API int
cpucycles_counter(unsigned index, struct cpucycles_counter *out, size_t size);

/* The same for the counter of this name; NULL: the counter in use. The errno
 * is ENOENT where this build has no counter of that name. */
extern CPUCYCLES_API int cpucycles_counterbyname(const char *name,
						 struct cpucycles_counter *out,
						 size_t size);

/* Counts with the counter of this name from now on; NULL: selects again as the
 * first call did, and so notices what has changed since. Returns 0, or -1 with
 * the selection unchanged and errno ENOENT (no counter of this name in this
 * build), ENOTSUP (it does not work here: see its reason), or EDEADLK (called
 * by a signal handler that interrupted a selection). Do not subtract counts
 * from before and after. */
extern CPUCYCLES_API int cpucycles_select(const char *name);

/* The rate in Hz, now, of the core that this thread is running on: measured by
 * chains of instructions of known latency, or by a core counter. Takes about a
 * millisecond, or tens by a coarse clock; selects if nothing has. 0 if it
 * cannot be measured. */
extern CPUCYCLES_API long long cpucycles_observepersecond(void);

/* Grows whenever the calling thread is preempted, waits, migrates to another
 * CPU or receives a signal. If it is the same before and after an interval,
 * none of these happened in between, except perhaps a signal on some kernels:
 * see cpucycles(3). -1 where they are not reported. A system call. Selects if
 * nothing has. */
extern CPUCYCLES_API long long cpucycles_interruptions(void);

/* The instructions that this thread has retired in user mode since some fixed
 * moment, read in user space where cycles can be. The first call in a thread
 * opens a perf event. -1 where they cannot be counted (the last function below
 * says why), and in a signal handler that interrupted a selection. Never goes
 * back; stands still in a thread that cannot open the event. */
extern CPUCYCLES_API long long cpucycles_instructions(void);

/* Core cycles and instructions of this thread at one instant: no signal handler
 * and no other thread's work comes between the two. Returns 0, or -1 with errno
 * ENOTSUP and both counts -1 where cpucycles_instructions() is. Compare these
 * cycles only with those of other calls of this function: cpucycles() may use
 * another counter. */
extern CPUCYCLES_API int cpucycles_pair(long long *cycles,
					long long *instructions);

/* Describes how instructions are counted, as cpucycles_counter() does for
 * cycles; `name` is the counter of cycles whose registers are read. Returns 0,
 * or -1 with errno ENOENT (no build for this system counts instructions),
 * EINVAL or EDEADLK. */
extern CPUCYCLES_API int
cpucycles_instructionscounter(struct cpucycles_counter *out, size_t size);

/* Before and after the timed code, keeps it between the two counts, as far as
 * the architecture can: on x86, LFENCE waits until earlier instructions have
 * executed; on Arm, ISB only holds back later ones. Costs tens of cycles, so
 * subtract the cost of an empty interval. */
#if defined(__cplusplus)
/* One function in a program: C++20's modules cannot use a static one. */
inline void cpucycles_fence(void)
#elif defined(__GNUC__)
static __inline__ void cpucycles_fence(void)
#elif defined(_MSC_VER) || \
	(defined(__STDC_VERSION__) && __STDC_VERSION__ >= 199901L)
static inline void cpucycles_fence(void)
#else
static void cpucycles_fence(void)
#endif
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

#ifdef __GNUC__
#pragma GCC diagnostic pop
#endif

#endif
