/* SPDX-License-Identifier: 0BSD */
/* osfreq-show ROOT prints the frequency that the files under ROOT state and
 * the source that states it, or "0 unknown". */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>

#include "osfreq.h"

int main(int argc, char **argv)
{
	const char *source;
	uint64_t hz;

	if (argc != 2) {
		fprintf(stderr, "usage: osfreq-show ROOT\n");
		return 2;
	}
	hz = cpuc_osfreq(argv[1], &source);
	printf("%" PRIu64 " %s\n", hz, source);
	return fflush(stdout) == 0 ? 0 : 1;
}
