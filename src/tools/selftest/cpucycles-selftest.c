/* SPDX-License-Identifier: 0BSD */
/* cpucycles-selftest: whether the selected counter is right on this machine. */
#include <config.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include "cpucycles.h"
#include "selftest.h"
#include "../common/tool.h"

#define TOOL "cpucycles-selftest"

/* clang-format off */
/* One line here is one line of output. */
static const char help[] =
	"Usage: cpucycles-selftest [OPTION]... [CHECK]...\n"
	"Checks whether cpucycles() counts rightly on this machine: all checks, or those\n"
	"that are named.\n"
	"\n"
	"      --counter NAME  check this counter instead of the selected one\n"
	"      --quick         take less than a second\n"
	"      --long          take about a minute\n"
	"      --list          print the checks, and what each looks for, and exit\n"
	"  -h, --help          print this help and exit\n"
	"  -V, --version       print the version and exit\n"
	"\n"
	"By default it takes less than ten seconds, if the machine is idle.\n"
	"\n"
	"Output is in the Test Anything Protocol: after lines that tell which counter is\n"
	"checked, there is for each check a line of one of these forms:\n"
	"  ok N - CHECK: TEXT        the count is right, as far as this check goes\n"
	"  not ok N - CHECK: TEXT    it is wrong\n"
	"  ok N - CHECK # SKIP TEXT  the check cannot be made here, or not with this\n"
	"                            counter\n"
	"\n"
	"Environment:\n"
	"  cpucyclesimplementation=NAME  use this counter if it works\n"
	"\n"
	"Exit status:\n"
	"  0  no check found anything wrong\n"
	"  1  the count is wrong, or the counter that was asked for does not work here,\n"
	"     or the output cannot be written\n"
	"  2  wrong usage; also a NAME that no counter has\n";

/* clang-format on */

static void print_list(void)
{
	const struct check *c;

	for (c = selftest_checks; c->name != NULL; c++)
		printf("%-10s %s\n", c->name, c->what);
}

static bool known_check(const char *name)
{
	const struct check *c;

	for (c = selftest_checks; c->name != NULL; c++)
		if (!strcmp(c->name, name))
			return true;
	fprintf(stderr, TOOL ": there is no check '%s': --list prints all\n",
		name);
	return false;
}

static int unknown_counter(const char *name)
{
	struct cpucycles_counter c;
	unsigned i;

	fprintf(stderr,
		TOOL ": there is no counter '%s' here; there are:", name);
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		fprintf(stderr, " %s", c.name);
	fprintf(stderr, "\n");
	return TOOL_USAGE;
}

/* Finds what the library tells of the counter; false if it has none such. */
static bool describe(struct cpucycles_counter *c, const char *name)
{
	unsigned i;

	for (i = 0; cpucycles_counter(i, c, sizeof *c) == 0; i++)
		if (!strcmp(c->name, name))
			return true;
	return false;
}

/* The counter to check; NULL: the one that programs get. An exit status. */
static int choose(struct selftest *self, const char *name)
{
	const char *kind;

	if (name != NULL && cpucycles_select(name) != 0) {
		if (errno == ENOENT || !describe(&self->counter, name))
			return unknown_counter(name);
		printf("Bail out! %s does not work here: %s\n", name,
		       self->counter.reason);
		return TOOL_FINDING;
	}
	describe(&self->counter, cpucycles_implementation());
	kind = self->counter.kind = cpucycles_kind();
	self->follows = !strcmp(kind, "core") || !strcmp(kind, "calibrated");
	self->threads = !strcmp(kind, "core") &&
			strstr(self->counter.name, "perf") != NULL;
	self->cores = !strcmp(kind, "core") && !self->threads;
	printf("# libcpucycles %s\n# counter %s, kind %s, %g cycles a tick, "
	       "%u bits\n",
	       cpucycles_version(), self->counter.name, kind,
	       self->counter.scaling, self->counter.bits);
	return TOOL_GOOD;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"counter", required_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{"list", no_argument, NULL, 'l'},
		{"long", no_argument, NULL, 'L'},
		{"quick", no_argument, NULL, 'q'},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	static const int ms[] = {[QUICK] = 60, [DEFAULT] = 500, [LONG] = 20000};
	struct selftest self = {.effort = DEFAULT};
	const char *counter = NULL;
	int option, i, status = TOOL_GOOD;

	while ((option = getopt_long(argc, argv, "hV", options, NULL)) != -1) {
		switch (option) {
		case 'c':
			counter = optarg;
			break;
		case 'q':
			self.effort = QUICK;
			break;
		case 'L':
			self.effort = LONG;
			break;
		case 'h':
			fputs(help, stdout);
			goto end;
		case 'l':
			print_list();
			goto end;
		case 'V':
			tool_version(TOOL);
			goto end;
		default:
			return tool_usage(TOOL, NULL);
		}
	}
	for (i = optind; i < argc; i++)
		if (!known_check(argv[i]))
			return tool_usage(TOOL, NULL);
	self.ms = ms[self.effort];
	status = choose(&self, counter);
	if (status == TOOL_GOOD)
		status = selftest_run(&self, argv + optind);
end:
	return tool_end(TOOL, status);
}
