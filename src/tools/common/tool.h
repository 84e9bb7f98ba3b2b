/* SPDX-License-Identifier: 0BSD */
/* What every tool does. */
#ifndef TOOL_H
#define TOOL_H

enum tool_status {
	TOOL_GOOD = 0,
	TOOL_FINDING = 1, /* something is not as it should be */
	TOOL_USAGE = 2,
};

/* The text of --version. */
void tool_version(const char *tool);

/* After getopt_long has said what is wrong, or with the argument that nobody
 * expected: points to --help. Returns TOOL_USAGE. */
int tool_usage(const char *tool, const char *unexpected);

/* The exit status: `status`, unless the output could not be written, which a
 * message tells. */
int tool_end(const char *tool, int status);

/* Shows what takes so long on the terminal, in place of what it showed before;
 * "" at the end. Nothing where standard error is no terminal. */
void tool_progress(const char *text);

#endif
