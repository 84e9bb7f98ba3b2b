/* SPDX-License-Identifier: 0BSD */
/* The first call in a process that lacks what others have: descriptors,
 * memory, a large stack, decimal points. */
#include "faults/faults.h"

#include <locale.h>

/* OpenBSD counts what mmap(2) gives as data. */
#ifndef RLIMIT_AS
#define RLIMIT_AS RLIMIT_DATA
#endif

static struct seen *base;

/* As good as without the fault, unless that was a counter of perf events; a
 * busy machine may refuse to be calibrated for a while, so it is chosen again.
 */
static int same(void)
{
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
		usleep(20000);
		cpucycles_select(NULL);
	}
	diag("%s instead of %s: %s", now.name, base->name,
	     seen_counter(&now, base->name)->reason);
	return 4;
}

static int nothing_missing(void)
{
	look(base);
	return counts(1000);
}

static int no_descriptors(void)
{
	struct rlimit few = {64, 64};

	if (setrlimit(RLIMIT_NOFILE, &few) != 0)
		return CANNOT;
	while (dup(1) >= 0)
		;
	return errno != EMFILE ? CANNOT : same();
}

static int count_many(void)
{
	return counts(1000);
}

static void close_all(void)
{
	int fd;

	for (fd = 3; fd < 256; fd++)
		close(fd);
}

/* Everything closed, before and after the first call; whatever file gets the
 * number of one of ours is not read from. */
static int closed(void)
{
	int fd[16], i, bad;
	char byte;

	close_all();
	bad = same();
	close_all();
	for (i = 0; i < 16; i++)
		fd[i] = open(i % 2 ? "/proc/self/maps" : "/dev/zero", O_RDONLY);
	bad |= counts(1000);
	bad |= in_threads(1, NULL, count_many);
	for (i = 1; i < 16; i += 2)
		if (fd[i] >= 0 && (lseek(fd[i], 0, SEEK_CUR) != 0 ||
				   read(fd[i], &byte, 1) != 1))
			bad |= 64;
	return bad;
}

static int no_memory(void)
{
	struct rlimit none = {0, 0};

	if (SANITIZED || setrlimit(RLIMIT_AS, &none) != 0 ||
	    mmap(NULL, 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
		    MAP_FAILED)
		return CANNOT;
	return same();
}

#define SMALL 16384

static int small_stack(void)
{
	char *stack;
	pthread_attr_t attr;

	if (SANITIZED)
		return CANNOT;
	stack = mmap(NULL, 2 * SMALL, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (stack == MAP_FAILED || mprotect(stack, SMALL, PROT_NONE) != 0)
		return CANNOT;
	pthread_attr_init(&attr);
	if (pthread_attr_setstack(&attr, stack + SMALL, SMALL) != 0)
		return CANNOT;
	return in_threads(1, &attr, count_many);
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
static int handler_stack(void)
{
	static char stack[65536];
	stack_t alternate = {.ss_sp = stack, .ss_size = sizeof stack};
	struct sigaction sa = {.sa_handler = first_in_handler,
			       .sa_flags = SA_ONSTACK};
	struct cpucycles_counter c;
	char *p = stack;
	unsigned i;

	if (SANITIZED || sigaltstack(&alternate, NULL) != 0)
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

/* And with the frames of signals on it. */
static int small_stack_faults(void)
{
	if (deny(SYS_openat, SECCOMP_RET_TRAP) != 0 ||
	    deny(SYS_perf_event_open, SECCOMP_RET_TRAP) != 0 ||
	    deny(SYS_prctl, SECCOMP_RET_TRAP) != 0)
		return CANNOT;
	return small_stack();
}

/* A thread's first calibrated count, where it may map no memory. */
static int late_thread(void)
{
	return deny(NEW_MMAP, SECCOMP_RET_KILL_PROCESS) != 0 ? CANNOT
							     : counts(1000);
}

static int late(void)
{
	if (strcmp(cpucycles_kind(), "calibrated") != 0 || SANITIZED)
		return CANNOT;
	return in_threads(1, NULL, late_thread);
}

/* A decimal comma: the trace has points. */
static int comma(void)
{
	static char trace[16384];
	FILE *f = tmpfile();
	size_t n;

	if (f == NULL || setlocale(LC_NUMERIC, "de_DE.UTF-8") == NULL ||
	    dup2(fileno(f), 1) < 0)
		return CANNOT;
	cpucycles_tracesetup();
	cpucycles();
	rewind(f);
	n = fread(trace, 1, sizeof trace, f);
	return n == 0 || memchr(trace, ',', n) != NULL;
}

int main(void)
{
	static const char why[] = "cannot be made here";

	unsetenv("cpucyclesimplementation");
	base = shared(sizeof *base);
	point("nothing is missing", nothing_missing, why);
	point("all descriptors in use", no_descriptors, why);
	point("all descriptors closed, before and after the first call, and "
	      "their numbers in use again",
	      closed, why);
	point("no memory to be had (RLIMIT_AS)", no_memory, why);
	point("a first call on a stack of 16 KiB", small_stack, why);
	point("with faults in it", small_stack_faults, why);
	point("a kill for mmap in a new thread, after the selection", late,
	      "no calibrated counter, or a sanitizer");
	point("a first call in a handler takes at most 4 KB of stack on x86-64",
	      handler_stack, "a counter faults here, or a sanitizer");
	setenv("cpucyclesimplementation", "default-gettimeofday", 1);
	point("and so does one that must read files for the frequency",
	      handler_stack, "a counter faults here, or a sanitizer");
	unsetenv("cpucyclesimplementation");
	point("a locale with a decimal comma: the trace has points", comma,
	      "no German locale: install locales-all");
	return done_testing();
}
