/* SPDX-License-Identifier: 0BSD */
/* Threads: many short ones, cancelled ones, and forks while another thread is
 * in its first call. LIVE_THREADS sets how many the many are. */
#define _GNU_SOURCE
#include "faults/faults.h"

#ifdef HAVE_LINUX_FILTER_H
#include <link.h>
#endif
#include <stdbool.h>

static pthread_attr_t small;

/* Bytes that are mapped; 0 where there is no such file. */
static double mapped(void)
{
	FILE *f = fopen("/proc/self/statm", "r");
	long pages = 0;

	if (f != NULL && fscanf(f, "%ld", &pages) == 1)
		pages *= sysconf(_SC_PAGESIZE);
	if (f != NULL)
		fclose(f);
	return (double)pages;
}

static int count_few(void)
{
	return counts(10);
}

static int many(int n)
{
	int wrong = 0;

	for (; n > 0; n -= 8)
		wrong += in_threads(8, &small, count_few);
	return wrong;
}

/* Memory that all threads leave behind is in each part's growth. The C library
 * maps more of its own, but only now and then: so the least growth counts. */
static void check_many(void)
{
	const char *text = getenv("LIVE_THREADS");
	int n = text ? atoi(text) : 2000, part = n * 3 / 10, i;
	int wrong = many(n / 10), lowest = lowest_descriptor();
	double before, least = NO_LIMIT;

	for (i = 0; i < 3; i++) {
		before = mapped();
		wrong += many(part);
		before = mapped() - before;
		least = before < least ? before : least;
	}
	ok(wrong == 0, "%d short threads count", n);
	if (SANITIZED || in_child(emulated) != 0) {
		skip("sanitizers and emulators keep memory of their own");
		return;
	}
	ok(bounded(-NO_LIMIT, least / part, 256,
		   "bytes stay behind for each thread that has ended"),
	   "and leave less than 256 bytes behind each");
	ok(lowest_descriptor() == lowest, "nor descriptors");
}

static bool selects;

static void *counting(void *arg)
{
	int old;

	/* NOLINTNEXTLINE(cert-pos47-c): what is tested */
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
	for (;;) {
		cpucycles();
		if (selects) {
			cpucycles_select(NULL);
			cpucycles_observepersecond();
		}
	}
	return arg;
}

/* A cancelled thread holds nothing: others count, and select. */
static int cancelled(void)
{
	pthread_t id;
	int i, bad = 0;

	if (SANITIZED)
		return CANNOT;
	for (i = 0; i < 100; i++) {
		selects = i % 2;
		if (pthread_create(&id, &small, counting, NULL) != 0)
			return CANNOT;
		usleep((useconds_t)(i / 2 * 37 % 20) * 100);
		bad |= pthread_cancel(id) != 0;
		pthread_join(id, NULL);
		bad |= cpucycles_select(NULL) != 0 || counts(100) != 0;
	}
	return bad;
}

static int wait_turns;

static void *first(void *arg)
{
	meet(2);
	cpucycles();
	cpucycles_select(NULL);
	return arg;
}

/* In a fresh process: forks as soon as another thread has begun. */
static int fork_in_first(void)
{
	pthread_t id;
	int i, status;

	if (pthread_create(&id, NULL, first, NULL) != 0)
		return CANNOT;
	meet(2);
	for (i = 0; i < wait_turns; i++)
		__asm__ __volatile__("");
	status = in_child(selects_and_counts);
	pthread_join(id, NULL);
	return status != 0 ? status : counts(100);
}

static int forks_in_first(void)
{
	int status = SANITIZED ? CANNOT : 0;

	for (; wait_turns < 1000000 && status == 0; wait_turns += 20000)
		status = in_child(fork_in_first);
	return status;
}

#ifdef CLONE_NEWPID
static int cloned(void *arg)
{
	(void)arg;
	return selects_and_counts();
}

/* In a process that is the first of its namespace, with a thread that mostly
 * holds the lock: each child is the first of another. */
static int same_pid(void)
{
	static char stack[262144] __attribute__((aligned(64)));
	int i, status = 0;
	pthread_t id;
	pid_t pid;

	cpucycles();
	selects = true;
	if (getpid() != 1 || pthread_create(&id, &small, counting, NULL) != 0)
		return CANNOT;
	for (i = 0; i < 20 && status == 0; i++) {
		pid = clone(cloned, stack + sizeof stack,
			    CLONE_NEWPID | SIGCHLD, NULL);
		if (pid < 0)
			return CANNOT;
		waitpid(pid, &status, 0);
	}
	return status != 0;
}

