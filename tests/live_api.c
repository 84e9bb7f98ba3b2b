/* SPDX-License-Identifier: 0BSD */
/* The public functions on this machine. Compiled as C and as C++. */
#include "faults/faults.h"

/* Whether the kind has its number, in their order. */
static int known_kind(const struct cpucycles_counter *c)
{
	static const char *const kinds[] = {"core", "calibrated", "reference",
					    "os", "zero"};

	return c->kind_id >= CPUCYCLES_CORE && c->kind_id <= CPUCYCLES_ZERO &&
	       !strcmp(c->kind, kinds[c->kind_id - 1]);
}

/* Whether the call fails with this errno. */
#define FAILS(call, error) (errno = 0, (call) == -1 && errno == (error))

static void check_count(void)
{
	const char *source;

	errno = 4711;
	ok(cpucycles() != 0 && errno == 4711,
	   "the first call counts and leaves errno alone");
	ok(counts(100000) == 0, "100000 calls never go back, and advance");
	cpucycles_fence();
	ok(cpucycles_persecond() >= 1000000 &&
		   cpucycles_persecond() <= 100000000000,
	   "persecond: %lld", cpucycles_persecond());
	source = cpucycles_persecondsource();
	ok((cpucycles_persecond() == 2399987654) == !strcmp(source, "unknown"),
	   "by %s, which is unknown where the rate is a guess, only", source);
	ok(errno == 4711, "none of them touches errno");
}

/* Whether the function counts as the variable's target does now. */
static int same_count(void)
{
	long long before = cpucycles(), between = cpucycles_count();

	return between >= before && cpucycles() >= between;
}

/* With errno as the first call has left it. */
static void check_errno(void)
{
	struct cpucycles_counter c;
	const char *source = cpucycles_persecondsource();
	const char *name = cpucycles_implementation();
	const char *kind = cpucycles_kind();
	const char *version = cpucycles_version();
	int failed;

	cpucycles_interruptions();
	cpucycles_instructions();
	cpucycles_observepersecond();
	failed = cpucycles_counter(0, &c, sizeof c) |
		 cpucycles_counterbyname(NULL, &c, sizeof c) |
		 cpucycles_select(name);
	ok(!failed && errno == 4711, "no function that succeeds touches errno");
	ok(source == cpucycles_persecondsource() && name == c.name &&
		   kind == c.kind && version == cpucycles_version() && source &&
		   name && kind && version,
	   "strings are static, and never NULL");
}

static void check_counters(void)
{
	struct cpucycles_counter c;
	unsigned i;
	/* What a kind adds to the step: core counters that the kernel reads,
	 * the second. */
	static const long long adds[][2] = {
		{0, 100}, {50, 50}, {100, 100}, {200, 200}};
	int selected = 0, sane = 1, split = 1, ranked = 1, unused = 1;

	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		sane &= c.name[0] != '\0' && known_kind(&c) && c.bits >= 32 &&
			c.bits <= 64;
		if (strcmp(c.kind, "zero") != 0)
			sane &= c.usable ? c.precision > 0 && c.scaling > 0 &&
						   c.reason[0] == '\0'
					 : c.precision == 0 && c.scaling == 0 &&
						   c.reason[0] != '\0';
		split &= strstr(c.reason, "; ") == NULL &&
			 (c.hint[0] == '\0' || c.reason[0] != '\0');
		if (!c.usable || c.kind_id == CPUCYCLES_ZERO)
			unused &= c.scaling == 0 && c.step == 0 &&
				  c.precision == 0;
		else
			ranked &=
				c.step > 0 && (c.precision - c.step ==
						       adds[c.kind_id - 1][0] ||
					       c.precision - c.step ==
						       adds[c.kind_id - 1][1]);
		selected += !strcmp(c.name, cpucycles_implementation());
	}
	ok(sane, "each has a name, a kind, and a precision or a reason");
	ok(split, "hints are apart from reasons, and only beside these");
	ok(ranked, "a kind adds its cycles to the step");
	ok(unused,
	   "what cannot be used has neither scaling, step nor precision");
	ok(selected == 1, "the selected one, %s, is among them once",
	   cpucycles_implementation());
	ok(FAILS(cpucycles_counter(i, &c, sizeof c), EINVAL),
	   "an index too large is EINVAL");
	ok(FAILS(cpucycles_counter(0, NULL, sizeof c), EINVAL) &&
		   FAILS(cpucycles_counterbyname(NULL, NULL, sizeof c),
			 EINVAL) &&
		   FAILS(cpucycles_instructionscounter(NULL, 0), EINVAL),
	   "nowhere to write to is EINVAL");
}

static void check_by_name(void)
{
	struct cpucycles_counter c, d;
	unsigned i;
	int same = 1;

	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		same &= cpucycles_counterbyname(c.name, &d, sizeof d) == 0 &&
			d.name == c.name && d.usable == c.usable;
	ok(same, "each is found by its name");
	ok(cpucycles_counterbyname(NULL, &d, sizeof d) == 0 &&
		   !strcmp(d.name, cpucycles_implementation()) &&
		   !strcmp(d.kind, cpucycles_kind()) && d.usable,
	   "no name is the one in use");
	ok(FAILS(cpucycles_counterbyname("no-such", &d, sizeof d), ENOENT),
	   "an unknown name is ENOENT");
}

