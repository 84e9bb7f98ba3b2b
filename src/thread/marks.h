/* SPDX-License-Identifier: 0BSD */
/* Marks, which tell a forked child from its parent. */
#ifndef CPUC_MARKS_H
#define CPUC_MARKS_H

#include <stdint.h>

#define CPUC_MARKS 1024 /* one for each generation of children */
#define CPUC_PLACES 64

/* The memory that the kernel wipes in a forked child. All of it is atomic. */
struct cpuc_process {
	/* The process id, from when the mark was made; 0: none yet, or it was
	 * the parent's. */
	uint32_t mark[CPUC_MARKS];

	/* What a child does not have: perf/thread_events.c keeps pages here. */
	uintptr_t place[CPUC_PLACES];
};

/* NULL before cpuc_process_prepare(). Stored with release order, paired with
 * lock.c's acquire; others look once they have seen the lock, or a counter that
 * was published after. */
extern struct cpuc_process *cpuc_process;

/* Maps that memory: 0 or -errno. Under the lock; later calls do nothing. */
int cpuc_process_prepare(void);

/* The index of the newest mark, before it is taken modulo CPUC_MARKS. */
extern unsigned cpuc_process_generation;
const uint32_t *cpuc_process_mark_new(void);

/* A mark holds the process id in this process, and zero in every child with
 * memory of its own, even in one of the same process id. Both loads are paired
 * with cpuc_process_mark_new(), which counts, then stores the id: who sees a
 * new index and not yet its id makes another mark. */
static inline const uint32_t *cpuc_process_mark(void)
{
	unsigned now =
		__atomic_load_n(&cpuc_process_generation, __ATOMIC_ACQUIRE);
	const uint32_t *mark = &cpuc_process->mark[now % CPUC_MARKS];

	return __atomic_load_n(mark, __ATOMIC_ACQUIRE) != 0
		       ? mark
		       : cpuc_process_mark_new();
}

#endif
