/* SPDX-License-Identifier: 0BSD */
/* deny CALL HOW PROGRAM [ARGUMENT]...: runs a program that may not make a
 * system call; what the loader itself needs can be denied to static programs
 * alone. Exit status 77 where filters cannot be installed. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "deny.h"

int main(int argc, char **argv)
{
#ifdef HAVE_LINUX_FILTER_H
	int call = 0, how = 0;

	while (argc > 3 && call < DENIED_CALLS &&
	       strcmp(denied_calls[call].name, argv[1]) != 0)
		call++;
	while (argc > 3 && how < DENIED_HOW &&
	       strcmp(denied_how[how].name, argv[2]) != 0)
		how++;
	if (argc <= 3 || call == DENIED_CALLS || how == DENIED_HOW) {
		fprintf(stderr, "Usage: %s CALL HOW PROGRAM [ARGUMENT]...\n",
			argv[0]);
		return 2;
	}
	if (deny_call(&denied_calls[call], &denied_how[how]) != 0)
		return 77;
	execvp(argv[3], argv + 3);
	perror(argv[3]);
	return 2;
#else
	(void)argc;
	(void)argv;
	return 77;
#endif
}
