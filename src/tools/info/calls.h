/* SPDX-License-Identifier: 0BSD */
/* Measures what calls show: differences of the count from one to the next, its
 * rate, and gaps in the thread's time. */
#ifndef CPUC_TOOLS_CALLS_H
#define CPUC_TOOLS_CALLS_H

#define CALLS_FEW 64    /* the text report has so many differences */
#define CALLS_MANY 4096 /* enough for a histogram */

/* In cycles. */
struct calls {
	int n;
	long long diff[CALLS_MANY];   /* from each call to the next */
	long long sorted[CALLS_MANY]; /* the same, ascending */
	long long quartile[3];
	double iqm; /* their interquartile mean */
};

/* Calls cpucycles() n + 1 times in a row; n is at most CALLS_MANY. Returns
 * static storage. */
const struct calls *calls_measure(int n);

/* Loops: of 8192 iterations, of twice as many, and so on. */
#define OBSERVED 8

struct observed {
	long loops;
	long long ns;     /* the loop's duration */
	double low, high; /* bounds of the count's rate, Hz */
};

/* Measures the count's rate against the system's clock. Returns how many of the
 * loops the clock could time. */
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
