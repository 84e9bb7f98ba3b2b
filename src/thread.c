/* SPDX-License-Identifier: 0BSD */
/* Notices forks and thread ends, for the owners of per-thread state.
 *
 * A fork is noticed by memory that the kernel wipes in the child: clone(2)
 * calls no fork handler, and checking a word is cheap enough for every read. A
 * child never reuses its parent's words: a thread with its parent's state must
 * find its word zero even after another thread of the child has started a new
 * one.
 *
 * A thread's end is noticed by the destructor of a pthread key. A thread may
 * end at any time, so the library must never be unloaded (-z nodelete). */
#include <config.h>
#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include "thread.h"

#define WORDS 1024 /* one for each generation of children */

static uint32_t *words;
static unsigned generation; /* index of the newest word, modulo WORDS */
static pthread_key_t key;

struct watch {
	void (*ended)(void *);
	void *state;
};

static CPUC_THREAD struct watch watched;

static void thread_end(void *arg)
{
	struct watch *w = arg;

	w->ended(w->state);
}

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

/* For kernels before 4.14, where only fork(3) is noticed. */
static void thread_wipe_words(void)
{
	size_t i;

	for (i = 0; i < WORDS; i++)
		words[i] = 0;
}

int cpuc_thread_prepare(void)
{
	const size_t size = WORDS * sizeof *words;
	void *p;
	int err;

	if (words != NULL)
		return 0;
	p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED)
		return -ENOMEM;
	err = pthread_key_create(&key, thread_end);
	if (err == 0 && madvise(p, size, MADV_WIPEONFORK) != 0)
		err = pthread_atfork(NULL, NULL, thread_wipe_words);
	if (err != 0) {
		munmap(p, size);
		return -err;
	}
	words = p;
	return 0;
}

int cpuc_thread_watch(void (*ended)(void *), void *state)
{
	watched = (struct watch){ended, state};
	return -pthread_setspecific(key, &watched);
}

const uint32_t *cpuc_process_word(uint32_t pid)
{
	unsigned now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
	uint32_t *word = &words[now % WORDS];

	if (__atomic_load_n(word, __ATOMIC_ACQUIRE) != 0)
		return word;
	/* Two threads may each add a word: either is valid. */
	now = __atomic_add_fetch(&generation, 1, __ATOMIC_ACQ_REL);
	word = &words[now % WORDS];
	__atomic_store_n(word, pid, __ATOMIC_RELEASE);
	return word;
}
