/* SPDX-License-Identifier: 0BSD */
/* cpucycles-open: lets ordinary users read the better counters, and undoes
 * it. */
#include <config.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "actions.h"
#include "../common/tool.h"

enum action { BY_USER, STATUS, APPLY, REVERT };

/* clang-format off: one line here is one line of output. */
static const char help[] =
	"Usage: cpucycles-open [OPTION]...\n"
	"Lets ordinary users read the counters of CPU cycles that the kernel keeps from\n"
	"them, and undoes it. Without option: as root --apply, otherwise --status.\n"
	"\n"
	"      --status    print each setting that this kernel has, whether it is open,\n"
	"                  and what that opens to whom\n"
	"      --apply     open what is closed, until the next boot\n"
	"      --persist   the same, and at every boot\n"
	"      --revert    set what was changed back to what was found, and remove\n"
	"                  the files of --persist\n"
	"      --dry-run   print what --apply, --persist or --revert would do, and\n"
	"                  change nothing\n"
	"      --root DIR  put DIR before the path of every file\n"
	"  -h, --help      print this help and exit\n"
	"  -V, --version   print the version and exit\n"
	"\n"
	"Exit status:\n"
	"  0  all is done, or open\n"
	"  1  something is closed, or could not be done\n"
	"  2  wrong usage\n";

/* clang-format on */

static int usage(const char *what)
{
	fprintf(stderr, OPEN_TOOL ": %s\n", what);
	return tool_usage(OPEN_TOOL, NULL);
}

static int check_root(const char *root)
{
	struct stat st;

	if (stat(root, &st) == 0 && S_ISDIR(st.st_mode))
		return TOOL_GOOD;
	fprintf(stderr, OPEN_TOOL ": --root: '%s' is no directory\n", root);
	return TOOL_USAGE;
}

static int refuse(const char *self, enum action action, bool persist)
{
	fprintf(stderr, OPEN_TOOL ": only root can do that: sudo %s %s\n", self,
		action == REVERT ? "--revert"
		: persist        ? "--persist"
				 : "--apply");
	return TOOL_FINDING;
}

static int act(const char *self, enum action action, struct open_run run)
{
	int status = TOOL_GOOD;

	if (action == BY_USER)
		action = run.dry || geteuid() == 0 ? APPLY : STATUS;
	if (action == STATUS && run.dry)
		return usage("--status changes nothing: --dry-run does not go "
			     "with it");
	if (run.root != NULL)
		status = check_root(run.root);
	else if (action != STATUS && !run.dry && geteuid() != 0)
		status = refuse(self, action, run.persist);
	else
		run.root = "";
	if (status != TOOL_GOOD)
		return status;
	switch (action) {
	case APPLY:
		return open_apply(&run);
	case REVERT:
		return open_revert(&run);
	default:
		return open_status(run.root);
	}
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{"apply", no_argument, NULL, APPLY},
		{"dry-run", no_argument, NULL, 'd'},
		{"help", no_argument, NULL, 'h'},
		{"persist", no_argument, NULL, 'p'},
		{"revert", no_argument, NULL, REVERT},
		{"root", required_argument, NULL, 'r'},
		{"status", no_argument, NULL, STATUS},
		{"version", no_argument, NULL, 'V'},
		{NULL, 0, NULL, 0},
	};
	enum action action = BY_USER, asked;
	struct open_run run = {0};
	int option;

	while ((option = getopt_long(argc, argv, "hV", options, NULL)) != -1) {
		switch (option) {
		case 'd':
			run.dry = true;
			break;
		case 'h':
			fputs(help, stdout);
			return tool_end(OPEN_TOOL, TOOL_GOOD);
		case 'r':
			run.root = optarg;
			break;
		case 'V':
			tool_version(OPEN_TOOL);
			return tool_end(OPEN_TOOL, TOOL_GOOD);
		case '?':
			return tool_usage(OPEN_TOOL, NULL);
		default:
			asked = option == 'p' ? APPLY : (enum action)option;
			if (action != BY_USER && action != asked)
				return usage("--status, --apply or --persist, "
					     "--revert: one of them");
			run.persist |= option == 'p';
			action = asked;
		}
	}
	if (optind < argc)
		return tool_usage(OPEN_TOOL, argv[optind]);
	return tool_end(OPEN_TOOL, act(argv[0], action, run));
}
