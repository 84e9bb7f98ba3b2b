/* SPDX-License-Identifier: 0BSD */
/* The destructor of a pthread key shows a thread's exit. It may come at any
 * time, so the library must never be unloaded (-z nodelete). */
#include <config.h>
#include <errno.h>
#include <pthread.h>
#include <sys/mman.h>
#include "../system/syscalls.h"
#include "marks.h"
#include "memory.h"

static pthread_key_t memory_key;
static bool memory_has_key;

#if defined __GLIBC__ && __GLIBC_MINOR__ < 34
/* In a static program libgcc and libstdc++ take pthread_key_create() for a sign
 * that these are there, too, and would call NULL before main(). */
__attribute__((used)) static void (*const memory_needs[])(void) = {
	(void (*)(void))pthread_mutex_lock,
	(void (*)(void))pthread_mutex_unlock,
	(void (*)(void))pthread_once,
};
#endif

/* The head of a thread's memory, and the key's value. */
struct memory {
	void (*ended)(void *memory, bool last);
	size_t size;     /* in bytes, with this head */
	unsigned rounds; /* of destructors so far */
};

/* POSIX promises four rounds of destructors. Others may count after this. */
static void memory_end(void *memory)
{
	struct memory *m = memory;
	bool last = m->rounds++ == 3;

	if (!last)
		pthread_setspecific(memory_key, m);
	m->ended(m + 1, last);
	if (last)
		munmap(m, m->size);
}

int cpuc_thread_prepare(void)
{
	int err = cpuc_process_prepare();

	if (err == 0 && !memory_has_key) {
		err = -pthread_key_create(&memory_key, memory_end);
		memory_has_key = err == 0;
	}
	return err;
}

void *cpuc_thread_memory(size_t size, void (*ended)(void *memory, bool last))
{
	struct memory *m = NULL;

	if (memory_has_key)
		m = cpuc_sys_zeros(sizeof *m + size);
	if (m == NULL)
		return NULL;
	*m = (struct memory){ended, sizeof *m + size, 0};
	if (pthread_setspecific(memory_key, m) == 0)
		return m + 1;
	munmap(m, m->size);
	return NULL;
}
