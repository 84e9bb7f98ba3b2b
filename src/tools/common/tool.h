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

/* Points to --help, after getopt_long's message, or after one about an argument
 * that nobody expected. Returns TOOL_USAGE. */
int tool_usage(const char *tool, const char *unexpected);

/* Returns the exit status: `status`, unless the output could not be written;
 * then a message says so. */
int tool_end(const char *tool, int status);

/* Shows on the terminal what takes so long, in place of the last such text; ""
 * at the end. Does nothing where standard error is no terminal. */
void tool_progress(const char *text);

#endif
