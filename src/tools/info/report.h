/* SPDX-License-Identifier: 0BSD */
/* The reports in lines of text, and facts that other reports use. */
#ifndef CPUC_TOOLS_REPORT_H
#define CPUC_TOOLS_REPORT_H

#include <stdbool.h>
#include "cpucycles.h"

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

/* Names the machine, for people who compare several. */
struct machine {
	char cpu[128];    /* such as "Intel(R) Core(TM) ...", or "aarch64" */
	char system[256]; /* such as "Linux 6.1.0 x86_64" */
	char time[32];    /* now, UTC, such as "2026-01-31T12:00:00Z" */
};

void report_machine(struct machine *m);

/* The library's environment variables. */
#define VARIABLES 2
extern const char *const report_variables[VARIABLES];

/* Why this value of variable i has no effect; "" if it has. Static storage. */
const char *report_why_not(int i, const char *value, const struct request *r);

#endif
