/* SPDX-License-Identifier: 0BSD */
/* What a counter may see or miss: a chain of instructions that takes a known
 * number of cycles, in this thread or elsewhere, and a wait as long. */
#ifndef COMPARE_SCENARIO_H
#define COMPARE_SCENARIO_H

#ifdef __cplusplus
extern "C" {
#endif

struct scenario {
	const char *name;
	void (*run)(void);
};

/* The last one has no name. */
extern const struct scenario scenarios[];

/* Sets the length of the chain, in cycles. Ends the program with status 77
 * where no chain of known length is known. */
void scenario_length(double cycles);

#ifdef __cplusplus
}
#endif
#endif
