/* SPDX-License-Identifier: 0BSD */
/* Shared by the fuzz targets: libFuzzer's entry, a macro that reports findings,
 * and functions that take a byte string apart. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The condition must hold for every input; otherwise it is a finding. */
#define MUST(condition, ...)                                               \
	do {                                                               \
		if (!(condition)) {                                        \
			fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, \
				#condition);                               \
			fprintf(stderr, __VA_ARGS__);                      \
			fprintf(stderr, "\n");                             \
			abort();                                           \
		}                                                          \
	} while (0)

/* The rest of an input; zeros follow its end. */
struct fuzz_bytes {
	const uint8_t *at;
	size_t left;
};

__attribute__((unused)) static uint8_t fuzz_byte(struct fuzz_bytes *b)
{
	if (b->left == 0)
		return 0;
	b->left--;
	return *b->at++;
}

#define FUZZ_REST 256 /* no byte: all that is left */

/* The bytes up to a separator or the end, in memory of exactly their size, so
 * that reading past them is found; to be freed. */
__attribute__((unused)) static char *fuzz_part(struct fuzz_bytes *b,
					       int separator, size_t *size)
{
	const uint8_t *end = NULL;
	char *part;

	if (b->left && separator != FUZZ_REST)
		end = memchr(b->at, separator, b->left);
	*size = end ? (size_t)(end - b->at) : b->left;
	part = malloc(*size ? *size : 1);
	MUST(part, "no memory");
	if (*size)
		memcpy(part, b->at, *size);
	b->at += *size;
	b->left -= *size;
	if (end)
		fuzz_byte(b);
	return part;
}

#endif
