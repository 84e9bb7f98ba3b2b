/* SPDX-License-Identifier: 0BSD */
/* A thread's own variables, and the guard in which they change: what keeps the
 * thread's signal handlers from a change half made. */
#ifndef CPUC_GUARD_H
#define CPUC_GUARD_H

#include <signal.h>
#include <stdbool.h>

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
 * in a fault's handler that interrupts it, and in any handler where a sandbox
 * denies the blocking: change nothing then but the highest count given out.
 * Keeps errno. */
struct cpuc_guard {
#ifdef _WIN32
	unsigned long last_error; /* the caller's, to be kept */
#else
	sigset_t mask; /* the caller's, if `blocked` */
	bool blocked;  /* the signals are, by enter */
#endif
};

bool cpuc_guard_enter(struct cpuc_guard *guard);
void cpuc_guard_leave(const struct cpuc_guard *guard);

/* Whether the calling thread is inside the guard. probe.c may leave the guard
 * by a jump, and restores this. */
extern CPUC_TLS bool cpuc_guard_inside;

#endif
