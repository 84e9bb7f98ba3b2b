/* SPDX-License-Identifier: 0BSD */
/* Shared by the fuzz targets: libFuzzer's entry, and a macro that reports
 * findings. */
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

#endif
