/* SPDX-License-Identifier: 0BSD */
/* How well is the core used?
 * cc -O2 instructions-per-cycle.c -lcpucycles && ./a.out
 *
 * It prints the instructions of two functions, the cycles, and their quotient:
 * one waits for a multiplication in each turn, the other guesses; or why none
 * are counted here.
 *
 * A core retires four or more instructions a cycle, unless it waits for memory
 * or has mispredicted a branch. The number of instructions is the same in each
 * run: it shows which of two functions is longer, even on a busy machine. */
#include <stdint.h>
#include <stdio.h>
#include <cpucycles.h>

#define WORDS 100000

static uint32_t words[WORDS], count;

static void random_words(void)
{
	uint32_t word = 1;

	for (int i = 0; i < WORDS; i++)
		words[i] = word = word * 1664525 + 1013904223;
}

static void branches(void) /* each is a guess */
{
	count = 0;
	for (int i = 0; i < WORDS; i++) {
		if (words[i] >> 31)
			count += words[i] & 255;
		__asm__ volatile("" ::: "memory");
	}
}

static void measure(const char *name, void (*function)(void))
{
	long long cycles[2], instructions[2];

	function(); /* into the caches */
	cpucycles_pair(&cycles[0], &instructions[0]);
	function();
	cpucycles_pair(&cycles[1], &instructions[1]);
	cycles[1] -= cycles[0];
	instructions[1] -= instructions[0];
	printf("%s: %lld instructions, %lld cycles: %.2f a cycle\n", name,
	       instructions[1], cycles[1],
	       (double)instructions[1] / (double)cycles[1]);
}

int main(void)
{
	struct cpucycles_counter c = {.reason = "not on this system"};

	if (cpucycles_instructions() < 0) {
		cpucycles_instructionscounter(&c, sizeof c);
		printf("no instructions: %s; %s\n", c.reason, c.hint);
		return 0;
	}
	measure("generator", random_words);
	measure("branches", branches);
	return 0;
}
