/* SPDX-License-Identifier: 0BSD */
/* A calibrated counter counts no less than a thread's work, and stands still
 * while the thread waits, however short the waits are and whoever else has the
 * CPU meanwhile. The work has a known length; the most that may be counted is
 * the thread's own time. Each try of a scenario takes LIVE_SECONDS. And
 * cpucycles_interruptions() tells preemptions. */
#include "load.h"

#include <sys/prctl.h>
#include "calibrated/constants.h"
#include "tools/common/known.h"
#if HAVE_RSEQ
#include <sys/rseq.h>
#endif

#define LOW 0.97    /* counts per cycle of the work */
#define TRIES 40    /* the host may be busy, for seconds, or the core's rate */
#define PAUSE 10000 /* move; us, longer after each */
#define FEWEST 50   /* rounds of work and a wait in a try */
#define CALL_NS 5e5 /* others had the CPU in a longer call */
#define LACK_NS (1e9 / SWITCH_HIDES) /* of a preemption may count */
#define EVENTS 200                   /* preemptions, or */
#define WORKS 20000                  /* works of 100 us */

static double cycles_ns(void)
{
	return (double)load_rate() / 1e9;
}

static double rate; /* when the test began */

/* Returns its cycles. */
static double work(int us)
{
	unsigned long n = (unsigned long)(us * 1e3 * rate) / known->turn + 1;

	known->loop(n);
	return (double)(n * known->turn);
}

static void doze(int us)
{
	usleep((useconds_t)us);
}

static void yield(int us)
{
	(void)us;
	sched_yield();
}

/* The thread works for so long, in so many pieces, and counts after each; then
 * it waits. `reported` and `otherwise` are the most that may be counted per own
 * cycle, where the kernel tells of waits and where it does not. */
static const struct job {
	int work, pieces;
	void (*wait)(int us);
	int us;
	void (*rival)(void);
	double reported, otherwise;
	const char *name;
} jobs[] = {
	{100, 1, doze, 50, NULL, 1.05, 1.10, "sleeps"},
	{100, 1, doze, 300, NULL, 1.05, 1.10, "sleeps"},
	{100, 10, doze, 300, NULL, 1.05, 1.10, "sleeps"},
	{3000, 1, doze, 1000, NULL, 1.05, 1.10, "sleeps"},
	{20, 1, doze, 100, NULL, 1.05, 1.35, "sleeps"},
	{5000, 1, yield, 0, load_busy, 1.05, 1.10, "yields to a busy rival"},
	{10, 1, doze, 10, NULL, 1.25, NO_LIMIT, "sleeps"},
	{10, 1, doze, 30, NULL, 1.05, NO_LIMIT, "sleeps"},
};

/* How often this thread lost its CPU without a wait; 0 where the system does
 * not tell. */
static long preemptions(void)
{
	struct rusage u = {.ru_nivcsw = 0};

#ifdef RUSAGE_THREAD
	getrusage(RUSAGE_THREAD, &u);
#endif
	return u.ru_nivcsw;
}

/* What a round took: ns of all, of the thread's own, of these what its clock
 * lacked, and of calls, which are in no count, or hardly; the preemptions; the
 * cycles of the work, and those counted of it, and in all. */
struct round {
	double wall, own, lacked, called, taken, done, worked, counted;
};

static double called;

static long long count(void)
{
	double begun = wall_ns(), took;
	long long now = cpucycles();

	took = wall_ns() - begun;
	called += took < CALL_NS ? took : 0;
	return now;
}

/* At the beginning, and since then, but for the cycles: with all preemptions
 * that come meanwhile. */
static struct round begins(void)
{
	struct round r = {.called = called, .taken = (double)preemptions()};

	r.own = ran_ns();
	r.wall = wall_ns();
	return r;
}

static struct round since(const struct round *begin)
{
	struct round r = {.called = called - begin->called};

	r.wall = wall_ns() - begin->wall;
	r.own = ran_ns() - begin->own;
	r.taken = (double)preemptions() - begin->taken;
	return r;
}

static struct round one_round(const struct job *job)
{
	const long long before = count();
	const struct round begin = begins();
	const long long first = count();
	long long last = first, end;
	double lacked, done = 0;
	struct round r;
	int i;

