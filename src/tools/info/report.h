/* SPDX-License-Identifier: 0BSD */
/* The reports in lines of text, and facts that other reports use. */
#ifndef CPUC_TOOLS_REPORT_H
#define CPUC_TOOLS_REPORT_H

#include <stdbool.h>
#include "cpucycles.h"
#include "machine.h"

/* The options of the command line. Each report counts with the counter that is
 * selected, and returns the exit status. */
struct request {
	const char *counter; /* of --counter; NULL: the library chooses */
	const char *file;    /* of --svg; "-" is stdout */
	bool noise;          /* --noise */
};

int report_text(const struct request *r);
int report_cpus(const struct request *r);

/* How instructions are counted. Where no build for this system does that, it is
 * not usable, with the reason. */
void report_instructions(struct cpucycles_counter *c);

/* All about the machine, and the time. */
void report_machine(struct machine *m);

/* The library's environment variables. */
#define VARIABLES 2
extern const char *const report_variables[VARIABLES];

/* Why this value of variable i has no effect; "" if it has. Static storage. */
const char *report_why_not(int i, const char *value, const struct request *r);

#endif
