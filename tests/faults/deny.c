/* SPDX-License-Identifier: 0BSD */
/* deny CALL PROGRAM [ARGUMENT]...: runs a program that may not make a system
 * call: it fails with EPERM. What the loader itself needs can be denied to
 * static programs alone. Exit status 77 where filters cannot be installed. */
#include <config.h>
#include <stdio.h>
#include "deny.h"

int main(int argc, char **argv)
{
#ifdef HAVE_LINUX_FILTER_H
	if (argc <= 2) {
		fprintf(stderr, "Usage: %s CALL PROGRAM [ARGUMENT]...\n",
			argv[0]);
		return 2;
	}
	if (deny_named(argv[1], SECCOMP_RET_ERRNO | EPERM) != 0)
		return 77;
	execvp(argv[2], argv + 2);
	perror(argv[2]);
	return 2;
#else
	(void)argc;
	(void)argv;
	return 77;
#endif
}
