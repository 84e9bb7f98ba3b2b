/* SPDX-License-Identifier: 0BSD */
/* Shared by the benchmarks: their output. */
#include <config.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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
