/* SPDX-License-Identifier: 0BSD */
/* cpucycles-info --watch. */
#ifndef CPUC_TOOLS_WATCH_H
#define CPUC_TOOLS_WATCH_H

#include "report.h"

/* Makes the report of the request once a second, each with a selection of its
 * own, until it fails or cannot be written: the exit status then. A signal
 * ends it too, and with it the process. With `in_place`, on a terminal, one
 * replaces the other. */
int watch(int (*report)(const struct request *r), const struct request *r,
	  int in_place);

#endif
