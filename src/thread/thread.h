/* SPDX-License-Identifier: 0BSD */
/* A thread's own state, the guard under which it changes, and a mark that tells
 * a forked child from its parent. */
#ifndef CPUC_THREAD_H
#define CPUC_THREAD_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Thread-local storage (TLS), also for signal handlers. With glibc configure
 * sets CPUC_TLS_MODEL to initial-exec: one instruction an access, but all
 * libraries that dlopen loads share about 1600 bytes, or are refused. So this
 * one uses 160 at most; larger state is in cpuc_thread_memory(). */
#ifdef CPUC_TLS_MODEL
#define CPUC_TLS __thread __attribute__((tls_model(CPUC_TLS_MODEL)))
#else
#define CPUC_TLS __thread
#endif

/* Orders accesses against signal handlers of the same thread. (clang 14 moves
 * loads across __atomic_signal_fence().) */
#define CPUC_FENCE() __asm__ volatile("" ::: "memory")

/* The guard: between enter and leave the calling thread may change its own
 * state. No asynchronous signal handler runs in it, nor, on Linux, is the
 * thread cancelled. Faults' signals stay unblocked: blocked, they kill. False
 * in a fault's handler that interrupts it, or any if a sandbox denies the
 * blocking: change nothing then. Keeps errno. */
struct cpuc_guard {
#ifdef _WIN32
	unsigned long last_error;
#else
	sigset_t mask;
	bool blocked;
#endif
};

bool cpuc_guard_enter(struct cpuc_guard *guard);
void cpuc_guard_leave(const struct cpuc_guard *guard);

/* Whether the calling thread is inside the guard. probe.c may leave the guard
 * by a jump, and restores this. */
extern CPUC_TLS bool cpuc_guard_inside;

/* The first prepares for cpuc_process_mark(), the second for all below. 0 or
 * -errno. Under the lock; later calls do nothing. */
int cpuc_process_prepare(void);
int cpuc_thread_prepare(void);

/* Zeroed memory for the calling thread, which must not have any yet; NULL: none
 * to be had. When the thread exits, ended(memory, false) is called while other
 * destructors may still use the library, and ended(memory, true) before it is
 * unmapped. Async-signal-safe, unless the program has so many pthread keys that
 * the C library must allocate. */
void *cpuc_thread_memory(size_t size, void (*ended)(void *memory, bool last));

/* The memory that the kernel wipes in a forked child. */
#define CPUC_MARKS 1024 /* one for each generation of children */
#define CPUC_PLACES 64

struct cpuc_process {
	uint32_t mark[CPUC_MARKS];
	uintptr_t place[CPUC_PLACES]; /* pages to unmap: thread_events.c */
};

extern struct cpuc_process *cpuc_process;

/* The index of the newest mark, before it is taken modulo CPUC_MARKS. */
extern unsigned cpuc_process_generation;
const uint32_t *cpuc_process_mark_new(void);

/* A mark holds the process id in this process, and zero in every child with
 * memory of its own, even in one of the same process id. */
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
