/* SPDX-License-Identifier: 0BSD */
/* What stdout can show. */
#ifndef CPUC_TOOLS_TERMINAL_H
#define CPUC_TOOLS_TERMINAL_H

struct terminal {
	int escapes; /* it is a terminal that takes escape sequences */
	int colour;  /* it is, and the user has nothing against colour */
	int utf8;    /* the locale's characters are in UTF-8 */
	int width;   /* columns */
	int height;  /* rows; 0: without an end */
};

/* As things are now; call setlocale(LC_CTYPE, "") before. */
struct terminal terminal(void);

#endif
