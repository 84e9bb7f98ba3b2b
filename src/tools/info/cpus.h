/* SPDX-License-Identifier: 0BSD */
/* cpucycles-info --cpus. */
#ifndef CPUC_TOOLS_CPUS_H
#define CPUC_TOOLS_CPUS_H

/* Prints a line for each CPU that this process may run on. 0, or 1 when the
 * rates cannot be measured, with a message on stderr. */
int print_cpus(void);

#endif
