/* SPDX-License-Identifier: 0BSD */
/* The first call: 64 threads at once, in many fresh processes, and nothing of
 * the caller's changed by it. LIVE_FIRST_PROCESSES sets how many. */
#include <config.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#ifdef HAVE_LINUX_FILTER_H
#include <stddef.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#endif
#include <sys/wait.h>
#include <unistd.h>
#include "cpucycles.h"
#include "portable.h"
#include "tap.h"

#define THREADS 64

static pthread_barrier_t barrier;

/* Whether the count goes on from there. A step of the clock may take longer
 * than any number of calls that is known beforehand, up to milliseconds. */
static int goes_on(long long from)
{
	long long now;
	int i;

	for (i = 0; i < 1000000; i++) {
		now = cpucycles();
		if (now != from)
			return now > from;
	}
	return 0;
}

/* 0 if this thread's first count and those after it are good. */
static void *racer(void *arg)
{
	long long first, last, now;
	int i, *bad = arg;

	errno = 17;
	pthread_barrier_wait(&barrier);
	first = last = cpucycles();
	*bad = errno != 17 || first == 0;
	for (i = 0; i < 1000; i++) {
		now = cpucycles();
		*bad |= now < last;
		last = now;
	}
	*bad |= last == first && !goes_on(first);
	return NULL;
}

/* In a fresh process: the exit status is the number of wrong threads. */
static int race(void)
{
	pthread_t id[THREADS];
	pthread_attr_t attr;
	int bad[THREADS], i, wrong = 0;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 256 * 1024);
	pthread_barrier_init(&barrier, NULL, THREADS);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&id[i], &attr, racer, &bad[i]) != 0)
			return 99;
	for (i = 0; i < THREADS; i++) {
		pthread_join(id[i], NULL);
		wrong += bad[i];
	}
	return wrong;
}

static int in_child(int (*f)(void))
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(f());
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFSIGNALED(status) ? 1000 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

static void check_race(void)
{
	const char *many = getenv("LIVE_FIRST_PROCESSES");
	int n = many ? atoi(many) : 100, i, failed = 0, status;

	for (i = 0; i < n; i++) {
		status = in_child(race);
		if (status != 0 && failed++ == 0)
			diag("process %d: status %d", i, status);
	}
	ok(failed == 0, "%d processes, %d threads racing for the first call", n,
	   THREADS);
}

static void handler(int sig)
{
	(void)sig;
}

/* A flag that glibc adds to whatever it sets, and shows afterwards. */
#define RESTORER 0x04000000

/* The lowest free descriptor: one more if the library kept one. */
static int lowest_descriptor(void)
{
	int fd = open("/dev/null", O_RDONLY);

	close(fd);
	return fd;
}

static int undisturbed(void)
{
	struct sigaction before[32], after;
	sigset_t mask, now;
	int sig, fd = lowest_descriptor(), cancel, changed = 0;

	memset(before, 0, sizeof before);
	for (sig = 1; sig < 32; sig += 3)
		if (sig != SIGKILL && sig != SIGSTOP)
			signal(sig, handler);
	sigemptyset(&mask);
	sigaddset(&mask, SIGSEGV);
	sigaddset(&mask, SIGUSR1);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	for (sig = 1; sig < 32; sig++)
		sigaction(sig, NULL, &before[sig]);
	errno = EDOM;
	cpucycles();
	if (errno != EDOM)
		return 2;
	for (sig = 1; sig < 32; sig++) {
		if (sigaction(sig, NULL, &after) != 0)
			continue;
		changed += after.sa_handler != before[sig].sa_handler ||
			   (after.sa_flags & ~RESTORER) !=
				   (before[sig].sa_flags & ~RESTORER);
	}
	pthread_sigmask(SIG_SETMASK, NULL, &now);
	for (sig = 1; sig < 32; sig++)
		changed += sigismember(&now, sig) != sigismember(&mask, sig);
	pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel);
	changed += cancel != PTHREAD_CANCEL_ENABLE;
	return changed + (lowest_descriptor() != fd);
}

