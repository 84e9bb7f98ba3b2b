/* SPDX-License-Identifier: 0BSD */
/* nominal-show ROOT prints the rate in Hz that the files under ROOT state, the
 * source, and whether that is the core's rate; or "0 unknown". */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>

#include "system/stated_rate.h"

int main(int argc, char **argv)
{
	struct cpuc_rate rate;

	if (argc != 2) {
		fprintf(stderr, "usage: nominal-show ROOT\n");
		return 2;
	}
	rate = cpuc_stated_rate(argv[1]);
	printf("%" PRIu64 " %s%s\n", rate.hz, rate.source,
	       rate.of_core ? ", the core's" : "");
	return fflush(stdout) == 0 ? 0 : 1;
}
