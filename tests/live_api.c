/* SPDX-License-Identifier: 0BSD */
/* The public functions on this machine. Compiled as C and as C++. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cpucycles.h"
#include "tap.h"

static int known_kind(const char *kind)
{
	static const char *const kinds[] = {"core", "calibrated", "reference",
					    "os", "zero"};
	size_t i;

	for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (!strcmp(kind, kinds[i]))
			return 1;
	return 0;
}

/* Whether the count advances and does not go back over so many calls. */
static int advances(int calls)
{
	long long first = cpucycles(), last = first, now;

	while (calls-- > 0) {
		now = cpucycles();
		if (now < last)
			return 0;
		last = now;
	}
	return last > first;
}

/* Where the source is a file, the word before any blank is its path. */
static void check_source(void)
{
	const char *source = cpucycles_persecondsource();
	char path[256];
	size_t n = strcspn(source, " ");
	int is_guess = cpucycles_persecond() == 2399987654;

	ok(source == cpucycles_persecondsource(),
	   "persecondsource stays where it is: %s", source);
	ok(is_guess == !strcmp(source, "unknown"),
	   "and is unknown where the rate is a guess, only");
	if (source[0] != '/' || n >= sizeof path)
		return;
	memcpy(path, source, n);
	path[n] = '\0';
	ok(access(path, R_OK) == 0, "the file that states it is there");
}

static void check_count(void)
{
	long long before, after;
	int i;

	errno = 4711;
	ok(strlen(cpucycles_version()) > 0, "version: %s", cpucycles_version());
	ok(cpucycles() != 0 && errno == 4711,
	   "the first call counts and leaves errno alone");
	ok(advances(100000), "100000 calls never go back, and advance");
	cpucycles_fence();
	before = cpucycles();
	cpucycles_fence();
	for (i = 0; i < 1000000; i++)
		__asm__ __volatile__("");
	cpucycles_fence();
	after = cpucycles();
	ok(after - before > 100000, "a million iterations take %lld cycles",
	   after - before);
	ok(known_kind(cpucycles_kind()), "kind: %s", cpucycles_kind());
	ok(cpucycles_persecond() >= 1000000 &&
		   cpucycles_persecond() <= 100000000000,
	   "persecond: %lld", cpucycles_persecond());
	check_source();
	ok(errno == 4711, "none of them touches errno");
}

static void check_counters(void)
{
	struct cpucycles_counter c, best;
	unsigned i;
	int selected = 0, sane = 1, split = 1;
	const char *help;

	memset(&best, 0, sizeof best);
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		sane &= c.name[0] != '\0' && known_kind(c.kind) &&
			(c.bits == 32 || c.bits == 63 || c.bits == 64);
		if (strcmp(c.kind, "zero") != 0)
			sane &= c.usable ? c.precision > 0 && c.scaling > 0 &&
						   c.reason[0] == '\0'
					 : c.precision == 0 && c.scaling == 0 &&
						   c.reason[0] != '\0';
		help = strstr(c.reason, "; ");
		split &= help == NULL || (help > c.reason && help[2] != '\0' &&
					  strstr(help + 2, "; ") == NULL);
		selected += !strcmp(c.name, cpucycles_implementation());
		if (c.usable && c.precision > 0 &&
		    (best.name == NULL || c.precision < best.precision))
			best = c;
	}
	ok(i >= 3, "there are %u counters", i);
	ok(sane, "each has a name, a kind, and a precision or a reason");
	ok(split, "what would help comes after the only \"; \"");
	ok(selected == 1, "the selected one, %s, is among them once",
	   cpucycles_implementation());
	if (getenv("cpucyclesimplementation") == NULL)
		ok(best.name != NULL &&
			   !strcmp(best.name, cpucycles_implementation()),
		   "and is the one of the best precision (%lld)",
		   best.precision);
	errno = 0;
	ok(cpucycles_counter(i, &c, sizeof c) == -1 && errno == EINVAL,
	   "an index too large is EINVAL");
	errno = 0;
	ok(cpucycles_counter(0, NULL, sizeof c) == -1 && errno == EINVAL,
	   "nowhere to write to is EINVAL");
}

/* Programs of older and newer headers: the struct grows at its end. */
static void check_sizes(void)
{
	struct {
		struct cpucycles_counter c;
		char more[64];
	} larger;
	struct cpucycles_counter c, part;
	size_t i, zeros = 0;

	memset(&larger, 'x', sizeof larger);
	memset(&part, 'x', sizeof part);
	cpucycles_counter(0, &c, sizeof c);
	cpucycles_counter(0, &larger.c, sizeof larger);
	cpucycles_counter(0, &part, sizeof part.name);
	for (i = 0; i < sizeof larger.more; i++)
		zeros += larger.more[i] == 0;
	ok(zeros == sizeof larger.more && larger.c.name == c.name,
	   "a larger struct is filled with zeros");
	ok(part.name == c.name && part.reason[0] == 'x',
	   "a smaller one is not written past its end");
}

static void check_select(void)
{
	struct cpucycles_counter c;
	char before[64];
	unsigned i;
	int refused = 0, wrong = 0;

	strncpy(before, cpucycles_implementation(), sizeof before - 1);
	before[sizeof before - 1] = '\0';
	errno = 0;
	ok(cpucycles_select("no-such") == -1 && errno == ENOENT,
	   "selecting an unknown name is ENOENT");
	ok(!strcmp(before, cpucycles_implementation()),
	   "and leaves the selection as it was");
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		errno = 0;
		if (cpucycles_select(c.name) != 0) {
			refused++;
			wrong += c.usable || errno != ENOTSUP;
			continue;
		}
		ok(!strcmp(cpucycles_implementation(), c.name) &&
			   !strcmp(cpucycles_kind(), c.kind) &&
			   (advances(100000) || !strcmp(c.kind, "zero")),
		   "%s can be selected, and counts", c.name);
	}
	ok(wrong == 0, "%d others are ENOTSUP, as their reasons say", refused);
	errno = 4711;
	ok(cpucycles_select(NULL) == 0 && errno == 4711,
	   "selecting anew works");
	ok(!strcmp(cpucycles_implementation(), before) || !advances(1) ||
		   getenv("cpucyclesimplementation") == NULL,
	   "and gives %s", cpucycles_implementation());
}

int main(void)
{
	check_count();
	check_counters();
	check_sizes();
	check_select();
	return done_testing();
}
