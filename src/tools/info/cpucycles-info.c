/* SPDX-License-Identifier: 0BSD */
/* cpucycles-info: what counts cycles on this machine, and how well. */
#include <config.h>
#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "cpucycles.h"
#include "cpus.h"
#include "report.h"
#include "../common/tool.h"

/* One line here is one line of output. */
/* clang-format off */
static const char help[] =
	"Usage: cpucycles-info [OPTION]...\n"
	"Tells which counter cpucycles() uses on this machine, how finely and how fast it\n"
	"counts, and why each other counter cannot be used.\n"
	"\n"
	"One of these, instead of the text described below:\n"
	"      --cpus          a line for each CPU that this process may run on: its\n"
	"                      nominal rate, the rate of its core observed now, in Hz,\n"
	"                      their ratio, and how far 15 observations are spread\n"
	"      --json          one JSON object, for programs\n"
	"      --plot          a histogram of the cycles from call to call, as wide as\n"
	"                      the terminal\n"
	"      --svg=FILE      a picture of the same, and of the rate of the count;\n"
	"                      to standard output if FILE is -\n"
	"\n"
	"With any of them, or none:\n"
	"      --counter=NAME  report on this counter, not on the one that cpucycles()\n"
	"                      would choose\n"
	"  -h, --help          print this help and exit\n"
	"  -V, --version       print the version and exit\n"
	"\n"
	"Output, each line after the word cpucycles:\n"
	"  version             of the library\n"
	"  tracesetup          a counter: its precision in cycles, with what its kind\n"
	"                      adds; cycles per tick; 1 if it has only 32 bits\n"
	"  persecond           cycles per second as the operating system says\n"
	"  implementation      the counter in use\n"
	"  iqm                 interquartile mean of the cycles from call to call, then\n"
	"                      how far from it each of 64 calls was\n"
	"  observed persecond  bounds of the rate of the count, over longer and longer\n"
	"                      loops\n"
	"  kind                core, calibrated, reference, os or zero\n"
	"  unavailable         a counter that cannot be used, and why\n"
	"  note                what deserves attention\n"
	"\n"
	"Exit status:\n"
	"  0  cycles are counted\n"
	"  1  nothing counts here, the counter named by --counter does not work, or\n"
	"     the output cannot be written\n"
	"  2  wrong usage; also a NAME that no counter has\n"
	"\n"
	"Environment:\n"
	"  cpucyclesimplementation=NAME  use this counter if it works\n"
	"  cpucyclespersecond=HZ         cycles per second, where neither the file\n"
	"                                /etc/cpucyclespersecond nor the operating\n"
	"                                system says\n"
	"  COLUMNS=NUMBER                with --plot: how wide it is to be\n"
	"  NO_COLOR=1                    with --plot: no colour on a terminal either\n";
/* clang-format on */

/* Selects what is to be reported on; 0, or the exit status. */
static int choose(const struct request *r)
{
	struct cpucycles_counter c;
	unsigned i;

	/* Without a name there always is one to choose. */
	if (cpucycles_select(r->counter) == 0 || r->counter == NULL)
		return TOOL_GOOD;
	if (errno == ENOENT) {
		fprintf(stderr,
			"%s: no counter here is called '%s'. There are:\n",
			TOOL, r->counter);
		for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
			fprintf(stderr, "  %s\n", c.name);
		return TOOL_USAGE;
	}
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (!strcmp(c.name, r->counter))
			fprintf(stderr, "%s: %s does not work here: %s\n", TOOL,
				c.name, c.reason);
	return TOOL_FINDING;
}

static int report_cpus(const struct request *r)
{
	(void)r;
	return print_cpus();
}

static int wrong(const char *why)
{
	fprintf(stderr, "%s: %s\n", TOOL, why);
	return tool_usage(TOOL, NULL);
}

enum { COUNTER = 256, FORM };

static const struct option options[] = {
	{"counter", required_argument, NULL, COUNTER},
	{"cpus", no_argument, NULL, FORM},
	{"help", no_argument, NULL, 'h'},
	{"json", no_argument, NULL, FORM},
	{"plot", no_argument, NULL, FORM},
	{"svg", required_argument, NULL, FORM},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static const struct {
	const char *option;
	int (*report)(const struct request *r);
} forms[] = {
	{"cpus", report_cpus},
	{"json", report_json},
	{"plot", report_plot},
	{"svg", report_svg},
};

/* 0, or -1 when another was asked for already. */
static int set_form(struct request *r, const char *option)
{
	size_t i = 0;

	while (strcmp(forms[i].option, option) != 0)
		i++;
	if (r->report != NULL && r->report != forms[i].report)
		return -1;
	r->report = forms[i].report;
	if (optarg != NULL)
		r->file = optarg;
	return 0;
}

int main(int argc, char **argv)
{
	struct request r = {0};
	int option, i = 0, status;

	setlocale(LC_CTYPE, "");
	/* A reader that has gone is an error like any: it gets a message. */
	signal(SIGPIPE, SIG_IGN);
	while ((option = getopt_long(argc, argv, "hV", options, &i)) != -1) {
		switch (option) {
		case COUNTER:
			r.counter = optarg;
			break;
		case FORM:
			if (set_form(&r, options[i].name) != 0)
				return wrong("only one of --cpus, --json, "
					     "--plot and --svg can be had");
			break;
		case 'h':
			fputs(help, stdout);
			return tool_end(TOOL, TOOL_GOOD);
		case 'V':
			tool_version(TOOL);
			return tool_end(TOOL, TOOL_GOOD);
		default:
			return tool_usage(TOOL, NULL);
		}
	}
	if (optind < argc)
		return tool_usage(TOOL, argv[optind]);
	if (r.report == NULL)
		r.report = report_text;
	status = choose(&r);
	if (status == TOOL_GOOD)
		status = r.report(&r);
	return tool_end(TOOL, status);
}
