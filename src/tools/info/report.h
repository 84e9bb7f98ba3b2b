/* SPDX-License-Identifier: 0BSD */
/* The reports of cpucycles-info. */
#ifndef CPUC_TOOLS_REPORT_H
#define CPUC_TOOLS_REPORT_H

#define TOOL "cpucycles-info"

/* What the command line asks for. */
struct request {
	int (*report)(const struct request *r);
	const char *counter; /* NULL: whichever is selected */
	const char *file;    /* of --svg; "-" is stdout */
};

/* Each counts with what is selected and prints to stdout, or to a file. The
 * exit status. */
int report_text(const struct request *r);
int report_json(const struct request *r);
int report_plot(const struct request *r);
int report_svg(const struct request *r);

#endif
