/* SPDX-License-Identifier: 0BSD */
/* A word of each thread that the kernel clears when it interrupts the thread in
 * user mode: to run another one, to move it to another CPU, or to have it
 * handle a signal. Kernels before Linux 6.19 clear it at waits in system calls,
 * too. Nothing is asked of the kernel for that, and no permission is needed. */
#ifndef CPUC_RSEQ_H
#define CPUC_RSEQ_H

#include <stdbool.h>
#include <stdint.h>

typedef volatile uintptr_t cpuc_rseq_word;

/* A thread's own. Where the thread has no word, `word` points to `armed`. */
struct cpuc_rseq {
	cpuc_rseq_word *word; /* NULL before cpuc_rseq_begin() */
	uintptr_t armed;      /* the latest value */
};

/* Finds out whether there are such words. Under the lock, between
 * cpuc_probe_begin and cpuc_probe_end. */
void cpuc_rseq_prepare(void);

/* The calling thread's word; NULL: it has none. */
cpuc_rseq_word *cpuc_rseq_own(void);

/* Arms that for the first time. */
void cpuc_rseq_begin(struct cpuc_rseq *r, cpuc_rseq_word *word);

/* Whether the word tells of waits in system calls: so until a caller has seen a
 * wait that it did not tell of, and says so by the second function. */
bool cpuc_rseq_tells_waits(void);
void cpuc_rseq_missed_wait(void);

/* Arms the word again, with a value that differs from the latest 127; it stays
 * until the kernel interrupts the thread. A value of another copy of this
 * library is left alone. Returns whether the thread was interrupted since the
 * word was last armed. */
bool cpuc_rseq_rearm(struct cpuc_rseq *r);

/* A word that this copy has armed points to one of these. */
#define CPUC_RSEQ_SECTIONS 128

struct cpuc_rseq_section {
	uint32_t version, flags;
	uint64_t start, length, abort;
} __attribute__((aligned(32)));

extern struct cpuc_rseq_section *cpuc_rseq_section;

static inline bool cpuc_rseq_ours(uintptr_t value)
{
	return value - (uintptr_t)cpuc_rseq_section <
	       CPUC_RSEQ_SECTIONS * sizeof *cpuc_rseq_section;
}

/* Stores the latest value in the word once more, unless it is another copy's:
 * that one must see that its word was cleared. */
static inline void cpuc_rseq_again(const struct cpuc_rseq *r)
{
	if (cpuc_rseq_ours(r->armed))
		*r->word = r->armed;
}

/* The CPU on which the calling thread is running; the same number each time
 * where the system does not tell. */
uint32_t cpuc_rseq_cpu(void);

/* How often the calling thread gave up the CPU to wait, and how often it lost
 * it otherwise. False where the system does not tell. Keeps errno. */
struct cpuc_switches {
	uint32_t own, forced;
};

bool cpuc_rseq_switches(struct cpuc_switches *n);

/* A number that grows with the interruptions of the calling thread, whose state
 * this is, and of which so many cleared the word; -1: it has none. */
long long cpuc_rseq_interruptions(const struct cpuc_rseq *r, uint32_t cleared);

#endif
