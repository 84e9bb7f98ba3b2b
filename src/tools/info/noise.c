/* SPDX-License-Identifier: 0BSD */
/* Measures what disturbs timings here now, and prints it, with advice.
 *
 * Gaps in the thread's time come first. After that work of two kinds is timed
 * in many short windows, by the clock and by the counter in use. */
#include <config.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include "cpucycles.h"
#include "info.h"
#include "../common/affinity.h"
#include "../common/json.h"
#include "../common/known.h"
#include "../common/rate_steps.h"
#include "../common/stats.h"
#include "../common/system.h"
#include "../common/tool.h"

/* A window is long enough for a count or a clock in steps of 10 ns to show
 * 0.1%, and so short that most are not interrupted. */
#define WINDOW_NS 10000
#define HALF 500 /* windows of each of two kinds, in turn: a batch */
#define BATCHES 64

#define LIMIT 100 /* 1/10000: a worse verdict is a finding */
#define LOST 0.05 /* of the time; more is a finding */

/* A line of the report each. */
enum {
	NOISE_INTERRUPTS = GAPS_OTHER,
	NOISE_PREEMPTION = GAPS_THREADS,
	NOISE_STEAL,
	NOISE_DITHER,
	NOISE_RATE,
	NOISE_GOVERNOR,
	NOISE_TURBO,
	NOISE_SMT,
	NOISE_VERDICT,
	NOISE_ITEMS
};

/* Shares are parts of 1; what is not known is < 0. */
struct noise {
	struct gaps gaps[GAPS_KINDS];
	double steal;  /* of the time when CPUs had work */
	double dither; /* the middle half of windows, of their median */
	double worst;  /* the same, in the batch where it is widest */
	double hz;     /* of the core */
	struct rate_summary steps; /* of that */
	struct system system;
	double visible; /* the smallest difference to believe, in 1/10000, of
			   a chain and independent instructions in turn, */
	double apart;   /* and of the worse of the two, one after the other */
	bool coarse;    /* the step of the count alone is more than 1% */
};

/* The distance of the quartiles, of the median. Sorts the values. */
static double noise_scatter(long long *values, int n)
{
	long long median = stats_median(values, n);

	return (double)(stats_quantile(values, n, 3, 4) -
			stats_quantile(values, n, 1, 4)) /
	       (double)(median > 0 ? median : 1);
}

/* The difference that 19 of 20 pairs do not exceed; not the largest, since one
 * disturbed batch of 64 would decide it. All pairs, not only neighbours:
 * medians that users compare were seldom taken at the same moment. A count
 * cannot resolve less than its step, even if all medians agree. Rounded up to
 * the printed precision, so that the exit status agrees with that. Sorts the
 * medians. */
static int noise_apart(long long median[BATCHES], long long step)
{
	static long long apart[BATCHES * (BATCHES - 1) / 2];
	long long typical = stats_median(median, BATCHES), most;
	int i, k, pairs = 0;

	for (i = 0; i < BATCHES; i++)
		for (k = 0; k < i; k++)
			apart[pairs++] = median[i] - median[k];
	stats_sort(apart, pairs);
	most = stats_quantile(apart, pairs, 19, 20);
	most = most > step ? most : step;
	if (typical <= 0 || most >= typical)
		return 10000;
	return (int)((most * 10000 + typical - 1) / typical);
}

/* Fills in what can be seen, from the medians of batches, by a count that has
 * this step. What is timed in turn sees the same rate of the core, but a busy
 * hardware thread beside it slows independent instructions down, to the half,
 * and a chain that waits for its own results hardly. */
static void noise_verdict(struct noise *n, long long chain[BATCHES],
			  long long wide[BATCHES], long long step)
{
	long long scaled[BATCHES], typical;
	int i, apart;

	memcpy(scaled, chain, sizeof scaled);
	typical = stats_median(scaled, BATCHES);
	for (i = 0; i < BATCHES; i++)
		scaled[i] = wide[i] * typical / (chain[i] > 0 ? chain[i] : 1);
	n->visible = noise_apart(scaled, step);
	apart = noise_apart(wide, step);
	n->apart = noise_apart(chain, step);
	n->apart = n->apart > apart ? n->apart : apart;
	n->coarse = typical <= 0 || step * 10000 > typical * LIMIT;
}

/* A window's work. */
typedef void noise_work(unsigned long turns);

/* The turns that take as long as a window should. */
static unsigned long noise_turns(noise_work *work)
{
	unsigned long turns = 1;
	long long ns, best = 0;
	int i;

	for (; best < WINDOW_NS / 2; turns *= 2)
		for (i = 0, best = WINDOW_NS; i < 5; i++) {
			ns = tool_ns();
			work(turns);
			ns = tool_ns() - ns;
			best = ns < best ? ns : best;
		}
	return turns / 2 * WINDOW_NS / (unsigned long)best;
}

