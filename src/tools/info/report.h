/* SPDX-License-Identifier: 0BSD */
/* The reports in lines of text and as JSON. */
#ifndef CPUC_TOOLS_REPORT_H
#define CPUC_TOOLS_REPORT_H

#include <stdbool.h>

/* The options of the command line. */
extern struct request {
	const char *counter; /* of --counter; NULL: the library chooses */
	bool noise;          /* --noise */
} request;

/* Each counts with the counter that is selected, and returns the exit status.
 */
int report_text(void);
int report_json(void);
int report_cpus(void);

#endif
