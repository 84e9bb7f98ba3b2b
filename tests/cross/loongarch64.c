/* SPDX-License-Identifier: 0BSD */
/* loong64-rdtime without a C library: the counter, and the engine's scaling of
 * it, against CLOCK_MONOTONIC. Anything that needs a libc is not linked, and
 * ends the program if it is called, such as the reason of a failure. */
#include <config.h>
#include "rate/clock.h"
#include "slot.h"
#include "system/os_clock.h"

#define PERSECOND UINT64_C(2500000000)
#define SYS_WRITE 64
#define SYS_EXIT 93
#define SYS_CLOCK_GETTIME 113
#define MONOTONIC 1

extern const struct cpuc_counter cpuc_counter_loong64_rdtime;

static int bad;

static long call(long number, long x, long y, long z)
{
	register long a7 __asm__("$a7") = number;
	register long a0 __asm__("$a0") = x;
	register long a1 __asm__("$a1") = y;
	register long a2 __asm__("$a2") = z;

	__asm__ volatile("syscall 0"
			 : "+r"(a0)
			 : "r"(a7), "r"(a1), "r"(a2)
			 : "memory", "$t0", "$t1", "$t2", "$t3", "$t4", "$t5",
			   "$t6", "$t7", "$t8");
	return a0;
}

static void say(const char *text)
{
	long n = 0;

	while (text[n] != '\0')
		n++;
	call(SYS_WRITE, 1, (long)text, n);
}

static void ok(int cond, const char *text)
{
	bad |= !cond;
	say(cond ? "ok - " : "not ok - ");
	say(text);
	say("\n");
}

/* In place of os_clock.c. */
uint64_t cpuc_os_clock_ns(void)
{
	uint64_t t[2] = {0, 0};

	call(SYS_CLOCK_GETTIME, MONOTONIC, (long)t, 0);
	return t[0] * 1000000000 + t[1];
}

/* The compiler asks for it. */
void *memset(void *to, int c, size_t n);

void *memset(void *to, int c, size_t n)
{
	volatile char *p = to;

	while (n-- > 0)
		*p++ = (char)c;
	return to;
}

_Noreturn void _start(void);

_Noreturn void _start(void)
{
	const struct cpuc_counter *counter = &cpuc_counter_loong64_rdtime;
	struct cpuc_clock *clock = counter->clock;
	struct cpuc_scale scale;
	uint64_t begin, ns, count, cycles, due;

	ok(clock->stated() != 0, "its rate is stated");
	ok(cpuc_clock_scale(clock, PERSECOND, &scale), "is scaled");
	begin = cpuc_os_clock_ns();
	count = (uint64_t)counter->read();
	do
		ns = cpuc_os_clock_ns() - begin;
	while (ns < 50000000);
	count = (uint64_t)counter->read() - count;
	cycles = cpuc_scale_apply(&scale, count);
	due = ns / 1000 * (PERSECOND / 1000000);
	ok(cycles > due - due / 5 && cycles < due + due / 5,
	   "advances as CLOCK_MONOTONIC does, within 20%");
	for (;;)
		call(SYS_EXIT, bad, 0, 0);
}
