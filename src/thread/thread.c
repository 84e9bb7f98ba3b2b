/* SPDX-License-Identifier: 0BSD */
/* Memory that the kernel wipes in the child shows a fork: clone(2) calls no
 * fork handler, and checking a mark is cheap enough for every read. A child
 * never reuses its parent's marks: a thread that still has state from the
 * parent must find its mark zero even after another thread of the child has
 * made a new one.
 *
 * The destructor of a pthread key shows a thread's exit. It may come at any
 * time, so the library must never be unloaded (-z nodelete). */
#include <config.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../system/syscalls.h"
#include "thread.h"

struct cpuc_process *cpuc_process;

unsigned cpuc_process_generation;
static pthread_key_t thread_key;
static bool thread_has_key;

#if defined __GLIBC__ && __GLIBC_MINOR__ < 34
/* In a static program libgcc and libstdc++ take pthread_key_create() for a sign
 * that these are there, too, and would call NULL before main(). */
__attribute__((used)) static void (*const thread_needs[])(void) = {
	(void (*)(void))pthread_mutex_lock,
	(void (*)(void))pthread_mutex_unlock,
	(void (*)(void))pthread_once,
};
#endif

CPUC_TLS bool cpuc_guard_inside;

bool cpuc_guard_enter(struct cpuc_guard *guard)
{
	static const int open[] = {SIGILL,  SIGFPE, SIGBUS,
				   SIGSEGV, SIGSYS, SIGTRAP};
	sigset_t most;
	unsigned i;

	cpuc_sys_all(&most);
	for (i = 0; i < sizeof open / sizeof *open; i++)
		sigdelset(&most, open[i]);
	guard->blocked = cpuc_sys_mask(SIG_BLOCK, &most, &guard->mask);
	if (cpuc_guard_inside) {
		if (guard->blocked)
			cpuc_sys_mask(SIG_SETMASK, &guard->mask, NULL);
		return false;
	}
	cpuc_guard_inside = true;
	CPUC_FENCE();
	return true;
}

void cpuc_guard_leave(const struct cpuc_guard *guard)
{
	CPUC_FENCE();
	cpuc_guard_inside = false;
	if (guard->blocked)
		cpuc_sys_mask(SIG_SETMASK, &guard->mask, NULL);
}

/* The head of a thread's memory, and the key's value. */
struct memory {
	void (*ended)(void *memory, bool last);
	size_t size;
	unsigned rounds; /* of destructors so far */
};

/* POSIX promises four rounds of destructors. Others may count after this. */
static void thread_end(void *memory)
{
	struct memory *m = memory;
	bool last = m->rounds++ == 3;

	if (!last)
		pthread_setspecific(thread_key, m);
	m->ended(m + 1, last);
	if (last)
		munmap(m, m->size);
}

/* 0: the kernel wipes the memory in a child. 18 is Linux's number, for C
 * libraries whose headers lack it. OpenBSD and NetBSD have another name. */
#if defined __linux__
#define thread_wipe_on_fork(p, size) madvise(p, size, 18)
#elif defined INHERIT_ZERO
#define thread_wipe_on_fork(p, size) minherit(p, size, INHERIT_ZERO)
#elif defined MAP_INHERIT_ZERO
#define thread_wipe_on_fork(p, size) minherit(p, size, MAP_INHERIT_ZERO)
#else
#define thread_wipe_on_fork(p, size) ((void)(size), -1)
#endif

/* A fork handler, for macOS and for Linux before 4.14, which cannot wipe. */
static void thread_wipe(void)
{
	memset(cpuc_process, 0, sizeof *cpuc_process);
}

static void *thread_map(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

int cpuc_process_prepare(void)
{
	const size_t size = sizeof *cpuc_process;
	void *p;
	int err = 0;

	if (cpuc_process != NULL)
		return 0;
	p = thread_map(size);
	if (p == NULL)
		return -ENOMEM;
	if (thread_wipe_on_fork(p, size))
		err = pthread_atfork(NULL, NULL, thread_wipe);
	if (err != 0) {
		munmap(p, size);
		return -err;
	}
	__atomic_store_n(&cpuc_process, p, __ATOMIC_RELEASE);
	return 0;
}

int cpuc_thread_prepare(void)
{
	int err = cpuc_process_prepare();

	if (err == 0 && !thread_has_key) {
		err = -pthread_key_create(&thread_key, thread_end);
		thread_has_key = err == 0;
	}
	return err;
}

void *cpuc_thread_memory(size_t size, void (*ended)(void *memory, bool last))
{
	struct memory *m = NULL;

	if (thread_has_key)
		m = thread_map(sizeof *m + size);
	if (m == NULL)
		return NULL;
	*m = (struct memory){ended, sizeof *m + size, 0};
	if (pthread_setspecific(thread_key, m) == 0)
		return m + 1;
	munmap(m, m->size);
	return NULL;
}

const uint32_t *cpuc_process_mark_new(void)
{
	/* Two threads may each make a mark: both are valid. */
	unsigned now = __atomic_add_fetch(&cpuc_process_generation, 1,
					  __ATOMIC_ACQ_REL);
	uint32_t *mark = &cpuc_process->mark[now % CPUC_MARKS];

	__atomic_store_n(mark, (uint32_t)getpid(), __ATOMIC_RELEASE);
	return mark;
}
