/* SPDX-License-Identifier: 0BSD */
/* A plug-in with the two files in it counts and is unloaded, while the thread's
 * rseq_cs points to what the library stored: the kernel follows it when it next
 * interrupts the thread, and ends a process that has nothing mapped there.
 *
 *     unloaded PLUG-IN
 *
 * Status 77: it stays loaded, or there is no rseq. The plug-in is not linked
 * with -z nodelete, as it should be: so no thread that has counted may end
 * before the process does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/rseq.h>
#include <sys/time.h>
#include <unistd.h>

#define TIMES 10
#define TRIES 100

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms = alarms + 1;
}

static void be_interrupted(void)
{
	const struct itimerval soon = {{0, 0}, {0, 200}};
	sig_atomic_t before = alarms;

	setitimer(ITIMER_REAL, &soon, NULL);
	while (alarms == before)
		;
}

/* Where rseq_cs points to. */
static uintptr_t description(void)
{
	const struct rseq *area =
		(const struct rseq *)((char *)__builtin_thread_pointer() +
				      __rseq_offset);

	return (uintptr_t) * (const volatile uint64_t *)&area->rseq_cs;
}

static int is_mapped(uintptr_t address)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	unsigned char in_core;

	return mincore((void *)(address & -page), 1, &in_core) == 0;
}

/* Returns where it pointed to. */
static uintptr_t count_and_unload(const char *plugin)
{
	void *handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
	long long (*count)(void);
	uintptr_t at = 0;
	int i;

	if (handle == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	*(void **)&count = dlsym(handle, "plugin");
	for (i = 0; i < TRIES && at == 0; i++) {
		if (count == NULL || count() < 0)
			exit(count == NULL ? 3 : 77);
		at = description();
	}
	if (dlclose(handle) != 0 || at == 0)
		exit(4);
	return at;
}

int main(int argc, char **argv)
{
	uintptr_t at;
	int i;

	if (argc != 2)
		return 2;
	signal(SIGALRM, on_alarm);
	for (i = 0; i < TIMES; i++) {
		at = count_and_unload(argv[1]);
		if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != NULL)
			return 77;
		if (!is_mapped(at))
			return 5;
		be_interrupted();
	}
	return 0;
}
