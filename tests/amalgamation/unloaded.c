/* SPDX-License-Identifier: 0BSD */
/* A plug-in with the two files in it counts and is unloaded, while the thread's
 * rseq_cs points to what the library stored there. The kernel follows it when
 * it interrupts the thread, at the latest in user mode, and ends a process that
 * has nothing mapped there.
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
#include <sys/rseq.h>
#include <sys/time.h>

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

/* Whether the field points to the library's description. */
static int armed(void)
{
	const struct rseq *area =
		(const struct rseq *)((char *)__builtin_thread_pointer() +
				      __rseq_offset);

	return *(const volatile uint64_t *)&area->rseq_cs != 0;
}

static void count_and_unload(const char *plugin)
{
	void *handle = dlopen(plugin, RTLD_NOW | RTLD_LOCAL);
	long long (*count)(void);
	int i;

	if (handle == NULL) {
		fprintf(stderr, "%s\n", dlerror());
		exit(2);
	}
	*(void **)&count = dlsym(handle, "other_interruptions");
	for (i = 0; i < TRIES && !armed(); i++)
		if (count == NULL || count() < 0)
			exit(count == NULL ? 3 : 77);
	if (dlclose(handle) != 0 || i == TRIES)
		exit(4);
}

int main(int argc, char **argv)
{
	int i;

	if (argc != 2)
		return 2;
	signal(SIGALRM, on_alarm);
	for (i = 0; i < TIMES; i++) {
		count_and_unload(argv[1]);
		if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != NULL)
			return 77;
		be_interrupted();
	}
	return 0;
}