static void check_version(void)
{
	const char *version = cpucycles_version();
	const size_t length = strlen(CPUCYCLES_VERSION);

	ok(!strncmp(version, CPUCYCLES_VERSION, length) &&
		   (version[length] == '\0' || version[length] == '+'),
	   "the header and the library are of one version");
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

/* The counter in use, through a sleep. Whatever others do meanwhile, time is
 * counted between readings of the system's clock. The host's time may be in the
 * count of a thread, for which one quiet sleep will do. */
static void check_sleep(const struct cpucycles_counter *c)
{
	const double hz = (double)cpucycles_persecond() / 1e9;
	double wall[4], count;
	int tries = 20;

	do {
		wall[0] = wall_ns();
		count = (double)cpucycles();
		wall[1] = wall_ns();
		usleep(20000);
		wall[2] = wall_ns();
		count = (double)cpucycles() - count;
		wall[3] = wall_ns();
	} while (c->per_thread && count > 0.01 * hz * 1e9 && --tries > 0);
	if (c->per_thread)
		ok(count >= 0 && tries > 0, "%s stands still in a sleep",
		   c->name);
	else if (c->kind_id == CPUCYCLES_ZERO)
		ok(count == 0 && cpucycles() == 0 && c->precision == 0,
		   "a counter of kind zero counts nothing, and has no "
		   "precision");
	else if (c->kind_id != CPUCYCLES_CORE)
		ok(bounded((wall[2] - wall[1]) * hz * 0.98 - (double)c->step,
			   count,
			   (wall[3] - wall[0]) * hz * 1.02 + (double)c->step,
			   "of this sleep, by the system's clock"),
		   "%s counts at persecond, sleep included", c->name);
}

/* As usual, if there is no such counter. */
static void check_environment(void)
{
	int right;

	setenv("cpucyclesimplementation", "default-gettimeofday", 1);
	right = cpucycles_select(NULL) == 0 &&
		!strcmp(cpucycles_implementation(), "default-gettimeofday");
	setenv("cpucyclesimplementation", "no-such", 1);
	right &= cpucycles_select(NULL) == 0 &&
		 strcmp(cpucycles_kind(), "zero") != 0;
	ok(right, "the environment names the counter, of every selection");
	unsetenv("cpucyclesimplementation");
}

static void check_select(void)
{
	struct cpucycles_counter c;
	const char *last = "";
	char before[64];
	unsigned i;
	int refused = 0, wrong = 0, changed = 0;

	snprintf(before, sizeof before, "%s", cpucycles_implementation());
	ok(FAILS(cpucycles_select("no-such"), ENOENT),
	   "selecting an unknown name is ENOENT");
	ok(!strcmp(before, cpucycles_implementation()),
	   "and leaves the selection as it was");
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		errno = 0;
		if (cpucycles_select(c.name) != 0) {
			refused++;
			wrong += c.usable || errno != ENOTSUP;
			changed += *last != '\0' &&
				   cpucycles_implementation() != last;
			continue;
		}
		last = c.name;
		ok(!strcmp(cpucycles_implementation(), c.name) &&
			   !strcmp(cpucycles_kind(), c.kind) &&
			   cpucycles() >= 0 && same_count() &&
			   (counts(100000) == 0 || !strcmp(c.kind, "zero")),
		   "%s can be selected, and counts", c.name);
		check_sleep(&c);
	}
	ok(changed == 0, "what is refused leaves the selection as it was");
	ok(wrong == 0, "%d others are ENOTSUP, as their reasons say", refused);
	errno = 4711;
	cpucycles_tracesetup();
	wrong = cpucycles_select(NULL);
	ok(wrong == 0 && errno == 4711,
	   "selecting anew, with a trace, gives %s, and leaves errno alone",
	   cpucycles_implementation());
}

/* All or nothing: a count, or -1, a reason and ENOTSUP. */
static void check_instructions(void)
{
	struct cpucycles_counter c;
	long long pair[2], last, now;
	int i, back = 0, both;

	errno = 4711;
	last = cpucycles_instructions();
	ok(last >= -1 && errno == 4711, "instructions: %lld, errno as it was",
	   last);
	for (i = 0; i < 10000; i++, last = now) {
		now = cpucycles_instructions();
		back += now < last;
	}
	ok(back == 0, "they never go back");
	errno = 4711;
	memset(&c, 0, sizeof c);
	i = cpucycles_instructionscounter(&c, sizeof c);
	ok(i == 0 ? (c.usable != 0) == (last >= 0)
		  : last == -1 && errno == ENOENT,
	   "their counter is usable where they are counted: %s%s", c.reason,
	   c.usable ? c.name : "");
	ok(c.usable ? c.step > 0 && c.per_thread : i != 0 || c.reason[0] != 0,
	   "and has a step, or a reason");
	errno = 4711;
	both = cpucycles_pair(&pair[0], &pair[1]);
	if (last == -1)
		ok(both == -1 && errno == ENOTSUP && pair[0] == -1 &&
			   pair[1] == -1,
		   "a pair is ENOTSUP");
	else
		ok(both == 0 && errno == 4711 && pair[0] > 0 && pair[1] > last,
		   "a pair: %lld cycles, %lld instructions", pair[0], pair[1]);
	cpucycles_select(NULL);
	now = cpucycles_instructions();
	ok(last == -1 ? now == -1 : now > last, "selecting anew: %lld", now);
}

int main(void)
{
	check_count();
	check_errno();
	check_version();
	check_counters();
	check_by_name();
	check_sizes();
	check_select();
	check_environment();
	check_instructions();
	return done_testing();
}
