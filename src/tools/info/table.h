/* SPDX-License-Identifier: 0BSD */
/* The report for people, on a terminal. */
#ifndef CPUC_TOOLS_TABLE_H
#define CPUC_TOOLS_TABLE_H

int table_print(void);

#endif
