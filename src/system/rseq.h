/* SPDX-License-Identifier: 0BSD */
/* A word of each thread that the kernel clears when it interrupts the thread:
 * to run another one, to move it to another CPU, or to have it handle a signal.
 * Nothing is asked of the kernel for that, and no permission is needed. */
#ifndef CPUC_RSEQ_H
#define CPUC_RSEQ_H

#include <stdbool.h>
#include <stdint.h>

typedef volatile uintptr_t cpuc_rseq_word;

/* Finds out whether there are such words, and a clock of the time for which a
 * thread ran. Under the lock, between cpuc_probe_begin and cpuc_probe_end. */
void cpuc_rseq_prepare(void);

/* Whether the above found them. */
bool cpuc_rseq_available(void);

/* The calling thread's word; NULL: it has none. */
cpuc_rseq_word *cpuc_rseq_own(void);

/* Stores a value in a word, another one than the 255 before, and returns it. In
 * a thread's own word it stays until the thread is interrupted. If another copy
 * of this library has armed the word, that value stays and is returned. */
uintptr_t cpuc_rseq_arm(cpuc_rseq_word *word);

/* A word that this copy has armed points to one of these. */
#define CPUC_RSEQ_SECTIONS 256

struct cpuc_rseq_section {
	uint32_t version, flags;
	uint64_t start, length, abort;
} __attribute__((aligned(32)));

extern struct cpuc_rseq_section cpuc_rseq_section[CPUC_RSEQ_SECTIONS];

static inline bool cpuc_rseq_ours(uintptr_t value)
{
	return value - (uintptr_t)cpuc_rseq_section < sizeof cpuc_rseq_section;
}

/* Stores such a value in the word once more, unless it is another copy's: that
 * one must see that its word was cleared. */
static inline void cpuc_rseq_again(cpuc_rseq_word *word, uintptr_t value)
{
	if (cpuc_rseq_ours(value))
		*word = value;
}

/* The CPU on which the calling thread is running, if it has a word, or where
 * the system tells it without one. */
#if defined CPUC_TELLS_CPU
/* A test says. */
#elif defined __FreeBSD__ || defined _WIN32
#define CPUC_TELLS_CPU 1
#elif defined __APPLE__
#define CPUC_TELLS_CPU (__ENVIRONMENT_MAC_OS_X_VERSION_MIN_REQUIRED__ >= 110000)
#else
#define CPUC_TELLS_CPU 0
#endif

uint32_t cpuc_rseq_cpu(void);

/* How often the calling thread gave up the CPU to wait, and how often others
 * took it; other numbers each time where that is unknown. Keeps errno. */
struct cpuc_switches {
	uint32_t own, forced;
};

struct cpuc_switches cpuc_rseq_switches(void);

/* Counts an interruption of which the calling thread's word has told. */
void cpuc_rseq_interrupted(void);

/* How many there were; -1: the thread has no word. `look`: looks at the word
 * now, since the thread has no calibrated count, which does that. */
long long cpuc_rseq_interruptions(bool look);

#endif
