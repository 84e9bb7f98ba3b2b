/* SPDX-License-Identifier: 0BSD */
/* Helpers of all tools. */
#ifndef TOOL_H
#define TOOL_H

#include <stdbool.h>
#include <stdio.h>
#include <time.h>

struct cpucycles_counter;
struct option;

enum tool_status {
	TOOL_GOOD = 0,
	TOOL_FINDING = 1, /* something is not as it should be */
	TOOL_USAGE = 2,
};

/* First in main(): where the caller has closed a standard descriptor, no file
 * that the tool opens gets its number, and what is printed there fails. The
 * last argument is the exit status of all failures, unless it is 0. */
void tool_begin(const char *name, const char *help, int failed);

/* As getopt_long(3), but exits after --help, --version and unknown options. */
int tool_option(int argc, char **argv, const char *letters,
		const struct option *options);

/* "TOOL: MESSAGE" on standard error, and --help after wrong usage: status. */
#define tool_failed(...) tool_message(TOOL_FINDING, __VA_ARGS__)
#define tool_usage(...) tool_message(TOOL_USAGE, __VA_ARGS__)
int tool_message(int status, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The exit status: `status`, unless f is NULL or the file of this name (NULL:
 * the output) could not be written: then there is a message, by errno. */
int tool_end(FILE *f, const char *name, int status);

/* Selects the counter and describes it; NULL: the one that programs get. The
 * exit status, after a message if there is none, or it does not work. */
int tool_select(const char *name, struct cpucycles_counter *c);

/* Why it cannot be used: "REASON; HINT", or "REASON". Static storage. */
const char *tool_why(const struct cpucycles_counter *c);

/* Such as "amd64-tsc counts nominal cycles here". Static storage. */
const char *tool_counts(const struct cpucycles_counter *c);

/* Why the counter that the environment names is not in use; "" if it is. */
const char *tool_not_taken(const char *named);

/* If the environment's counter is not in use, true, after a line to f that
 * begins so, and one with the names that there are if it is none of them. */
bool tool_note_not_taken(FILE *f, const char *begin);

/* Whether the environment names the counter in use, and that needs no perf
 * events: where opening one kills, a clock is named so that none is opened. */
bool tool_without_events(void);

/* A clock, and CLOCK_MONOTONIC, in nanoseconds. */
long long tool_clock_ns(clockid_t clock);
long long tool_ns(void);

/* How instructions are counted; if not at all, unusable with the reason. */
void tool_instructions(struct cpucycles_counter *c);

/* CLOCK_THREAD_CPUTIME_ID, or CLOCK_MONOTONIC if there is none in steps of a
 * microsecond or less: on Windows they are of 15 ms. */
clockid_t tool_thread_clock(void);

#endif
