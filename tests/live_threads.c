/* SPDX-License-Identifier: 0BSD */
/* Threads: many short ones, cancelled ones, and forks while another thread is
 * in its first call. LIVE_THREADS sets how many the many are. */
#include "faults/faults.h"

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>

static pthread_attr_t small;

/* Resident and mapped memory in kB, mappings and descriptors; 0 where there is
 * no /proc to tell. */
struct use {
	long resident, mapped, mappings, descriptor;
};

/* The counts in statm leave out those that each CPU has not yet added up: with
 * many CPUs, megabytes. For the other file Linux walks the pages. */
static long exact_resident(long otherwise)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	long resident = otherwise;
	char line[256];

	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "Rss: %ld", &resident) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return resident;
}

static struct use in_use(void)
{
	struct use u = {0, 0, 0, open("/dev/null", O_RDONLY)};
	FILE *f = fopen("/proc/self/statm", "r");
	long page = sysconf(_SC_PAGESIZE) / 1024;
	int c;

	close((int)u.descriptor);
	if (f == NULL)
		return u;
	if (fscanf(f, "%ld %ld", &u.mapped, &u.resident) != 2)
		u.mapped = u.resident = 0;
	fclose(f);
	u.mapped *= page;
	u.resident = exact_resident(u.resident * page);
	f = fopen("/proc/self/maps", "r");
	while (f != NULL && (c = getc(f)) != EOF)
		u.mappings += c == '\n';
	if (f != NULL)
		fclose(f);
	return u;
}

static void *count_few(void *arg)
{
	long long first = cpucycles();

	return cpucycles() < first || counts(10) != 0 ? arg : NULL;
}

static int many(int n, void *bad)
{
	void *found = NULL;
	pthread_t id[8];
	int i, j, wrong = 0;

	for (i = 0; i < n; i += 8) {
		for (j = 0; j < 8; j++)
			if (pthread_create(&id[j], &small, count_few, bad) != 0)
				return 99;
		for (j = 0; j < 8; j++) {
			pthread_join(id[j], &found);
			wrong += found != NULL;
		}
	}
	return wrong;
}

/* Memory that all threads leave behind is in each part's growth. The C library
 * keeps stacks for threads to come, and the kernel may give a stack
 * larger pages, but only now and then: so the least growth counts. */
#define PARTS 3

static long least(const long *growth)
{
	long best = growth[0];
	int i;

	for (i = 1; i < PARTS; i++)
		best = growth[i] < best ? growth[i] : best;
	return best;
}

static void check_many(void)
{
	const char *text = getenv("LIVE_THREADS");
	int n = text ? atoi(text) : 2000, part = n * 3 / 10, i, wrong, kept = 0;
	long resident[PARTS], mappings[PARTS];
	struct use before, after;

	wrong = many(n / 10, &n);
	before = in_use();
	diag("%ld kB resident, %ld kB mapped, in %ld mappings", before.resident,
	     before.mapped, before.mappings);
	for (i = 0; i < PARTS; i++) {
		wrong += many(part, &n);
		after = in_use();
		resident[i] = after.resident - before.resident;
		mappings[i] = after.mappings - before.mappings;
		diag("%d threads later: %+ld, %+ld, %+ld", part, resident[i],
		     after.mapped - before.mapped, mappings[i]);
		kept += after.descriptor != before.descriptor;
		before = after;
	}
	ok(wrong == 0, "%d short threads count", n);
	if (SANITIZED || in_child(emulated, NULL) != 0) {
		skip("sanitizers and emulators keep memory of their own");
		return;
	}
	ok(bounded(-NO_LIMIT, (double)least(resident) * 1024 / part, 256,
		   "bytes stay behind for each thread that has ended") &
		   bounded(-NO_LIMIT, (double)least(mappings) * 8 / part, 1,
			   "mappings stay behind for eight threads"),
	   "and leave no memory behind: less than 256 bytes each, and less "
	   "than a mapping in eight");
	ok(kept == 0, "nor descriptors");
}

static int type; /* of cancellation */

static void *counting(void *arg)
{
	int old;

	pthread_setcanceltype(type, &old);
	for (;;) {
		cpucycles();
		if (arg == NULL)
			continue;
		cpucycles_select(NULL);
		cpucycles_observepersecond();
		pthread_testcancel();
	}
	return NULL;
}

/* A cancelled thread holds nothing: others count, and select. */
static int cancelled(int how, void *selecting)
{
	struct timespec nap = {0, 0};
	void *result;
	pthread_t id;
	int i, bad = 0;

	type = how;
	for (i = 0; i < 50; i++) {
		if (pthread_create(&id, &small, counting, selecting) != 0)
			return CANNOT;
		nap.tv_nsec = i * 37 % 20 * 100000;
		nanosleep(&nap, NULL);
		pthread_cancel(id);
		pthread_join(id, &result);
		/* glibc forgets the result of those that it ends when they
		 * enable cancellation. */
		bad |= how == PTHREAD_CANCEL_DEFERRED &&
		       result != PTHREAD_CANCELED;
		bad |= cpucycles_select(NULL) != 0 || counts(100) != 0;
	}
	return bad;
}

static int cancelled_selecting(void *arg)
{
	return cancelled(PTHREAD_CANCEL_DEFERRED, arg);
}

static int cancelled_anywhere(void *arg)
{
	return SANITIZED ? CANNOT : cancelled(PTHREAD_CANCEL_ASYNCHRONOUS, arg);
}

