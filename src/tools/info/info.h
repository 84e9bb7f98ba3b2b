/* SPDX-License-Identifier: 0BSD */
/* The reports of cpucycles-info, and what they share. */
#ifndef CPUC_TOOLS_INFO_H
#define CPUC_TOOLS_INFO_H

#include <stdbool.h>
#include "../common/terminal.h"

/* The options of the command line. */
extern struct request {
	const char *counter; /* of --counter; NULL: the library chooses */
	bool noise;          /* --noise */
	bool lines;          /* for programs; else for people */
} request;

/* Each reports on the counter that is selected, and returns the exit status. */
int report_lines(void);
int report_json(void);
int report_cpus(void);
int table_print(void); /* for people */
int plot_print(void);  /* a histogram of calls */

/* Measure for a second or two what disturbs timings now, and print it with
 * advice. TOOL_FINDING if medians would be worse than 1%, or of little time. */
int noise_print(void);
int noise_json(void);

struct cpucycles_counter;

/* Why the counter does not count the thread alone; "" if it does. */
const char *report_shared(const struct cpucycles_counter *c);

/* What the counter's clock is called. */
const char *report_clock(const struct cpucycles_counter *c);

/* Calls note() for what users may not know of the counter in use, and for each
 * variable or file that had no effect. */
void report_notes(const struct cpucycles_counter *c,
		  void (*note)(const char *));

/* A rate for people: "3.51 GHz". Static storage. */
const char *table_hz(double hz);

#define CALLS_FEW 64    /* the text report has so many differences */
#define CALLS_MANY 4096 /* enough for a histogram */

/* In cycles. */
struct calls {
	long long diff[CALLS_MANY];   /* from each call to the next */
	long long sorted[CALLS_MANY]; /* the same, ascending */
	long long quartile[3];
	double iqm; /* their interquartile mean */
};

/* Calls cpucycles() n + 1 times in a row; n <= CALLS_MANY. Static storage. */
const struct calls *calls_measure(int n);

/* Loops: of 8192 iterations, of twice as many, and so on. */
#define OBSERVED 8

struct observed {
	long loops;       /* iterations */
	long long ns;     /* the loop's duration */
	double low, high; /* bounds of the count's rate, Hz */
};

/* The count's rate by the system's clock. Returns how many loops were timed. */
int calls_observe(struct observed o[OBSERVED]);

/* The part of the time in which a calibrated counter measures, and so stands
 * still. < 0: unknown, as the system does not tell when other threads have the
 * CPU. Takes some hundredths of a second. */
double calls_share(void);

/* Intervals in which the thread did not run: for the kernel, the firmware or
 * the hypervisor; for other threads. */
enum { GAPS_OTHER, GAPS_THREADS, GAPS_KINDS };

/* < 0: unknown. */
struct gaps {
	double share, persecond; /* of the time, a part of 1; how many */
	double median, longest;  /* ns; < 0 where there were none */
};

/* Takes less than half a second. */
void calls_gaps(struct gaps gaps[GAPS_KINDS]);

#endif
