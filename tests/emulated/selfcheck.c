/* SPDX-License-Identifier: 0BSD */
/* Checks the test bed itself: does the emulated machine have a PMU that its
 * kernel lets users read, and does it count as the other tests assume? Uses
 * nothing of the library, so that what fails here is the bed.
 *
 * Argument: "exact" where one instruction is one cycle; "closed" where users
 * are not let at the counter; "echo" prints its arguments and the environment
 * variable ECHO, and exits with their number; "hang" never ends. */

#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "../tap.h"
#include "../../src/tools/common/loop.h"

#define ITERATIONS 100000L
#define TRIES 9

#if defined(__aarch64__)
/* 64 bits wide (1), readable by the user (2). */
#define CONFIG1 3
#define EXCLUDE 1
#define READS_CYCLES(index) ((index) == 32)
static uint64_t read_counter(uint32_t index)
{
	uint64_t v;

	(void)index;
	__asm__ volatile("isb\n\tmrs %0, pmccntr_el0" : "=r"(v)::"memory");
	return v;
}
#elif defined(__riscv)
/* The default CPU cannot filter by mode: asking for it is EINVAL. */
#define CONFIG1 0
#define EXCLUDE 0
/* "cycle", or with Sscofpmf, where that one is not the user's, the first of
 * the counters that can also sample. */
#define READS_CYCLES(index) ((index) == 1 || (index) == 19)
static uint64_t read_counter(uint32_t index)
{
	uint64_t v;

	if (index == 1)
		__asm__ volatile("csrr %0, 0xc00" : "=r"(v)::"memory");
	else
		__asm__ volatile("csrr %0, 0xc12" : "=r"(v)::"memory");
	return v;
}
#endif

static volatile struct perf_event_mmap_page *page;

/* The page's protocol, for a counter 64 bits wide; -1 where it is not
 * readable now. */
static int64_t count(void)
{
	uint32_t lock, index;
	uint64_t offset, value;

	do {
		lock = page->lock;
		__asm__ volatile("" ::: "memory");
		index = page->index;
		offset = (uint64_t)page->offset;
		value = index ? read_counter(index) : 0;
		__asm__ volatile("" ::: "memory");
	} while (page->lock != lock);
	return index ? (int64_t)(offset + value) : -1;
}

static int open_cycles(void)
{
	struct perf_event_attr a;

	memset(&a, 0, sizeof a);
	a.size = sizeof a;
	a.type = PERF_TYPE_HARDWARE;
	a.config = PERF_COUNT_HW_CPU_CYCLES;
	a.config1 = CONFIG1;
	a.exclude_kernel = EXCLUDE;
	a.exclude_hv = EXCLUDE;
	return (int)syscall(SYS_perf_event_open, &a, 0, -1, -1,
			    PERF_FLAG_FD_CLOEXEC);
}

static int64_t timed_loop(long n)
{
	int64_t t = count();

	loop(n);
	return count() - t;
}

/* The kernel's own ticks count too where modes cannot be told apart, so the
 * smallest of several is the loop's. */
static int64_t smallest(long n)
{
	int64_t best = INT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		int64_t d = timed_loop(n);

		if (d < best)
			best = d;
	}
	return best;
}

static void check_counts(int exact, int fd)
{
	int64_t first = count(), one, two;
	uint64_t kernel = 0;
	ssize_t got = read(fd, &kernel, sizeof kernel);

	ok(READS_CYCLES(page->index), "index %u is the cycle counter",
	   page->index);
	ok(got == sizeof kernel && (int64_t)kernel > first &&
		   count() > (int64_t)kernel,
	   "read(2) agrees with the page: %lld then %llu", (long long)first,
	   (unsigned long long)kernel);
	one = smallest(ITERATIONS);
	two = smallest(2 * ITERATIONS);
	diag("%ld iterations: %lld cycles, twice as many: %lld", ITERATIONS,
	     (long long)one, (long long)two);
	ok(one > 0 && two > one, "a longer loop takes more cycles");
	if (!exact) {
		skip("the emulated clock follows the host's");
		return;
	}
	ok(two - one == LOOP_INSTRUCTIONS * ITERATIONS,
	   "six instructions an iteration are six cycles");
}

static int check(const char *how)
{
	int fd = open_cycles();

	if (!ok(fd >= 0, "a cycles event opens: %s",
		fd < 0 ? strerror(errno) : "yes"))
		return done_testing();
	page = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_READ, MAP_SHARED,
		    fd, 0);
	if (!ok(page != MAP_FAILED, "its page maps"))
		return done_testing();
	if (!strcmp(how, "closed"))
		ok(page->index == 0, "index is 0 where users may not read");
	else if (ok(page->index != 0, "index is not 0"))
		check_counts(!strcmp(how, "exact"), fd);
	return done_testing();
}

static int echo(int argc, char **argv)
{
	for (int i = 0; i < argc; i++)
		printf("[%s]", argv[i]);
	printf("[%s][%d]", getenv("ECHO"), (int)getuid());
	return argc;
}

int main(int argc, char **argv)
{
	if (argc > 1 && !strcmp(argv[1], "echo"))
		return echo(argc - 2, argv + 2);
	while (argc > 1 && !strcmp(argv[1], "hang"))
		pause();
	return check(argc > 1 ? argv[1] : "");
}
