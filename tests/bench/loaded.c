/* SPDX-License-Identifier: 0BSD */
/* Whether figures can be compared from run to run beside other programs: the
 * medians of two functions, one of known length and a hash, in ten
 * processes, one after the other, beside a busy loop for each CPU: by the bare
 * clock and by this library. */
#include <config.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench.h"
#include "cpucycles.h"
#include "tools/common/known.h"

#define CYCLES 60000
#define BYTES 8192
#define PROCESSES 10
#define BUSY_MOST 64
#define TIMINGS 2000

static void chain(void)
{
	known->loop(CYCLES / known->turn);
}

/* FNV-1a. What keeps all of a core busy would not do: two hardware threads that
 * share a core take cycles from each other, which is what a count shows. */
static void hash(void)
{
	static unsigned char message[BYTES];
	static volatile uint64_t result;
	uint64_t h = UINT64_C(0xcbf29ce484222325);
	unsigned i;

	message[0] = (unsigned char)result;
	for (i = 0; i < BYTES; i++)
		h = (h ^ message[i]) * UINT64_C(0x100000001b3);
	result = h;
}

static const struct function {
	const char *name;
	void (*run)(void);
} functions[] = {{"a chain of 60000 cycles", chain},
		 {"a hash of 8192 bytes", hash}};

#define FUNCTIONS (sizeof functions / sizeof *functions)

/* A process's result: medians, by the bare clock and by the library. */
struct medians {
	long long by[FUNCTIONS][2];
};

static void measure(void *result)
{
	struct medians *m = result;
	static long long v[2][TIMINGS + 1];
	int i, n = bench_rounds(TIMINGS);
	unsigned f;

	cpucycles();
	for (f = 0; f < FUNCTIONS; f++) {
		for (i = 0; i < n; i++) {
			v[0][i] = -bench_bare();
			v[1][i] = -cpucycles();
			functions[f].run();
			v[1][i] += cpucycles();
			v[0][i] += bench_bare();
		}
		m->by[f][0] = stats_median(v[0], n);
		m->by[f][1] = stats_median(v[1], n);
	}
}

static pid_t busy(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid != 0)
		return pid;
	/* Ends with the benchmark, however that ends. */
	while (getppid() == parent)
		for (int i = 0; i < 1000000; i++)
			__asm__ __volatile__("");
	_exit(0);
}

static void print(const struct medians *m, int n, unsigned f, int by,
		  const char *name)
{
	static const char *const what[] = {"least", "most", "spread, %"};
	double v[3];
	long long median[PROCESSES];
	char column[64];
	int i;

	for (i = 0; i < n; i++)
		median[i] = m[i].by[f][by];
	stats_sort(median, n);
	v[0] = (double)median[0];
	v[1] = (double)median[n - 1];
	v[2] = (v[1] - v[0]) * 100 / v[0];
	for (i = 0; i < 3; i++) {
		snprintf(column, sizeof column, "%s, %s", name, what[i]);
		bench_value("loaded", functions[f].name, column, "%.*f",
			    i < 2 ? 0 : 2, v[i]);
	}
}

int main(void)
{
	struct medians m[PROCESSES];
	pid_t rival[BUSY_MOST];
	long busy_loops = sysconf(_SC_NPROCESSORS_ONLN);
	unsigned f;
	int i, n = 0;

	if (busy_loops < 1 || busy_loops > BUSY_MOST)
		busy_loops = BUSY_MOST;
	if (!known_usable())
		bench_skip("no chain of known length on this CPU");
	for (i = 0; i < busy_loops; i++)
		rival[i] = busy();
	/* Not called in this process: each has a first call. */
	for (i = 0; i < PROCESSES; i++)
		n += bench_process(measure, &m[n], sizeof m[n]);
	for (i = 0; i < busy_loops; i++) {
		if (rival[i] <= 0)
			continue;
		kill(rival[i], SIGKILL);
		waitpid(rival[i], NULL, 0);
	}
	for (f = 0; f < FUNCTIONS && n > 0; f++) {
		print(m, n, f, 0, BENCH_BARE);
		print(m, n, f, 1, "ours");
	}
	return n == 0;
}
