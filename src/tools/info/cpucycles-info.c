/* SPDX-License-Identifier: 0BSD */
/* cpucycles-info: describes the counter of this machine and its precision. */
#include <config.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "cpucycles.h"
#include "info.h"
#include "../common/tool.h"

/* One line here is one line of output. */
/* clang-format off */
static const char help[] =
	"Usage: cpucycles-info [OPTION]...\n"
	"Prints which counter cpucycles() uses on this machine, how finely and how fast\n"
	"it counts, and why each other counter cannot be used: on a terminal for people,\n"
	"as wide as that, and elsewhere in lines that programs can parse.\n"
	"\n"
	"One of these, instead of that report:\n"
	"      --cpus          one line for each CPU that this process may run on: the\n"
	"                      rate of its core measured now, the ratio of this to\n"
	"                      persecond, as in the report, and the spread of 15\n"
	"                      measurements\n"
	"      --json          one JSON object, for programs\n"
	"      --lines         the lines for programs, on a terminal too; with --cpus or\n"
	"                      --noise, the lines of these\n"
	"      --noise         what disturbs timings here now, what would help, and which\n"
	"                      differences are too small to be seen; takes a second or\n"
	"                      two; with --json, a member of its object\n"
	"      --plot          a histogram of the cycles from call to call, as wide as\n"
	"                      the terminal\n"
	"\n"
	"With any of them, or none:\n"
	"      --counter=NAME  report on this counter, not on the one that cpucycles()\n"
	"                      would choose\n"
	"  -h, --help          print this help and exit\n"
	"  -V, --version       print the version and exit\n"
	"\n"
	"Exit status:\n"
	"  0  cycles are counted\n"
	"  1  nothing counts here, the counter named by --counter or in the environment\n"
	"     does not work, --noise finds that a difference of 1% cannot be seen or\n"
	"     that more than 5% of the time is lost, or the output cannot be written\n"
	"  2  wrong usage, or --counter names a counter that does not exist\n";
/* clang-format on */

/* As bits: which reports are asked for. */
enum { CPUS = 256, JSON = 512, LINES = 1024, NOISE = 2048, PLOT = 4096 };

static const struct option options[] = {
	{"counter", required_argument, NULL, 'c'},
	{"cpus", no_argument, NULL, CPUS},
	{"help", no_argument, NULL, 'h'},
	{"json", no_argument, NULL, JSON},
	{"lines", no_argument, NULL, LINES},
	{"noise", no_argument, NULL, NOISE},
	{"plot", no_argument, NULL, PLOT},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

static const struct {
	int asked;
	int (*print)(void);
} reports[] = {{0, table_print},
	       {CPUS, report_cpus},
	       {JSON, report_json},
	       {JSON | NOISE, report_json},
	       {LINES, report_lines},
	       {NOISE, noise_print},
	       {PLOT, plot_print},
	       {LINES | CPUS, report_cpus},
	       {LINES | NOISE, noise_print}};

int main(int argc, char **argv)
{
	const size_t n = sizeof reports / sizeof *reports;
	int option, asked = 0, status = TOOL_GOOD;
	struct cpucycles_counter c;
	bool mistaken;
	size_t i;

	tool_begin("cpucycles-info", help, 0);
	while ((option = tool_option(argc, argv, "hV", options)) != -1)
		if (option == 'c')
			request.counter = optarg;
		else
			asked |= option;
	if (optind < argc)
		return tool_usage("unexpected argument '%s'", argv[optind]);
	if (asked == 0 && !isatty(1))
		asked = LINES;
	for (i = 0; i < n && reports[i].asked != asked; i++)
		;
	if (i == n)
		return tool_usage(
			"use only one of --cpus, --json, --lines, --noise and "
			"--plot, or --json with --noise, or --lines with "
			"--cpus or --noise");
	request.noise = asked & NOISE;
	request.lines = (asked & LINES) || !isatty(1);
	if (request.counter != NULL)
		status = tool_select(request.counter, &c);
	/* Who names one expects that one, as in a job that nobody watches. */
	mistaken = request.counter == NULL &&
		   tool_note_not_taken(stderr, "cpucycles-info: ");
	if (status == TOOL_GOOD)
		status = reports[i].print();
	if (status == TOOL_GOOD && mistaken)
		status = TOOL_FINDING;
	if (status == TOOL_GOOD && strcmp(cpucycles_kind(), "zero") == 0)
		status = TOOL_FINDING;
	return tool_end(stdout, NULL, status);
}