static long long noise_count(noise_work *work, unsigned long turns)
{
	long long count = -cpucycles();

	work(turns);
	return count + cpucycles();
}

/* Both kinds of work in turn; the chain by the clock, too. */
static void noise_windows(struct noise *n)
{
	static long long chain[HALF], wide[HALF], ns[HALF];
	static struct rate_steps steps;
	long long chains[BATCHES], wides[BATCHES], scatter[BATCHES], begin;
	noise_work *const links = known_usable() ? known[0].loop : loop;
	const unsigned long turns = noise_turns(links),
			    loops = noise_turns(loop);
	const long long grain = rate_steps_grain(tool_ns);
	struct cpucycles_counter c = {.step = 0};
	int b, i;

	cpucycles_counterbyname(NULL, &c, sizeof c);
	for (b = 0; b < BATCHES; b++) {
		for (i = 0; i < HALF; i++) {
			wide[i] = noise_count(loop, loops);
			begin = tool_ns();
			chain[i] = noise_count(links, turns);
			ns[i] = tool_ns() - begin;
			rate_steps_add(&steps, begin, ns[i], grain);
		}
		chains[b] = stats_median(chain, HALF);
		wides[b] = stats_median(wide, HALF);
		scatter[b] = (long long)(noise_scatter(ns, HALF) * 1e6);
	}
	n->steps = rate_steps_sum(&steps);
	if (n->steps.persecond == 0)
		n->steps.size = n->steps.lasted = -1;
	noise_verdict(n, chains, wides, c.step);
	n->dither = (double)stats_median(scatter, BATCHES) / 1e6;
	n->worst = (double)scatter[BATCHES - 1] / 1e6;
}

static void noise_measure(struct noise *n)
{
	struct system_time before, after;
	long long hz;

	*n = (struct noise){.steal = -1};
	system_time("", &before);
	calls_gaps(n->gaps);
	noise_windows(n);
	hz = cpucycles_observepersecond();
	n->hz = hz > 0 ? (double)hz : -1;
	if (system_time("", &after) == 0)
		n->steal = (double)(after.stolen - before.stolen) /
			   (double)(after.busy > before.busy
					    ? after.busy - before.busy
					    : 1);
	system_read("", affinity_here(), &n->system);
}

/* Medians leave out what was interrupted, however much that is. */
static bool noise_lost(const struct noise *n)
{
	double others = n->gaps[NOISE_PREEMPTION].share;

	return n->gaps[NOISE_INTERRUPTS].share + (others > 0 ? others : 0) >
	       LOST;
}

/* Advice on the verdict; NULL: none is needed. */
static const char *noise_why(const struct noise *n)
{
	if (n->coarse)
		return "the counter's step alone is more than 1%: see "
		       "cpucycles-info for finer counters";
	if (noise_lost(n))
		return "do not believe it where the thread loses so much of "
		       "the time: see interrupts and preemption";
	if (n->visible > LIMIT)
		return "independent instructions take longer at times, as "
		       "beside a busy hardware thread of the same core: "
		       "measure elsewhere, or later";
	if (n->apart > LIMIT && n->steps.persecond > 0)
		return "that is the rate's steps: let what is compared take "
		       "turns";
	return n->apart > LIMIT ? "let what is compared take turns" : NULL;
}

/* What the system says: "" if it does not, NULL where there are numbers.
 * Advice: NULL if none is wanted. */
struct noise_line {
	const char *name, *word, *hint;
	bool wanted;
};

static struct noise_line noise_line(const struct noise *n, int item)
{
	const double others = n->gaps[NOISE_PREEMPTION].share;
	const struct system *s = &n->system;
	struct noise_line lines[NOISE_ITEMS] = {
		{"interrupts", NULL,
		 "move devices' interrupts to other CPUs "
		 "(/proc/irq/*/smp_affinity), boot with nohz_full=",
		 n->gaps[NOISE_INTERRUPTS].share >= 0.005},
		{"preemption", NULL,
		 others < 0 ? "interrupts include it, as the kernel does not "
			      "report it"
			    : "stop other programs, or measure on a CPU that "
			      "they do not use: taskset, isolcpus=",
		 others < 0 || others >= 0.001},
		{"steal", NULL,
		 "other virtual machines use the same CPUs: measure on another "
		 "machine, or later",
		 n->steal > 0},
		{"dither", NULL,
		 "keep the other CPUs idle, those of the same core above all, "
		 "and the rate fixed",
		 n->worst >= 0.01},
		{"rate", NULL, "warm up, and let what is compared take turns",
		 n->steps.persecond > 0},
		{"governor", s->governor,
		 "cpupower frequency-set -g performance",
		 *s->governor != '\0' &&
			 strcmp(s->governor, "performance") != 0},
		{"turbo", s->turbo,
		 "turn it off meanwhile: 1 to /sys/devices/system/cpu/"
		 "intel_pstate/no_turbo, or 0 to cpufreq/boost there",
		 strcmp(s->turbo, "on") == 0},
		{"smt", s->threads, "keep the other threads of this core idle",
		 strpbrk(s->threads, ",-") != NULL},
		{"verdict", NULL, noise_why(n), true}};

