/* SPDX-License-Identifier: 0BSD */
/* What the count looks like to a program: its steps from call to call, and its
 * rate. */
#ifndef CPUC_TOOLS_CALLS_H
#define CPUC_TOOLS_CALLS_H

#define CALLS_FEW 64    /* as the text has always had */
#define CALLS_MANY 4096 /* enough for a histogram */

struct calls {
	int n;
	long long iqm;                   /* cycles, as all below */
	long long count[CALLS_MANY + 1]; /* one after the other */
	long long diff[CALLS_MANY];      /* diff[i] = count[i + 1] - count[i] */
	long long sorted[CALLS_MANY];    /* diff, ascending */
};

#define OBSERVED 8 /* sizes, from 8192 loops on, doubled each time */

struct observed {
	long loops;
	long long ns;     /* what the loops took; 0: nothing is known */
	double low, high; /* bounds of the rate of the count, Hz */
};

/* Counts n + 1 times in a row; n is at most CALLS_MANY. The result is there
 * until the next call. */
const struct calls *calls_measure(int n);

/* The rate of the count against the system's clock. */
void observe(struct observed o[OBSERVED]);

#endif
