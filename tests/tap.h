/* SPDX-License-Identifier: 0BSD */
/* Test Anything Protocol for C tests: libc alone, so that a test also runs
 * statically linked under an emulator. One translation unit a test. */
#ifndef TAP_H
#define TAP_H

#include <float.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined __SANITIZE_THREAD__ || __has_feature(thread_sanitizer)
#define SANITIZED_THREADS 1
#else
#define SANITIZED_THREADS 0
#endif
#if SANITIZED_THREADS || defined __SANITIZE_ADDRESS__ || \
	__has_feature(address_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

static unsigned tap_run, tap_bad;

/* One test point; the text says what holds when it passes. Returns cond. */
__attribute__((format(printf, 2, 3), unused)) static int
ok(int cond, const char *fmt, ...)
{
	va_list ap;

	tap_run++;
	if (!cond)
		tap_bad++;
	printf("%sok %u - ", cond ? "" : "not ", tap_run);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	return cond;
}

/* A line, after what it begins with. */
__attribute__((format(printf, 2, 3), unused)) static void
tap_line(const char *begin, const char *fmt, ...)
{
	va_list ap;

	fputs(begin, stdout);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	puts("");
	fflush(stdout);
}

/* A point that this machine cannot check, with the reason. */
#define skip(...) \
	(printf("ok %u # SKIP ", ++tap_run), tap_line("", __VA_ARGS__))

/* A line for the reader of the log. */
#define diag(...) tap_line("# ", __VA_ARGS__)

/* The whole program cannot run here: reports one skipped plan and exits. */
#define skip_all(...) (tap_line("1..0 # SKIP ", __VA_ARGS__), exit(0))

/* In place of main: it cannot run where it was compiled for. */
#define SKIPPED_MAIN(...)              \
	int main(void)                 \
	{                              \
		skip_all(__VA_ARGS__); \
	}

/* Whether a measured value is where it belongs. If not, says where that is, and
 * what it means. NO_LIMIT is for the side where any value will do. */
#define NO_LIMIT DBL_MAX
__attribute__((unused)) static int bounded(double low, double value,
					   double high, const char *meaning)
{
	if (low <= value && value <= high)
		return 1;
	if (value < low)
		diag("%.6g is less than %.6g: %s", value, low, meaning);
	else
		diag("%.6g is more than %.6g: %s", value, high, meaning);
	return 0;
}

/* How many there are in an array. */
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* Last statement of main: the plan, and main's exit status. */
__attribute__((unused)) static int done_testing(void)
{
	printf("1..%u\n", tap_run);
	return tap_bad != 0;
}

#endif
