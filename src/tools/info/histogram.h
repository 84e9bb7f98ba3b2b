/* SPDX-License-Identifier: 0BSD */
/* Values sorted into bins that people can read. */
#ifndef CPUC_TOOLS_HISTOGRAM_H
#define CPUC_TOOLS_HISTOGRAM_H

#define BINS_MIN 5 /* a bar alone says little */
#define BINS_MAX 64

struct histogram {
	int bins;
	long long first; /* bin i has first + i * width and */
	long long width; /* width - 1 values more: 1, 2, 5, 10, 20 ... */
	int count[BINS_MAX];
	int below, above; /* values outside all bins: at most 1% each */
	int most;         /* the highest of all the counts */
};

/* Of n sorted values, n > 0, in at most `bins` bins, which is BINS_MIN to
 * BINS_MAX. */
void histogram_make(struct histogram *h, const long long *sorted, int n,
		    int bins);

/* Whether any of the middle half of those values is in the bin. */
int histogram_middle(const struct histogram *h, const long long *sorted, int n,
		     int bin);

#endif
