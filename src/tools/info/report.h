/* SPDX-License-Identifier: 0BSD */
/* The reports in lines of text and as JSON. */
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
int report_json(const struct request *r);
int report_cpus(const struct request *r);

#endif
