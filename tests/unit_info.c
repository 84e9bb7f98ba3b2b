/* SPDX-License-Identifier: 0BSD */
/* The parts of cpucycles-info that compute: bins, scales, bounds, JSON, XML. */
#include <config.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include "../src/tools/info/calls.h"
#include "../src/tools/info/pictures.h"
#include "cpucycles.h"
#include "../src/tools/common/json.h"
#include "../src/tools/common/tool.h"
#include "load.h"

static int total(const struct histogram *h)
{
	int i, sum = h->below + h->above;

	for (i = 0; i < h->bins; i++)
		sum += h->count[i];
	return sum;
}

static const struct row {
	const char *what;
	long long sorted[6];
	int n, most;
	long long first, width;
	int bins;
} rows[] = {
	{"all zero", {0, 0, 0, 0}, 4, 20, 0, 1, BINS_MIN},
	{"one value", {41}, 1, 20, 40, 1, BINS_MIN},
	{"single cycles", {1, 39, 41, 41, 41, 42}, 6, 64, 0, 1, 43},
	{"the same, in rows", {1, 39, 41, 41, 41, 42}, 6, 20, 0, 5, 10},
	{"0 begins a bin, below it too", {-26, -1, 0, 0, 3}, 5, 8, -35, 5, 8},
	{"a coarse clock", {0, 0, 0, 2596}, 4, 20, 0, 1, BINS_MIN},
};

static void check_histogram(void)
{
	static const long long wild[] = {LLONG_MIN / 4, 0, 1, LLONG_MAX / 4};
	static long long tail[1000];
	const struct row *r;
	struct histogram h;
	int i;

	for (r = rows; r < rows + sizeof rows / sizeof *rows; r++) {
		calls_histogram(&h, r->sorted, r->n, r->most);
		ok(h.first == r->first && h.width == r->width &&
			   h.bins == r->bins && total(&h) == r->n,
		   "%s: %d bins of %lld from %lld", r->what, h.bins, h.width,
		   h.first);
	}
	calls_histogram(&h, wild, 4, 20);
	ok(total(&h) == 4 && h.bins <= 20, "differences of any size");

	for (i = 0; i < 1000; i++)
		tail[i] = i < 995 ? 100 + i / 200 : 1000000 + i;
	tail[0] = 7;
	calls_histogram(&h, tail, 1000, 20);
	ok(h.below == 1 && h.above == 5 && h.width == 1,
	   "what an interrupt hit is outside: %d, %d", h.below, h.above);
	ok(h.most == 200 && h.count[101 - h.first] == 200,
	   "the highest bin has %d", h.most);
	ok(h.first + h.low == 101 && h.first + h.high == 103,
	   "the middle half ends at the quartiles");
}

static void check_step(void)
{
	ok(calls_step(43, 10) == 5 && calls_step(4096, 5) == 1000 &&
		   calls_step(120, 5) == 50 && calls_step(5, 5) == 1 &&
		   calls_step(6, 5) == 2 && calls_step(0, 5) == 1 &&
		   calls_step(10000000000, 5) == 2000000000,
	   "steps of scales are 1, 2 or 5 times a power of ten");
}

static void check_text(void)
{
	static const char expected[] =
		"\"a\\u0022b\\u005cc\\u000a\\ufffd \\ufffd\\ufffd\""
		"<text class=\"note\" x=\"1.0\" y=\"2.0\">a&#60;b&#62;"
		"&#38;c</text>\n";
	char text[512];
	FILE *f = tmpfile();

	if (f == NULL) {
		skip("there is no temporary file");
		return;
	}
	json_begin(f);
	json_text(NULL, "a\"b\\c\n\x7f \xc3\xff");
	svg_text(f, "note", 1, 2, "a<b>%s", "&c");
	rewind(f);
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	fclose(f);
	ok(!strcmp(text, expected), "a string in JSON may hold any bytes, and "
				    "text in XML is escaped");
}

#define PAUSE 20000  /* ns in which every third count stands still */
#define SLEEP 200000 /* and for which the thread sleeps */

static volatile long long slept;
static double pace = 1; /* cycles per ns awake */

/* The time for which the thread was awake. */
static long long awake(void)
{
	long long before, ns;

	do {
		before = slept;
		ns = tool_ns();
	} while (before != slept);
	return ns - before;
}

static long long pausing(void)
{
	static long long paused;
	static int calls;
	long long begun = awake(), now = begun;

	if (++calls % 3 == 0)
		while (now - begun < PAUSE)
			now = awake();
	paused += now - begun;
	return (long long)((double)(now - paused) * pace);
}

static void sleeps(int sig)
{
	struct timespec t = {0, SLEEP};
	long long begun = tool_ns();

	(void)sig;
	nanosleep(&t, NULL);
	slept += tool_ns() - begun;
}

static void interrupt_each(int us)
{
	struct itimerval t = {{0, us}, {0, us}};

	setitimer(ITIMER_REAL, &t, NULL);
}

static void check_observed(const char *what)
{
	struct observed o[OBSERVED];
	int i, n = calls_observe(o), bad = 0;

	for (i = 0; i < n; i++)
		if (o[i].low > 1e9 || o[i].high < 1e9) {
			diag("%ld loops: %.0f...%.0f", o[i].loops, o[i].low,
			     o[i].high);
			bad++;
		}
	ok(bad == 0, "a count that pauses, %s: its rate is within %d bounds",
	   what, n);
}

/* A count by these may be off by as much all the time. */
static void check_calibrated(void)
{
	if (!load_select()) {
		skip("no calibrated counter");
		return;
	}
	cpucycles = pausing;
	pace = 0.9985;
	check_observed("calibrated, and 0.15% too slow");
	pace = 1.0015;
	check_observed("or too fast");
	pace = 1;
}

static void check_bounds(void)
{
	struct sigaction a = {.sa_handler = sleeps, .sa_flags = SA_RESTART};

	if (!tool_thread_clock() ||
	    cpucycles_select("default-monotonic") != 0) {
		skip("no clock of threads, or no default-monotonic");
		return;
	}
	cpucycles = pausing;
	check_observed("alone");
	check_calibrated();
	sigaction(SIGALRM, &a, NULL);
	interrupt_each(400);
	check_observed("in a thread that sleeps");
	interrupt_each(0);
}

int main(void)
{
	check_bounds();
	check_histogram();
	check_step();
	check_text();
	return done_testing();
}
