/* SPDX-License-Identifier: 0BSD */
/* The first call in a process that lacks what others have: descriptors,
 * memory, /proc, a large stack, privileges. */
#include "faults/faults.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>

static struct seen *base;

/* As good as without the fault, unless that was a counter of perf events; a
 * busy machine may refuse to be calibrated for a while, so it is chosen again.
 */
static int same(void)
{
	const struct timespec nap = {0, 20000000};
	static struct seen now; /* memory may have run out */
	int i;

	if (counts(1000) != 0)
		return 2;
	if (cpucycles_persecond() < 1000000)
		return 3;
	if (!strcmp(base->kind, "core"))
		return !strcmp(cpucycles_kind(), "zero");
	for (i = 0; i < 100; i++) {
		look(&now);
		if (as_good(&now, base))
			return 0;
		nanosleep(&nap, NULL);
		cpucycles_select(NULL);
	}
	diag("%s instead of %s: %s", now.name, base->name,
	     seen_counter(&now, base->name)->reason);
	return 4;
}

static int nothing_missing(void *arg)
{
	look(arg);
	return counts(1000);
}

static int no_descriptors(void *arg)
{
	struct rlimit few = {64, 64};

	(void)arg;
	if (setrlimit(RLIMIT_NOFILE, &few) != 0)
		return CANNOT;
	while (dup(1) >= 0)
		;
	return errno != EMFILE ? CANNOT : same();
}

static void *count_once(void *arg)
{
	return counts(1000) == 0 ? arg : NULL;
}

static int in_thread(void *(*f)(void *), const pthread_attr_t *attr)
{
	void *good = NULL;
	pthread_t id;

	if (pthread_create(&id, attr, f, base) != 0)
		return CANNOT;
	pthread_join(id, &good);
	return good == NULL;
}

static void close_all(void)
{
	int fd;

	for (fd = 3; fd < 256; fd++)
		close(fd);
}

/* Everything closed, before and after the first call; whatever file gets the
 * number of one of ours is not read from. */
static int closed(void *arg)
{
	int fd[16], i, bad;
	char byte;

	(void)arg;
	close_all();
	bad = same();
	close_all();
	for (i = 0; i < 16; i++)
		fd[i] = open(i % 2 ? "/proc/self/maps" : "/dev/zero", O_RDONLY);
	bad |= counts(1000);
	bad |= in_thread(count_once, NULL);
	for (i = 1; i < 16; i += 2)
		if (fd[i] >= 0 && (lseek(fd[i], 0, SEEK_CUR) != 0 ||
				   read(fd[i], &byte, 1) != 1))
			bad |= 64;
	return bad;
}

static int no_memory(void *arg)
{
	struct rlimit none = {0, 0};

	(void)arg;
	if (SANITIZED || setrlimit(RLIMIT_AS, &none) != 0 ||
	    mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
		    MAP_FAILED)
		return CANNOT;
	return same();
}

/* Without /proc, /sys and /etc: in an empty directory. */
static int nowhere(void *arg)
{
	char empty[] = "/tmp/cpuc-empty.XXXXXX";
	int bad;

	(void)arg;
	if (mkdtemp(empty) == NULL)
		return CANNOT;
	/* Gone, it stays what it is to who is in it. */
	bad = chdir(empty) != 0 || rmdir(empty) != 0;
#ifdef CLONE_NEWUSER
	if (bad || (chroot(".") != 0 &&
		    (unshare(CLONE_NEWUSER) != 0 || chroot(".") != 0)))
		return CANNOT;
#else
	if (bad || chroot(".") != 0)
		return CANNOT;
#endif
	if (access("/proc", F_OK) == 0)
		return CANNOT;
	return same();
}

/* A stack of our own, to see how much of it was used. */
#define SMALL 16384
static size_t used;

