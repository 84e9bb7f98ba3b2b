/* SPDX-License-Identifier: 0BSD */
/* Variables of which each thread has its own, for handlers of signals too. A
 * header declares one, with a macro that makes it look like any variable, as
 * errno does; one file defines it, with its value in a new thread:
 *
 *     CPUC_OWN_DECLARE(type, name);
 *     #define name CPUC_OWN(name)
 *
 *     CPUC_OWN_DEFINE(type, name, value);
 */
#ifndef CPUC_THREAD_LOCAL_H
#define CPUC_THREAD_LOCAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if !HAVE_EMULATED_TLS

/* configure sets CPUC_TLS_MODEL: initial-exec, one instruction an access, where
 * the C library reserves room for libraries loaded by dlopen, as glibc does;
 * the compiler's choice elsewhere. That room is about 1600 bytes for all
 * libraries of a process, and a library takes it as a whole, variables of other
 * models included. So this one has at most 256 bytes of thread-local storage.
 * Larger state is in cpuc_thread_memory(). */
#ifdef CPUC_TLS_MODEL
#define CPUC_THREAD __thread __attribute__((tls_model(CPUC_TLS_MODEL)))
#else
#define CPUC_THREAD __thread
#endif

#define CPUC_OWN_DECLARE(type, name) extern CPUC_THREAD type name##_each
#define CPUC_OWN_DEFINE(type, name, ...) \
	CPUC_THREAD type name##_each = __VA_ARGS__
#define CPUC_OWN(name) name##_each

static inline bool cpuc_own_none(void)
{
	return false;
}

static inline __attribute__((unused)) void cpuc_own_end(void)
{
}

#else

/* OpenBSD, Android before 10, and GCC on Windows and macOS: there the compiler
 * calls a function that takes a lock, and allocates a thread's variables when
 * the thread first uses them, which a handler may not do. So each variable is
 * an array here, and a thread has an index, which it finds by a number that
 * differs between living threads. */
#if defined cpuc_own_self
/* A test says. */
#elif defined _WIN32 && defined __x86_64__
static inline uintptr_t cpuc_own_self(void)
{
	uintptr_t block;

	/* The thread environment block knows its own address. */
	__asm__("mov %%gs:0x30, %0" : "=r"(block));
	return block;
}
#elif defined _WIN32 && defined __i386__
static inline uintptr_t cpuc_own_self(void)
{
	uintptr_t block;

	__asm__("mov %%fs:0x18, %0" : "=r"(block));
	return block;
}
#elif (defined __linux__ || defined __OpenBSD__) && \
	(defined __clang__ || __GNUC__ >= 11)
static inline uintptr_t cpuc_own_self(void)
{
	return (uintptr_t)__builtin_thread_pointer();
}
#else
#include <pthread.h>
static inline uintptr_t cpuc_own_self(void)
{
	return (uintptr_t)pthread_self();
}
#endif

/* Index 0 belongs to all threads for which there is no room. Index 1 belongs to
 * none: it has the initial values, to which a thread's end restores its index.
 */
#define CPUC_OWN_BITS 12
#define CPUC_OWN_FIRST 2
#define CPUC_OWN_ALL (CPUC_OWN_FIRST + (1 << CPUC_OWN_BITS))

/* The owner of each index: its thread pointer, or 0. */
extern uintptr_t cpuc_own_thread[CPUC_OWN_ALL];

/* Where a thread's index is sought first. Threads' addresses have the same
 * distance from each other: 2^32 divided by the golden ratio scatters them. */
static inline unsigned cpuc_own_home(uintptr_t self)
{
	uint32_t mixed = (uint32_t)(self >> 4) * UINT32_C(2654435769);

	return CPUC_OWN_FIRST + (mixed >> (32 - CPUC_OWN_BITS));
}

/* The index, also if it is elsewhere; a new one in a new thread; or 0. */
unsigned cpuc_own_find(uintptr_t self);

static inline unsigned cpuc_own_index(void)
{
	uintptr_t self = cpuc_own_self();
	unsigned i = cpuc_own_home(self);

	if (__atomic_load_n(&cpuc_own_thread[i], __ATOMIC_RELAXED) == self)
		return i;
	return cpuc_own_find(self);
}

/* Has a variable be as new again when its thread ends. */
void cpuc_own_known(volatile void *each, size_t size);

/* Ranges of an array in its initialiser are not ISO C. */
#pragma GCC diagnostic ignored "-Wpedantic"

#define CPUC_OWN_DECLARE(type, name) extern type name##_each[CPUC_OWN_ALL]
#define CPUC_OWN_DEFINE(type, name, ...)                             \
	type name##_each[CPUC_OWN_ALL] = {[0 ... CPUC_OWN_ALL - 1] = \
						  __VA_ARGS__};      \
	static __attribute__((constructor)) void name##_known(void)  \
	{                                                            \
		cpuc_own_known(name##_each, sizeof name##_each[0]);  \
	}                                                            \
	_Static_assert(sizeof(type) <= 512, "of one thread")
#define CPUC_OWN(name) name##_each[cpuc_own_index()]

/* Whether the calling thread has no variables of its own: it may read them but
 * not change them. */
static inline bool cpuc_own_none(void)
{
	return cpuc_own_index() == 0;
}

/* The calling thread ends, or counts no more. Its variables are for others. */
void cpuc_own_end(void);

/* Of all threads, this one alone is in the child of a fork. */
void cpuc_own_forked(void);

#endif

#endif