	if (!lines[item].wanted)
		lines[item].hint = NULL;
	return lines[item];
}

static int noise_status(const struct noise *n)
{
	return n->visible > LIMIT || noise_lost(n) ? TOOL_FINDING : TOOL_GOOD;
}

/* clang-format off */
#define IN(member) offsetof(struct noise, member)
#define GAPS_OF(item) \
	{item, 2, "share", "", "% of the time", 100, 1, IN(gaps[item].share)}, \
	{item, 0, "per_second", "", " a second", 1, 1, IN(gaps[item].persecond)}, \
	{item, 1, "median_ns", "median ", " us", 1e-3, 1, IN(gaps[item].median)}, \
	{item, 1, "longest_ns", "longest ", " us", 1e-3, 1, IN(gaps[item].longest)}

static const struct {
	int item, digits;
	const char *key, *before, *after; /* in JSON; in the text */
	double scale, unit; /* of the text; of JSON */
	size_t at;          /* in struct noise: a double */
} noise_facts[] = {
	GAPS_OF(NOISE_INTERRUPTS),
	GAPS_OF(NOISE_PREEMPTION),
	{NOISE_STEAL, 2, "share", "", "% of the time when CPUs had work", 100, 1, IN(steal)},
	{NOISE_DITHER, 2, "share", "", "% from quartile to quartile", 100, 1, IN(dither)},
	{NOISE_DITHER, 2, "worst", "", "% in the worst batch", 100, 1, IN(worst)},
	{NOISE_RATE, 0, "hz", "", " MHz", 1e-6, 1, IN(hz)},
	{NOISE_RATE, 1, "per_second", "", " steps a second", 1, 1, IN(steps.persecond)},
	{NOISE_RATE, 1, "size", "of ", "%", 100, 1, IN(steps.size)},
	{NOISE_RATE, 1, "seconds", "levels of ", " ms", 1e3, 1, IN(steps.lasted)},
	{NOISE_VERDICT, 2, "difference", "differences under ", "% cannot be seen here with "
	 "medians of 500 timed in turn", 0.01, 1e-4, IN(visible)},
	{NOISE_VERDICT, 2, "apart", "nor under ", "% of those timed one after the other",
	 0.01, 1e-4, IN(apart)},
};
/* clang-format on */

#define FACTS (sizeof noise_facts / sizeof *noise_facts)

static double noise_fact(const struct noise *n, size_t i)
{
	return *(const double *)(const void *)((const char *)n +
					       noise_facts[i].at);
}

static void noise_text(FILE *f, const struct noise *n)
{
	struct noise_line line;
	bool said;
	int item;
	size_t i;

	for (item = 0; item < NOISE_ITEMS; item++) {
		line = noise_line(n, item);
		said = line.word != NULL && *line.word != '\0';
		fprintf(f, "cpucycles noise %s %s", line.name,
			said ? line.word : "");
		for (i = 0; i < FACTS; i++) {
			if (noise_facts[i].item != item || noise_fact(n, i) < 0)
				continue;
			fprintf(f, "%s%s%.*f%s", said ? ", " : "",
				noise_facts[i].before, noise_facts[i].digits,
				noise_fact(n, i) * noise_facts[i].scale,
				noise_facts[i].after);
			said = true;
		}
		fprintf(f, "%s%s%s\n", said ? "" : "not visible here",
			line.hint != NULL ? "; " : "",
			line.hint != NULL ? line.hint : "");
	}
}

int noise_print(void)
{
	struct noise n;

	noise_measure(&n);
	printf("cpucycles implementation %s\n", cpucycles_implementation());
	noise_text(stdout, &n);
	return noise_status(&n);
}

int noise_json(void)
{
	struct noise_line line;
	struct noise n;
	double value;
	int item;
	size_t i;

	noise_measure(&n);
	json_open("noise", '{');
	for (item = 0; item < NOISE_ITEMS; item++) {
		line = noise_line(&n, item);
		json_open(line.name, '{');
		for (i = 0; i < FACTS; i++) {
			value = noise_fact(&n, i) * noise_facts[i].unit;
			if (noise_facts[i].item == item)
				json_print(noise_facts[i].key,
					   value < 0 ? "null" : "%.9g", value);
		}
		if (line.word != NULL)
			json_text("setting", *line.word ? line.word : NULL);
		json_text("hint", line.hint);
		json_close('}');
	}
	json_close('}');
	return noise_status(&n);
}
