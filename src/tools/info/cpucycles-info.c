/* SPDX-License-Identifier: 0BSD */
/* cpucycles-info: describes the counter of this machine and its precision. */
#include <config.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cpucycles.h"
#include "report.h"
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
	"      --cpus          one line for each CPU that this process may run on:\n"
	"                      persecond, as in the report, the rate of its core\n"
	"                      measured now, in Hz, the ratio of this to that, and the\n"
	"                      spread of 15 measurements\n"
	"      --json          one JSON object, for programs\n"
	"      --lines         the lines for programs, on a terminal too\n"
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
	"  1  nothing counts here, the counter named by --counter does not work,\n"
	"     --noise finds that a difference of 1% cannot be seen or that more than 5%\n"
	"     of the time is lost, or the output cannot be written\n"
	"  2  wrong usage, or --counter names a counter that does not exist\n";
/* clang-format on */

enum { COUNTER = 256, NOISE, FORM };

static const struct option options[] = {
	{"counter", required_argument, NULL, COUNTER},
	{"cpus", no_argument, NULL, FORM},
	{"help", no_argument, NULL, 'h'},
	{"json", no_argument, NULL, FORM + 1},
	{"lines", no_argument, NULL, FORM + 3},
	{"noise", no_argument, NULL, NOISE},
	{"plot", no_argument, NULL, FORM + 2},
	{"version", no_argument, NULL, 'V'},
	{NULL, 0, NULL, 0},
};

typedef int report_function(void);

static report_function *const forms[] = {report_cpus, report_json, plot_print,
					 report_lines};

int main(int argc, char **argv)
{
	report_function *report = NULL;
	struct cpucycles_counter c;
	bool several = false;
	int option, status;

	tool_begin("cpucycles-info", help, 0);
	while ((option = tool_option(argc, argv, "hV", options)) != -1) {
		if (option == COUNTER) {
			request.counter = optarg;
		} else if (option == NOISE) {
			request.noise = true;
		} else {
			several |= report && report != forms[option - FORM];
			report = forms[option - FORM];
		}
	}
	if (optind < argc)
		return tool_usage("unexpected argument '%s'", argv[optind]);
	if (several || (request.noise && report && report != report_json))
		return tool_usage(
			"use only one of --cpus, --json, --lines, --noise and "
			"--plot, or --json with --noise");
	if (report == NULL)
		report = request.noise ? noise_print
			 : isatty(1)   ? table_print
				       : report_lines;
	status = request.counter ? tool_select(request.counter, &c) : TOOL_GOOD;
	/* The others have it in what they print. */
	if (report == report_cpus || report == plot_print ||
	    report == noise_print)
		tool_note_not_taken();
	if (status == TOOL_GOOD)
		status = report();
	if (status == TOOL_GOOD && strcmp(cpucycles_kind(), "zero") == 0)
		status = TOOL_FINDING;
	return tool_end(stdout, NULL, status);
}
