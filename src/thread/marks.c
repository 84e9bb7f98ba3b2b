/* SPDX-License-Identifier: 0BSD */
/* Memory that the kernel wipes in the child shows a fork: clone(2) calls no
 * fork handler, and checking a mark is cheap enough for every read. A child
 * never reuses its parent's marks: a thread that still has state from the
 * parent must find its mark zero even after another thread of the child has
 * made a new one. */
#include <config.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "../system/syscalls.h"
#include "marks.h"

struct cpuc_process *cpuc_process;
unsigned cpuc_process_generation;

/* 0: the kernel wipes the memory in a child. 18 is Linux's number, for C
 * libraries whose headers lack it. OpenBSD and NetBSD have another name. */
#if defined __linux__
#define marks_wipe_on_fork(p, size) madvise(p, size, 18)
#elif defined INHERIT_ZERO
#define marks_wipe_on_fork(p, size) minherit(p, size, INHERIT_ZERO)
#elif defined MAP_INHERIT_ZERO
#define marks_wipe_on_fork(p, size) minherit(p, size, MAP_INHERIT_ZERO)
#else
#define marks_wipe_on_fork(p, size) ((void)(size), -1)
#endif

/* A fork handler, for macOS and for Linux before 4.14, which cannot wipe. */
static void marks_wipe(void)
{
	memset(cpuc_process, 0, sizeof *cpuc_process);
}

int cpuc_process_prepare(void)
{
	const size_t size = sizeof *cpuc_process;
	void *p;
	int err = 0;

	if (cpuc_process != NULL)
		return 0;
	p = cpuc_sys_zeros(size);
	if (p == NULL)
		return -ENOMEM;
	if (marks_wipe_on_fork(p, size))
		err = pthread_atfork(NULL, NULL, marks_wipe);
	if (err != 0) {
		munmap(p, size);
		return -err;
	}
	__atomic_store_n(&cpuc_process, p, __ATOMIC_RELEASE);
	return 0;
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
