/* SPDX-License-Identifier: 0BSD */
/* The terminal's abilities. */
#ifndef TERMINAL_H
#define TERMINAL_H

#include <stdbool.h>

/* Whether this descriptor, 1 or 2, is a terminal with colours and a cursor that
 * can be moved. */
bool terminal_obeys(int fd);

/* Whether standard output shows UTF-8. */
bool terminal_utf8(void);

/* The size of standard output's window; 0: unknown. */
struct terminal_size {
	int columns, rows;
};

struct terminal_size terminal_size(void);

#endif
