/* SPDX-License-Identifier: 0BSD */
/* Variables of which each thread has its own, where the compiler only emulates
 * them. Empty elsewhere.
 *
 * A thread's index is in one of the places from its home on, up to the first
 * that has never been used. Other threads never take it. So a thread that ends
 * without cpuc_own_end() leaves it, and its variables, to the next thread with
 * the same address; all of them can cope with that. */
#include <config.h>
#include "thread_local.h"
#if HAVE_EMULATED_TLS
#include <string.h>

/* In place of a thread's address: nobody's yet; nobody's any more; nobody's,
 * but its variables are not new yet. */
enum { UNUSED, FREE, BUSY };

#define PLACES 32 /* that a thread looks at */

uintptr_t cpuc_own_thread[CPUC_OWN_ALL];

static struct own_variable {
	volatile char *each;
	size_t size;
} own_variable[16];
static unsigned own_variables;

/* By constructors, one after the other. */
void cpuc_own_known(volatile void *each, size_t size)
{
	own_variable[own_variables++] = (struct own_variable){each, size};
}

static unsigned own_place(uintptr_t self, unsigned n)
{
	return (cpuc_own_home(self) - CPUC_OWN_FIRST + n) %
		       (1 << CPUC_OWN_BITS) +
	       CPUC_OWN_FIRST;
}

/* The thread's index, or 0, and then where it may be: 0 if nowhere. */
static unsigned own_look(uintptr_t self, unsigned *room)
{
	unsigned i, n;
	uintptr_t at;

	*room = 0;
	for (n = 0; n < PLACES; n++) {
		i = own_place(self, n);
		at = __atomic_load_n(&cpuc_own_thread[i], __ATOMIC_RELAXED);
		if (at == self)
			return i;
		if (*room == 0 && (at == UNUSED || at == FREE))
			*room = i;
		if (at == UNUSED)
			break;
	}
	return 0;
}

/* Looks again when it has taken a place: a handler that came in between may
 * have taken another one before it. */
unsigned cpuc_own_find(uintptr_t self)
{
	unsigned i, room;
	uintptr_t at;

	while ((i = own_look(self, &room)) == 0 && room != 0) {
		at = __atomic_load_n(&cpuc_own_thread[room], __ATOMIC_RELAXED);
		if (at == UNUSED || at == FREE)
			__atomic_compare_exchange_n(
				&cpuc_own_thread[room], &at, self, false,
				__ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
	}
	return i;
}

/* In this order, as a handler may count. */
static void own_free(unsigned i)
{
	const struct own_variable *v;

	__atomic_store_n(&cpuc_own_thread[i], BUSY, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	for (v = own_variable; v < own_variable + own_variables; v++)
		memcpy((char *)v->each + i * v->size, (char *)v->each + v->size,
		       v->size);
	__atomic_store_n(&cpuc_own_thread[i], FREE, __ATOMIC_RELEASE);
}

void cpuc_own_end(void)
{
	uintptr_t self = cpuc_own_self();
	unsigned i, room;

	while ((i = own_look(self, &room)) != 0)
		own_free(i);
}

void cpuc_own_forked(void)
{
	const unsigned mine = cpuc_own_index();

	for (unsigned i = CPUC_OWN_FIRST; i < CPUC_OWN_ALL; i++)
		if (i != mine && cpuc_own_thread[i] != UNUSED)
			own_free(i);
}

#endif