/* A child of fork counts, whether or not its parent had counted before. */
static int child_counts(void)
{
	return !goes_on(cpucycles());
}

/* The nominal rate, asked for before anything else. */
static int rate_first(void)
{
	return cpucycles_persecond() < 1000000 || child_counts();
}

#if defined(HAVE_LINUX_FILTER_H) && defined(SYS_rt_sigaction)
#define CANNOT_FILTER 55

/* No handler can be installed, so nothing that may fault can be tried. */
static int no_handlers(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_sigaction, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof rules / sizeof *rules, rules};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return CANNOT_FILTER;
	return child_counts() || !strcmp(cpucycles_kind(), "zero");
}

static void check_no_handlers(void)
{
	int status = in_child(no_handlers);

	if (status == CANNOT_FILTER)
		skip("system calls cannot be filtered here");
	else
		ok(status == 0,
		   "where sigaction is denied, a clock counts "
		   "(%d)",
		   status);
}
#else
static void check_no_handlers(void)
{
	skip("system calls cannot be filtered here");
}
#endif

/* As in a child that has the selection, but cpucycles as it was before: fork
 * copies page by page. */
static int half_published(void)
{
	long long (*before)(void) = cpucycles;

	cpucycles();
	cpucycles = before;
	return child_counts();
}

static int grandchild_counts(void)
{
	cpucycles();
	return in_child(child_counts);
}

/* Needs the lock, which a thread of the parent may have held at the fork: who
 * waits for it in vain is killed. */
static int child_selects(void)
{
	alarm(60);
	return cpucycles_select(NULL) != 0 || child_counts();
}

static void *selecting(void *arg)
{
	int *stop = arg;

	while (!__atomic_load_n(stop, __ATOMIC_RELAXED))
		cpucycles_select(NULL);
	return NULL;
}

/* Forks while another thread is in the midst of selecting. */
static int fork_in_selection(void)
{
	int stop = 0, i, failed = 0;
	pthread_t id;

	cpucycles();
	pthread_create(&id, NULL, selecting, &stop);
	for (i = 0; i < 50; i++) {
		failed += in_child(child_selects) != 0;
		usleep(300);
	}
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(id, NULL);
	return failed;
}

static void check_fork_in_selection(void)
{
	int status;

	if (SANITIZED) {
		skip("sanitizers take locks of their own, which a child may "
		     "find held by a thread that it has not");
		return;
	}
	status = in_child(fork_in_selection);
	ok(status == 0,
	   "50 children forked in the midst of another thread's "
	   "selection all select and count (%d)",
	   status);
}

/* Selecting anew under readers: every count goes on in each thread. */
static int select_under_readers(void)
{
	pthread_t id;
	int stop = 0, i, zero = 0;

	pthread_create(&id, NULL, selecting, &stop);
	for (i = 0; i < 2000000; i++)
		zero += cpucycles() == 0;
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	pthread_join(id, NULL);
	return zero > 0;
}

int main(void)
{
	int status;

	/* Everything in children: this process never counts. */
	check_race();
	status = in_child(undisturbed);
	ok(status == 0,
	   "errno, signal mask and dispositions, cancelability "
	   "and descriptors are untouched (%d)",
	   status);
	status = in_child(child_counts);
	ok(status == 0, "a child counts before its parent has (%d)", status);
	status = in_child(grandchild_counts);
	ok(status == 0, "and after (%d)", status);
	status = in_child(rate_first);
	ok(status == 0, "and is told the nominal rate before it counts (%d)",
	   status);
	check_no_handlers();
	status = in_child(half_published);
	ok(status == 0, "and with half of its parent's selection (%d)", status);
	check_fork_in_selection();
	status = in_child(select_under_readers);
	ok(status == 0, "selecting anew while others count (%d)", status);
	return done_testing();
}
