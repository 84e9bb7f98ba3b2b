/* SPDX-License-Identifier: 0BSD */
/* The instructions of each chain's runs, in single steps: those that order the
 * clock's reads are where they belong, and nothing else is between. */
#include <config.h>
#include "tap.h"
#if defined __linux__ && defined __x86_64__ && HAVE_COUNTER_AMD64_TSCCORE
#include <limits.h>
#include <string.h>
#include "calibrated/chain.h"
#include "counters/x86.h"
#include "single_steps.h"

#define TURNS 3

/* What has been stepped over. */
static struct {
	int reads, loose;  /* of the clock; with no lfence before or after */
	int fences, begun; /* lfences since the latest, reads after three */
	bool fence, read;  /* the instruction before */
} seen;

/* At the next instruction of the running code. */
static void look(int sig, siginfo_t *info, void *context)
{
	const unsigned char *next =
		(const unsigned char *)((ucontext_t *)context)
			->uc_mcontext.gregs[REG_RIP];
	const bool fence = memcmp(next, "\x0f\xae\xe8", 3) == 0,
		   read = memcmp(next, "\x0f\x31", 2) == 0;

	(void)sig;
	(void)info;
	steps_made(context);
	seen.loose += (seen.read && !fence) || (read && !seen.fence);
	seen.fences += fence;
	if (read) {
		seen.begun += seen.fences >= 3;
		seen.reads++;
		seen.fences = 0;
	}
	seen.fence = fence;
	seen.read = read;
}

static void step(const struct cpuc_chain *chain)
{
	uint64_t stamp[3];

	memset(&seen, 0, sizeof seen);
	steps = LONG_MAX;
	__asm__ volatile("int3");
	chain->glimpse(TURNS, stamp);
	chain->window(1, stamp);
	steps = 0;
}

static bool any_step(void)
{
	step(cpuc_x86_tsc.chains->chain);
	return seen.reads > 0;
}

int main(void)
{
	const struct cpuc_chain_ops *of = cpuc_x86_tsc.chains;
	struct sigaction sa = {.sa_sigaction = look, .sa_flags = SA_SIGINFO};
	unsigned i;

	sigaction(SIGTRAP, &sa, NULL);
	if (SANITIZED || !steps_work(any_step))
		skip_all("no single steps here");
	for (i = 0; i < of->nchains; i++) {
		step(&of->chain[i]);
		ok(seen.reads == 6 && seen.loose == 0 && seen.begun == 5,
		   "%s: of %d reads %d lack an lfence beside them; %d chains "
		   "after the first begin with one",
		   of->chain[i].name, seen.reads, seen.loose, seen.begun);
	}
	return done_testing();
}
#else
SKIPPED_MAIN("single steps are known for x86-64 Linux alone")
#endif
