/* SPDX-License-Identifier: 0BSD */
/* Does every process get the same counter? Forks N processes that have not
 * selected one (1000 unless the argument says otherwise), one after the other,
 * and prints how many got which. Run it beside busy loops: one on the SMT
 * sibling of the CPU that it runs on shows the most. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cpucycles.h"

#define NAMES 32

static struct {
	char name[64];
	long n;
} got[NAMES];

static void add(const char *name)
{
	int i;

	for (i = 0; i < NAMES - 1 && got[i].n > 0; i++)
		if (!strcmp(got[i].name, name))
			break;
	snprintf(got[i].name, sizeof got[i].name, "%s", name);
	got[i].n++;
}

/* The child's answer, or "none" if it fails. */
static void one(void)
{
	char name[64] = "none";
	const char *own;
	int fd[2], status;
	ssize_t len;
	pid_t pid;

	if (pipe(fd) != 0 || (pid = fork()) < 0) {
		perror("same_counter");
		exit(1);
	}
	if (pid == 0) {
		own = cpucycles_implementation();
		_exit(write(fd[1], own, strlen(own)) < 0);
	}
	close(fd[1]);
	len = read(fd[0], name, sizeof name - 1);
	if (len > 0)
		name[len] = '\0';
	close(fd[0]);
	waitpid(pid, &status, 0);
	add(name);
}

int main(int argc, char **argv)
{
	long n = argc > 1 ? atol(argv[1]) : 1000, i;

	for (i = 0; i < n; i++)
		one();
	for (i = 0; i < NAMES && got[i].n > 0; i++)
		printf("%ld %s\n", got[i].n, got[i].name);
	return i > 1;
}
