/* SPDX-License-Identifier: 0BSD */
/* Shared by the benchmarks: their output, and processes of their own. */
#include <config.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench.h"

void bench_value(const char *table, const char *row, const char *column,
		 const char *fmt, ...)
{
	va_list ap;

	printf("value\t%s\t%s\t%s\t", table, row, column);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
}

void bench_skip(const char *why)
{
	fprintf(stderr, "bench: %s\n", why);
	exit(77);
}

int bench_rounds(int n)
{
	return (getenv("BENCH_QUICK") ? n / 10 : n) | 1;
}

bool bench_process(void (*f)(void *result), void *result, size_t size)
{
	int fd[2], status = -1;
	ssize_t got;
	pid_t pid;

	fflush(NULL);
	if (pipe(fd) != 0 || (pid = fork()) < 0)
		return false;
	if (pid == 0) {
		f(result);
		_exit(write(fd[1], result, size) != (ssize_t)size);
	}
	close(fd[1]);
	got = read(fd[0], result, size);
	close(fd[0]);
	waitpid(pid, &status, 0);
	return status == 0 && got == (ssize_t)size;
}