	for (i = 0; i < job->pieces; i++) {
		done += work(job->work / job->pieces);
		last = count();
	}
	/* The host may have had the CPU: just before, as the thread woke, or
	 * now, which counts. Linux takes that off the time of whoever runs
	 * next. */
	r = since(&begin);
	lacked = r.own < r.wall && r.taken == 0 ? r.wall - r.own : 0;
	job->wait(job->us);
	count();
	end = count();
	r = since(&begin);
	r.own += lacked;
	r.lacked = lacked;
	r.done = done;
	r.worked = (double)(last - first);
	r.counted = (double)(end - before);
	return r;
}

/* The sums of all rounds. */
static struct round try(const struct job *job)
{
	const double end = wall_ns() + load_seconds * 1e9;
	struct round r, sum = {.wall = 0};
	int n;

	for (n = 0; n < FEWEST || wall_ns() < end; n++) {
		r = one_round(job);
		sum.own += r.own;
		sum.called += r.called;
		sum.taken += r.taken;
		sum.done += r.done;
		sum.worked += r.worked;
		sum.counted += r.counted;
		sum.lacked += r.lacked;
	}
	return sum;
}

/* The core's rate may move meanwhile. */
static void judge(const struct job *job, double most)
{
	double rate_then, low, without, high;
	struct round r;
	bool still = false, before;
	int i = 0, fair = 0;

	do {
		doze(PAUSE * i);
		rate_then = cycles_ns() / 2;
		r = try(job);
		rate_then += cycles_ns() / 2;
		low = r.worked / r.done;
		without = r.counted / ((r.own - r.called) * rate_then);
		low = without < low ? without : low;
		high = r.counted / ((r.own + r.taken * LACK_NS) * rate_then);
		/* What the host takes in the midst of work the library must
		 * expect again, for some waits: LOST_FADES of them. */
		before = still;
		still = r.lacked * LOST_FADES <= (most - 1) * r.own;
		fair += before && still;
	} while (++i < TRIES && (low < LOW || high > most));
	if (high > most && fair == 0)
		skip("%s %d us: the host took the CPU in all of %d tries",
		     job->name, job->us, i);
	else
		ok(bounded(LOW, low, NO_LIMIT,
			   "counts per cycle of its work, or its own time "
			   "without calls") &&
			   bounded(0, high, most,
				   "counts per cycle of its own time"),
		   "works %d us in %d, %s %d us: %.2f counted per own cycle, "
		   "%.2f without calls, %.2f of the work",
		   job->work, job->pieces, job->name, job->us, high, without,
		   r.worked / r.done);
}

static void check_job(const struct job *job, bool reported)
{
	const pid_t rival = job->rival ? load_rival(job->rival) : 0;

	judge(job, reported ? job->reported : job->otherwise);
	load_rival_end(rival);
}

/* Whenever others have had the CPU, the thread is told so. */
static void check_told(void)
{
	const pid_t rival = load_rival(load_busy);
	int i, happened = 0, untold = 0;
	long long told;
	long before;

	for (i = 0; i < WORKS && happened < EVENTS; i++) {
		told = cpucycles_interruptions();
		before = preemptions();
		work(100);
		if (preemptions() == before)
			continue;
		happened++;
		untold += cpucycles_interruptions() == told;
	}
	load_rival_end(rival);
	if (happened == 0)
		skip("no preemption happened");
	else
		ok(bounded(0, untold, 0, "it was not told"),
		   "%d of %d preemptions are interruptions", happened - untold,
		   happened);
}

/* Whether the kernel tells of a thread's waits: each sleep clears the field
 * that the library sets. */
static bool tells_waits(void)
{
	uint64_t section = 1;
#if HAVE_RSEQ
	int i;

	section = __rseq_size == 0;
	for (i = 0; i < 10 && section == 0; i++) {
		cpucycles();
		usleep(1000);
		memcpy(&section,
		       (char *)__builtin_thread_pointer() + __rseq_offset +
			       offsetof(struct rseq, rseq_cs),
		       sizeof section);
	}
#endif
	return section == 0;
}

int main(void)
{
	bool reported;
	size_t i;

	if (SANITIZED)
		skip_all("a sanitizer makes calls long");
	load_begin();
	if (!known_usable())
		skip_all("no chain of known length");
	reported = tells_waits();
	diag("the kernel %s of waits", reported ? "tells" : "does not tell");
	prctl(PR_SET_TIMERSLACK, 1);
	rate = cycles_ns();
	affinity_pin(affinity_here());
	for (i = 0; i < COUNT(jobs); i++)
		check_job(&jobs[i], reported);
	if (cpucycles_interruptions() >= 0)
		check_told();
	return done_testing();
}
