/* SPDX-License-Identifier: 0BSD */
/* Prints the rate of this machine's time-stamp counter, in kHz. An emulated
 * amd64 machine has the same, but cannot measure it on a busy host. */
#include <stdio.h>
#include <time.h>

#define TRY_NS 20000000ull

static unsigned long long ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (unsigned long long)t.tv_sec * 1000000000 +
	       (unsigned long long)t.tv_nsec;
}

/* Both clocks at once: in the shortest of several tries. */
static void both(unsigned long long *time, unsigned long long *ticks)
{
	unsigned long long a, t, b, least = ~0ull;
	int i;

	for (i = 0; i < 100; i++) {
		a = __builtin_ia32_rdtsc();
		t = ns();
		b = __builtin_ia32_rdtsc();
		if (b - a < least) {
			least = b - a;
			*time = t;
			*ticks = a + (b - a) / 2;
		}
	}
}

int main(void)
{
	unsigned long long time, ticks, now, then;

	both(&time, &ticks);
	while (ns() - time < TRY_NS)
		;
	both(&now, &then);
	printf("%llu\n", (then - ticks) * 1000000 / (now - time));
}