/* With a cancellation pending, no function acts on it, or forgets it. */
static void *pending(void *arg)
{
	static struct cpucycles_counter c;

	pthread_cancel(pthread_self());
	cpucycles();
	cpucycles_select(NULL);
	cpucycles_implementation();
	cpucycles_kind();
	cpucycles_persecond();
	cpucycles_observepersecond();
	cpucycles_counter(0, &c, sizeof c);
	*(int *)arg = 1;
	pthread_testcancel();
	return NULL;
}

static int not_a_point(void *arg)
{
	void *result;
	pthread_t id;
	int through = 0;

	(void)arg;
	if (pthread_create(&id, NULL, pending, &through) != 0)
		return CANNOT;
	pthread_join(id, &result);
	return !through || result != PTHREAD_CANCELED;
}

static pthread_barrier_t barrier;

static void *first(void *arg)
{
	pthread_barrier_wait(&barrier);
	cpucycles();
	return arg;
}

static int child_counts(void *arg)
{
	(void)arg;
	return counts(100) != 0 || cpucycles_select(NULL) != 0 ||
	       counts(100) != 0;
}

/* In a fresh process: forks as soon as another thread has begun. */
static int fork_in_first(void *arg)
{
	pthread_t id;
	int i, status;

	pthread_barrier_init(&barrier, NULL, 2);
	if (pthread_create(&id, NULL, first, NULL) != 0)
		return CANNOT;
	pthread_barrier_wait(&barrier);
	for (i = 0; i < *(int *)arg; i++)
		__asm__ __volatile__("");
	status = in_child(child_counts, NULL);
	pthread_join(id, NULL);
	return status != 0 ? status : counts(100);
}

static void check_fork(void)
{
	int i, wait, failed = 0, status;

	if (SANITIZED) {
		skip("forks in another thread's first call: sanitizers take "
		     "locks of their own, which a child may find held");
		return;
	}
	for (i = 0; i < 50 && !failed; i++) {
		wait = i * 20000;
		status = in_child(fork_in_first, &wait);
		failed = status != 0;
		if (failed)
			diag("fork %d: status %d", i, status);
	}
	ok(!failed, "50 forks while another thread is in its first call: "
		    "the children count");
}

#ifdef CLONE_NEWPID
static volatile int stop;

static void *selecting(void *arg)
{
	(void)arg;
	while (!stop)
		cpucycles_select(NULL);
	return NULL;
}

/* In a process that is the first of its namespace. */
static int same_pid(void *arg)
{
	static char stack[65536] __attribute__((aligned(64)));
	int i, status, bad = 0;
	pthread_t id;
	pid_t pid;

	(void)arg;
	cpucycles();
	if (pthread_create(&id, NULL, selecting, NULL) != 0)
		return CANNOT;
	for (i = 0; i < 20 && !bad; i++) {
		status = -1;
		pid = clone(child_counts, stack + sizeof stack / 2,
			    CLONE_NEWPID | SIGCHLD, NULL);
		if (pid < 0 && (errno == EPERM || errno == EINVAL))
			return CANNOT;
		waitpid(pid, &status, 0);
		bad = status != 0;
	}
	stop = 1;
	pthread_join(id, NULL);
	return bad;
}

static int in_namespace(void *arg)
{
	if (SANITIZED || unshare(CLONE_NEWPID) != 0)
		return CANNOT;
	return in_child(same_pid, arg);
}
#else
static int in_namespace(void *arg)
{
	(void)arg;
	return CANNOT;
}
#endif

/* Every function from any thread at any time. */
static void *everything(void *arg)
{
	struct cpucycles_counter c;
	int i, *bad = arg;

	for (i = 0; i < 20; i++) {
		*bad |= cpucycles() == 0;
		*bad |= cpucycles_select(NULL) != 0;
		*bad |= cpucycles_implementation()[0] == '\0';
		*bad |= cpucycles_kind()[0] == '\0';
		*bad |= cpucycles_version()[0] == '\0';
		*bad |= cpucycles_persecond() < 1000000;
		*bad |= cpucycles_observepersecond() < 0;
		*bad |= cpucycles_counter((unsigned)i % 3, &c, sizeof c) != 0;
		cpucycles_fence();
	}
	return NULL;
}

static int all_at_once(void *arg)
{
	pthread_t id[8];
	int bad[8] = {0}, i, sum = 0;

	(void)arg;
	for (i = 0; i < 8; i++)
		if (pthread_create(&id[i], NULL, everything, &bad[i]) != 0)
			return CANNOT;
	for (i = 0; i < 8; i++) {
		pthread_join(id[i], NULL);
		sum += bad[i];
	}
	return sum;
}

int main(void)
{
	static int yes = 1;

	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 256 * 1024);
	point("every function in 8 threads at once", all_at_once, NULL,
	      "no threads");
	check_fork();
	point("20 children with the process id of their parent, cloned in "
	      "selections, count",
	      in_namespace, NULL, "no namespace of process ids");
	point("no function is a cancellation point", not_a_point, NULL,
	      "no threads");
	point("50 threads cancelled between selections: others select",
	      cancelled_selecting, &yes, "no threads");
	point("50 threads cancelled anywhere in counts: others select",
	      cancelled_anywhere, NULL, "sanitizers are in the way");
	point("50 threads cancelled anywhere in selections: others select",
	      cancelled_anywhere, &yes, "sanitizers are in the way");
	check_many();
	return done_testing();
}