/* Who may not, may as root of a namespace of users. */
static int in_namespace(void)
{
	if (SANITIZED || (unshare(CLONE_NEWPID) != 0 &&
			  unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0))
		return CANNOT;
	return in_child(same_pid);
}
#else
static int in_namespace(void)
{
	return CANNOT;
}
#endif

/* Every function from any thread at any time. */
static int everything(void)
{
	struct cpucycles_counter c;
	long long pair[2];
	unsigned i, j;
	int bad = 0;

	for (i = 0; i < 20; i++) {
		for (j = 0; j < 10000; j++)
			bad |= cpucycles() == 0;
		bad |= cpucycles_select(NULL) != 0;
		bad |= cpucycles_implementation()[0] == '\0';
		bad |= cpucycles_kind()[0] == '\0';
		bad |= cpucycles_persecond() < 1000000;
		bad |= cpucycles_persecondsource()[0] == '\0';
		bad |= cpucycles_observepersecond() < 0;
		bad |= cpucycles_interruptions() < -1;
		bad |= cpucycles_instructions() < -1;
		bad |= cpucycles_pair(&pair[0], &pair[1]) != 0 && pair[0] != -1;
		bad |= cpucycles_counter(i % 3, &c, sizeof c) != 0;
		bad |= cpucycles_counterbyname(NULL, &c, sizeof c) != 0;
		cpucycles_instructionscounter(&c, sizeof c);
	}
	return bad;
}

static int all_at_once(void)
{
	return in_threads(8, NULL, everything);
}

static const char *parents;
static long long latest;

static int goes_on(void)
{
	return cpucycles() < latest || cpucycles_implementation() != parents ||
	       counts(1000) != 0;
}

/* But for those that jump where the child has another CPU. */
static int forks_with_each(void)
{
	struct cpucycles_counter c;
	unsigned i;
	int bad = 0;

	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		if (c.kind_id == CPUCYCLES_ZERO ||
		    (c.kind_id == CPUCYCLES_CORE && !c.per_thread) ||
		    cpucycles_select(c.name) != 0)
			continue;
		parents = c.name;
		latest = cpucycles();
		if (in_child(goes_on) != 0) {
			diag("not with %s", c.name);
			bad = 1;
		}
	}
	return bad;
}

#ifdef HAVE_LINUX_FILTER_H
/* The library's variables, but for the one that programs have a copy of. */
static struct {
	const char *from;
	size_t size;
} variables;

static int find_variables(struct dl_phdr_info *object, size_t size, void *none)
{
	const ElfW(Phdr) * p;

	(void)size;
	(void)none;
	if (strstr(object->dlpi_name, "libcpucycles.so") == NULL)
		return 0;
	for (p = object->dlpi_phdr; p < object->dlpi_phdr + object->dlpi_phnum;
	     p++)
		if (p->p_type == PT_LOAD && p->p_flags & PF_W) {
			variables.from = (char *)object->dlpi_addr + p->p_vaddr;
			variables.size = p->p_memsz;
		}
	return 1;
}

static int count_for_a_while(void)
{
	const double end = wall_ns() + 2e8;
	int bad = 0;

	while (wall_ns() < end)
		bad |= counts(1000);
	return bad;
}

/* Measurements and glimpses included; but not what is noted when a thread's
 * clock stands still, as beside a busy host: 16 times in a process,
 * cpucycles(7) says, and once more that it is believed no longer. */
static int counts_write_nothing(void)
{
	int bad, changed = 1, tries = 16 + 2;
	char *copy;

	dl_iterate_phdr(find_variables, NULL);
	if (SANITIZED || variables.size == 0)
		return CANNOT;
	bad = count_for_a_while();
	copy = malloc(variables.size);
	if (copy == NULL)
		return CANNOT;
	while (changed && tries-- > 0) {
		memcpy(copy, variables.from, variables.size);
		bad |= count_for_a_while();
		changed = memcmp(copy, variables.from, variables.size) != 0;
	}
	free(copy);
	return bad | changed << 3;
}
#endif

int main(void)
{
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 * 1024);
	point("every function in 8 threads at once", all_at_once, "no threads");
	point("50 forks while another thread is in its first call, or selects: "
	      "the children count",
	      forks_in_first,
	      "sanitizers take locks of their own, which a child may find "
	      "held");
	point("20 children with the process id of their parent, cloned in "
	      "selections, count",
	      in_namespace, "no namespace of process ids is permitted");
	point("100 threads cancelled anywhere in counts or selections: others "
	      "select",
	      cancelled, "sanitizers are in the way");
	point("a child counts on by its parent's counter, whichever it is",
	      forks_with_each, "");
#ifdef HAVE_LINUX_FILTER_H
	point("counts write no memory that threads share", counts_write_nothing,
	      "no shared library, or a sanitizer");
#endif
	check_many();
	return done_testing();
}
