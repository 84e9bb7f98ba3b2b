/* SPDX-License-Identifier: 0BSD */
/* cpucycles-run: the core cycles that a command takes. */
#include <config.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "run.h"
#include "../common/json.h"
#include "../common/terminal.h"
#include "../common/tool.h"

/* One line here is one line of output. */
/* clang-format off */
static const char help[] =
	"Usage: cpucycles-run [OPTION]... COMMAND [ARG]...\n"
	"   or: cpucycles-run --compare [OPTION]... COMMAND [ARG]... -- COMMAND [ARG]...\n"
	"Runs a command, and prints on standard error how many core cycles it and its\n"
	"children took: counted, where there is a PMU that you may use, or estimated.\n"
	"\n"
	"      --compare[=WORD]\n"
	"                     run two commands, with -- or WORD between them, in turn,\n"
	"                     ten times each unless --runs says how often, and say which\n"
	"                     one takes fewer cycles\n"
	"      --json         print one JSON object, for programs\n"
	"      --lines        print lines for programs, on a terminal too\n"
	"  -o, --output=FILE  print to FILE instead\n"
	"  -r, --runs=N       run it N times; print medians and spreads. A file as\n"
	"                     standard input is read again in each run; of anything\n"
	"                     else a run gets what those before it have left\n"
	"  -w, --warmup=N     before that, run it N times that are not printed\n"
	"  -h, --help         print this help and exit\n"
	"  -V, --version      print the version and exit\n"
	"\n"
	"Exit status: that of the command, of the last run that failed; 128 + N if signal\n"
	"N ended it; 127 if there is no such command, 126 if it cannot be run, 125 after\n"
	"wrong usage or if the output cannot be written.\n";
/* clang-format on */

#define COMPARED 10 /* runs of each */
#define USUAL "--"

struct run run = {.share = 1};

static struct command commands[COMMANDS];

/* The number of an option. */
static int main_number(const char *option, const char *text, long least)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(text, &end, 10);
	if (errno != 0 || end == text || *end != '\0' || n < least ||
	    n > RUNS_MOST)
		exit(tool_usage("%s takes a number from %ld to %d, not '%s'",
				option, least, RUNS_MOST, text));
	return (int)n;
}

/* Divides the words at the one between two commands. */
static void main_divide(int n, char **words, const char *between)
{
	int i, at = -1;

	for (i = 0; i < n; i++)
		if (!strcmp(words[i], between)) {
			if (at >= 0)
				exit(tool_usage("'%s' is there twice: put "
						"another word between the "
						"commands, by --compare=WORD",
						between));
			at = i;
		}
	if (at <= 0 || at == n - 1)
		exit(tool_usage("--compare needs two commands, with '%s' "
				"between them",
				between));
	command_words(&commands[0], at, words);
	command_words(&commands[1], n - at - 1, words + at + 1);
	run.commands = 2;
}

static void main_runs(int warmups)
{
	const off_t input = lseek(0, 0, SEEK_CUR);
	int i, k;

	/* What runs first may gain or lose by that: it alternates. */
	for (i = -warmups; i < run.wanted && !run.last; i++)
		for (k = 0; k < run.commands && !run.last; k++) {
			if (i > -warmups || k > 0)
				lseek(0, input, SEEK_SET);
			command_run(&commands[i & 1 ? run.commands - 1 - k : k],
				    i >= 0);
		}
}

static void main_print(FILE *f)
{
	struct verdict v;

	json_begin(f);
	terminal_to(f);
	if (run.form == FORM_JSON)
		json_open(NULL, '{');
	if (run.commands == 1)
		result_print(f, &commands[0], NULL);
	else {
		v = verdict_find(&commands[0], &commands[1]);
		result_print(f, &commands[0], "first");
		result_print(f, &commands[1], "second");
		verdict_print(f, &v);
	}
	result_how(f, &commands[0]);
	if (run.form == FORM_JSON)
		json_close('}');
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"compare", optional_argument, NULL, 'c'},
		{"help", no_argument, NULL, 'h'},
		{"json", no_argument, NULL, 'j'},
		{"lines", no_argument, NULL, 'l'},
		{"output", required_argument, NULL, 'o'},
		{"runs", required_argument, NULL, 'r'},
		{"version", no_argument, NULL, 'V'},
		{"warmup", required_argument, NULL, 'w'},
		{NULL, 0, NULL, 0},
	};
	const char *file = NULL, *between = NULL;
	int option, warmups = 0, complete, i;
	bool compare = false, lines = false;
	FILE *f;

	tool_begin("cpucycles-run", help, RUN_FAILED);
	while ((option = tool_option(argc, argv, "+ho:r:Vw:", options)) != -1) {
		if (option == 'c')
			between = optarg;
		else if (option == 'r')
			run.wanted = main_number("--runs", optarg, 1);
		else if (option == 'w')
			warmups = main_number("--warmup", optarg, 0);
		else if (option == 'j')
			run.form = FORM_JSON;
		compare |= option == 'c';
		lines |= option == 'l';
		file = option == 'o' ? optarg : file;
	}
	if (run.form == FORM_JSON && lines)
		return tool_usage("use only one of --json and --lines");
	if (optind == argc)
		return tool_usage("needs a command");
	if (run.wanted == 0)
		run.wanted = compare ? COMPARED : 1;
	tool_note_not_taken(stderr, "cpucycles-run: ");
	run.commands = 1;
	if (compare)
		main_divide(argc - optind, argv + optind,
			    between != NULL ? between : USUAL);
	else
		command_words(&commands[0], argc - optind, argv + optind);
	f = file != NULL ? fopen(file, "we") : stderr;
	if (f != NULL && run.form == FORM_LINES && !lines && isatty(fileno(f)))
		run.form = FORM_PEOPLE;
	command_begin();
	if (f != NULL)
		main_runs(warmups);
	complete = commands[run.commands - 1].runs;
	if (commands[0].runs < complete)
		complete = commands[0].runs;
	if (run.interrupted && complete < run.wanted)
		tool_failed("interrupted, %d of %d runs", complete, run.wanted);
	if (complete > 0)
		main_print(f);
	for (i = 0; i < run.commands; i++)
		free(commands[i].words);
	return tool_end(f, file, run.status);
}
