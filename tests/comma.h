/* SPDX-License-Identifier: 0BSD */
/* A locale with a decimal comma, whichever are installed. */
#ifndef COMMA_H
#define COMMA_H

#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "tree.h"

/* Sets a locale with a decimal comma that is made here; false: it cannot. */
static bool set_comma(void)
{
	char command[3 * sizeof(base)];

	put_text("/comma", "LC_NUMERIC\ndecimal_point \",\"\n"
			   "thousands_sep \".\"\ngrouping 3;3\n"
			   "END LC_NUMERIC\n");
	snprintf(command, sizeof(command),
		 "localedef -c -f ANSI_X3.4-1968 -i '%s' '%s/comma' "
		 ">/dev/null 2>&1",
		 place("/comma"), base);
	setenv("LOCPATH", base, 1);
	return system(command) >= 0 && setlocale(LC_NUMERIC, "comma") &&
	       strcmp(localeconv()->decimal_point, ",") == 0;
}

#endif