static int small_stack(void *arg)
{
	char *stack, *p;
	pthread_attr_t attr;
	int bad;

	(void)arg;
	if (SANITIZED)
		return CANNOT;
	stack = mmap(NULL, 2 * SMALL, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED || mprotect(stack, SMALL, PROT_NONE) != 0)
		return CANNOT;
	memset(stack + SMALL, 0x5a, SMALL);
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, stack + SMALL, SMALL) != 0)
		return CANNOT;
	bad = in_thread(count_once, &attr);
	for (p = stack + SMALL; p < stack + 2 * SMALL && *p == 0x5a; p++)
		;
	used = (size_t)(stack + 2 * SMALL - p);
	diag("of a stack of %d bytes, %zu were used", SMALL, used);
	return bad;
}

static char *volatile handler;

static void first_in_handler(int sig)
{
	char here;

	(void)sig;
	handler = &here;
	cpucycles();
}

/* Below the frame of the handler, and where no counter adds a signal's. */
static int handler_stack(void *arg)
{
	static char stack[65536];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction sa = {.sa_handler = first_in_handler,
			       .sa_flags = SA_ONSTACK};
	struct cpucycles_counter c;
	char *p = stack;
	unsigned i;

	if (SANITIZED || sigaltstack(&alternate, NULL) != 0 ||
	    (arg != NULL && setenv("cpucyclesimplementation", arg, 1) != 0))
		return CANNOT;
	memset(stack, 0x5a, sizeof stack);
	sigaction(SIGUSR1, &sa, NULL);
	raise(SIGUSR1);
	while (p < handler && *p == 0x5a)
		p++;
	diag("a first call took %zu bytes of a handler's stack",
	     (size_t)(handler - p));
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (strncmp(c.reason, "SIG", 3) == 0)
			return CANNOT;
#ifdef __x86_64__
	return handler - p > 4096;
#else
	return handler - p > 6144;
#endif
}

#ifdef HAVE_LINUX_FILTER_H
/* And with the frames of signals on it. */
static int small_stack_faults(void *arg)
{
	if (deny(SYS_openat, SECCOMP_RET_TRAP) != 0 ||
	    deny(SYS_perf_event_open, SECCOMP_RET_TRAP) != 0 ||
	    deny(SYS_prctl, SECCOMP_RET_TRAP) != 0)
		return CANNOT;
	return small_stack(arg);
}

/* A thread's first calibrated count, where it may map no memory. */
static void *late_thread(void *arg)
{
	*(int *)arg = deny(NEW_MMAP, SECCOMP_RET_KILL_PROCESS) != 0
			      ? CANNOT
			      : counts(1000);
	return NULL;
}

static int late(void *arg)
{
	int status = 2;
	pthread_t id;

	(void)arg;
	if (strcmp(cpucycles_kind(), "calibrated") != 0 || SANITIZED ||
	    pthread_create(&id, NULL, late_thread, &status) != 0)
		return CANNOT;
	pthread_join(id, NULL);
	return status;
}
#else
static int small_stack_faults(void *arg)
{
	(void)arg;
	return CANNOT;
}

static int late(void *arg)
{
	(void)arg;
	return CANNOT;
}
#endif

int main(void)
{
	static const char why[] = "cannot be made here";
	static char clock[] = "default-gettimeofday";

	unsetenv("cpucyclesimplementation");
	base = shared(sizeof *base);
	point("nothing is missing", nothing_missing, base, why);
	point("all descriptors in use", no_descriptors, NULL, why);
	point("all descriptors closed, before and after the first call, and "
	      "their numbers in use again",
	      closed, NULL, why);
	point("no memory to be had (RLIMIT_AS)", no_memory, NULL, why);
	point("chroot to an empty directory: no /proc, /sys and /etc", nowhere,
	      NULL, why);
	point("a first call on a stack of 16 KiB", small_stack, NULL, why);
	point("with faults in it", small_stack_faults, NULL, why);
	point("a kill for mmap in a new thread, after the selection", late,
	      NULL, "no calibrated counter, or a sanitizer");
	point("a first call in a handler takes at most 4 KB of stack on x86-64",
	      handler_stack, NULL, "a counter faults here, or a sanitizer");
	point("and so does one that must read files for the frequency",
	      handler_stack, clock, "a counter faults here, or a sanitizer");
	return done_testing();
}
