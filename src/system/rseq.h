/* SPDX-License-Identifier: 0BSD */
/* The thread's word, which the kernel clears when it interrupts the thread in
 * user mode: to run another one, to migrate it or to deliver a signal.
 * Before Linux 6.19 it also does when the thread waits in a system call. */
#ifndef CPUC_RSEQ_H
#define CPUC_RSEQ_H

#include <stdbool.h>
#include <stdint.h>

typedef volatile uintptr_t cpuc_rseq_word;

/* A thread's state. If the thread has no word, `word` points to `armed`. */
struct cpuc_rseq {
	cpuc_rseq_word *word; /* NULL before cpuc_rseq_begin() */
	uintptr_t armed;      /* the value last stored in the word */
};

/* Finds out whether threads have words. Under the lock, with the probe open. */
void cpuc_rseq_prepare(void);

/* The calling thread's word; NULL: it has none. */
cpuc_rseq_word *cpuc_rseq_own(void);

/* Arms this word, which is cpuc_rseq_own(), for the first time. */
void cpuc_rseq_begin(struct cpuc_rseq *r, cpuc_rseq_word *word);

/* A wait has been seen that did not clear its thread's word. Atomic. */
extern bool cpuc_rseq_misses_waits;

/* Arms the word again, with a value that differs from the last 1023, but leaves
 * that of another copy of this library alone. Returns whether the thread has
 * been interrupted since the word was last armed; no signal is overlooked. */
bool cpuc_rseq_rearm(struct cpuc_rseq *r);

/* A word that this copy has armed points to one of these. Handlers that
 * interrupt each other for long arm it often in one call: 8 were too few. */
#define CPUC_RSEQ_SECTIONS 1024

struct cpuc_rseq_section {
	uint32_t version, flags; /* as struct rseq_cs of <linux/rseq.h>: 0 */
	uint64_t start, length;  /* 0: no code is inside */
	uint64_t abort;          /* an address that follows a signature */
} __attribute__((aligned(32)));

/* NULL: no thread has a word. */
extern struct cpuc_rseq_section *cpuc_rseq_section;

static inline bool cpuc_rseq_ours(uintptr_t value)
{
	return value - (uintptr_t)cpuc_rseq_section <
	       CPUC_RSEQ_SECTIONS * sizeof *cpuc_rseq_section;
}

/* Whether the thread has one. */
static inline bool cpuc_rseq_has_word(const struct cpuc_rseq *r)
{
	return r->word != &r->armed;
}

/* Whether the word has this value still. Between fences: as it is no volatile
 * load, x86 compares in one instruction. */
static inline bool cpuc_rseq_stands(const struct cpuc_rseq *r, uintptr_t armed)
{
	return *(const uintptr_t *)(uintptr_t)r->word == armed;
}

/* Stores the armed value in the word once more, unless it is another copy's,
 * which must see that the word was cleared. Returns whether it was. */
static inline bool cpuc_rseq_restore(const struct cpuc_rseq *r)
{
	if (!cpuc_rseq_ours(r->armed))
		return *r->word != r->armed;
	return __atomic_exchange_n(r->word, r->armed, __ATOMIC_RELAXED) !=
	       r->armed;
}

/* A number that grows with each interruption of the calling thread, of which
 * `cleared` cleared its word. -1: it has no word. */
long long cpuc_rseq_interruptions(const struct cpuc_rseq *r, uint32_t cleared);

#endif
