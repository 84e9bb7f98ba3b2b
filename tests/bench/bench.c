/* SPDX-License-Identifier: 0BSD */
/* Shared by the benchmarks: their output. */
#include <config.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "bench.h"

__attribute__((format(printf, 3, 0))) static void
text(const char *what, const char *table, const char *fmt, va_list ap)
{
	printf("%s\t%s\t", what, table);
	vprintf(fmt, ap);
	putchar('\n');
}

void bench_title(const char *table, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text("title", table, fmt, ap);
	va_end(ap);
}

void bench_note(const char *table, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	text("note", table, fmt, ap);
	va_end(ap);
}

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

int bench_rounds(int n)
{
	return (getenv("BENCH_QUICK") ? n / 10 : n) | 1;
}

long long bench_median(long long *v, int n)
{
	stats_sort(v, n);
	return stats_quantile(v, n, 1, 2);
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

void bench_progress(const char *part, const char *what)
{
	if (isatty(2))
		fprintf(stderr, "\r\033[K%s %s", part, what);
}
