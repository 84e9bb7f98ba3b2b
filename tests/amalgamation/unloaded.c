/* SPDX-License-Identifier: 0BSD */
/* A plug-in with the two files in it counts and is unloaded, while the thread's
 * rseq_cs points to what the library stored there. The kernel follows it when
 * it interrupts the thread, at the latest in user mode, and ends a process that
 * has nothing mapped there.
 *
 *     unloaded PLUG-IN
 *
 * Status 77: it stays loaded. The plug-in is not linked with -z nodelete, as it
 * should be: so no thread that has counted may end before the process does. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMES 30
#define TRIES 100

static volatile sig_atomic_t alarms;

static void on_alarm(int sig)
{
	(void)sig;
	alarms = alarms + 1;
}

static long preemptions(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nivcsw;
}

static void be_signalled(void)
{
	const struct itimerval soon = {{0, 0}, {0, 200}};
	sig_atomic_t before = alarms;

	setitimer(ITIMER_REAL, &soon, NULL);
	while (alarms == before)
		;
}

static void be_preempted(void)
{
	long before = preemptions();
	int i;

	while (preemptions() == before)
		for (i = 0; i < 100000; i++)
			__asm__ volatile("");
}

static void yield(void)
{
	long before = preemptions();

	while (preemptions() == before)
		sched_yield();
}

static void (*const interruption[])(void) = {be_signalled, be_preempted, yield};

/* A process that never waits, on this CPU. */
static pid_t rival(void)
{
	cpu_set_t one;
	pid_t pid;

	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	if (sched_setaffinity(0, sizeof one, &one) != 0)
		exit(2);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			__asm__ volatile("");
	}
	return pid;
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
			exit(3);
	if (dlclose(handle) != 0 || i == TRIES)
		exit(4);
}

int main(int argc, char **argv)
{
	int i;
	pid_t pid;

	if (argc != 2)
		return 2;
	signal(SIGALRM, on_alarm);
	pid = rival();
	for (i = 0; i < TIMES; i++) {
		count_and_unload(argv[1]);
		if (dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD) != NULL) {
			kill(pid, SIGKILL);
			return 77;
		}
		interruption[i % 3]();
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return 0;
}
