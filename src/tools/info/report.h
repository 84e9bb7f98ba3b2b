/* SPDX-License-Identifier: 0BSD */
/* What cpucycles-info prints, and what its reports share. */
#ifndef CPUC_TOOLS_REPORT_H
#define CPUC_TOOLS_REPORT_H

#include <stdbool.h>

/* The options of the command line. */
extern struct request {
	const char *counter; /* of --counter; NULL: the library chooses */
	bool noise;          /* --noise */
} request;

struct cpucycles_counter;

/* Why the counter does not count the thread alone; "" if it does. */
const char *report_shared(const struct cpucycles_counter *c);

/* How instructions are counted. Where no build for this system does that, it is
 * not usable, with the reason. */
void report_instructions(struct cpucycles_counter *c);

/* Calls note() for what users may not know of the counter in use, and for each
 * variable or file that had no effect. */
void report_notes(const struct cpucycles_counter *c,
		  void (*note)(const char *));

/* Each counts with the counter that is selected, and returns the exit status:
 * lines of text, the report for people, a histogram, the CPUs. */
int report_lines(void);
int report_json(void);
int report_cpus(void);
int table_print(void);
int plot_print(void);

/* Both measure what disturbs timings on this machine now, for a second or two,
 * and print it with advice; noise_json() as a member of an object. They return
 * TOOL_FINDING if the verdict is worse than 1%, or most medians would be of
 * what little of the time is left. */
int noise_print(void);
int noise_json(void);

/* The terminal's columns, at least 20. 80 where nobody says how many. */
int terminal_width(void);

/* Prints text behind `at` columns that have been printed, and a newline, in
 * lines no longer than the terminal is wide. Those that follow are indented. */
void terminal_print(int at, int indent, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
