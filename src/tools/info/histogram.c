/* SPDX-License-Identifier: 0BSD */
/* Values sorted into bins that people can read. */
#include <config.h>
#include <string.h>
#include "histogram.h"
#include "../common/stats.h"

/* Of division: towards minus infinity, so that 0 begins a bin. */
static long long down(long long value, long long by)
{
	return value / by - (value % by < 0);
}

static long long next_width(long long width)
{
	long long power = 1;

	while (power <= width / 10)
		power *= 10;
	return width / power == 2 ? power * 5 : width * 2;
}

void histogram_make(struct histogram *h, const long long *sorted, int n,
		    int bins)
{
	/* The few that an interrupt hit would hide all others. */
	long long low = stats_quantile(sorted, n, 1, 100);
	long long high = stats_quantile(sorted, n, 99, 100);
	long long bin;
	int i;

	memset(h, 0, sizeof *h);
	h->width = 1;
	while (down(high, h->width) - down(low, h->width) >= bins)
		h->width = next_width(h->width);
	bin = down(low, h->width);
	h->bins = (int)(down(high, h->width) - bin) + 1;
	/* An empty bin on either side shows that nothing is there, and that
	 * 0 is near. */
	if (bin != 0 && h->bins < bins) {
		bin--;
		h->bins++;
	}
	if (h->bins < bins)
		h->bins++;
	if (h->bins < BINS_MIN)
		h->bins = BINS_MIN;
	h->first = bin * h->width;
	for (i = 0; i < n; i++) {
		bin = down(sorted[i] - h->first, h->width);
		if (bin < 0)
			h->below++;
		else if (bin >= h->bins)
			h->above++;
		else
			h->count[bin]++;
	}
	h->most = h->below > h->above ? h->below : h->above;
	for (i = 0; i < h->bins; i++)
		if (h->count[i] > h->most)
			h->most = h->count[i];
}

int histogram_middle(const struct histogram *h, const long long *sorted, int n,
		     int bin)
{
	long long from = h->first + bin * h->width;

	return h->count[bin] > 0 && from <= stats_quantile(sorted, n, 3, 4) &&
	       from + h->width > stats_quantile(sorted, n, 1, 4);
}
