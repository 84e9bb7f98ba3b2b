/* SPDX-License-Identifier: 0BSD */
/* The reports in lines of text and as JSON, and what that for people shares. */
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
typedef void report_note(const char *format, ...)
	__attribute__((format(printf, 1, 2)));
void report_notes(const struct cpucycles_counter *c, report_note *note);

/* Each counts with the counter that is selected, and returns the exit status.
 */
int report_lines(void);
int report_json(void);
int report_cpus(void);

#endif
