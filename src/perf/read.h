/* SPDX-License-Identifier: 0BSD */
/* The count of a thread's perf events: inline where the kernel permits that. */
#ifndef CPUC_PERF_READ_H
#define CPUC_PERF_READ_H

#include "thread_events.h"

/* The count, with any system calls that are needed. Selects where nothing has,
 * and on a type of core that is new to the process has chains run. */
long long cpuc_perf_slow(struct cpuc_event_set *set);

/* The index of the register that this thread's event is on now. 0: it has not
 * opened this set's, or can only read them by system calls. */
uint32_t cpuc_perf_index(struct cpuc_event_set *set);

/* Reads a thread's events for the last time, and closes them. In the guard. */
void cpuc_perf_drop(struct cpuc_perf_thread *t, bool ending);

/* Tests change the page between any two accesses. */
#ifndef CPUC_GET
#define CPUC_GET(page, field) ((page)->field)
#endif

/* A register's value as the kernel takes it: signed, with 64 - unused bits. */
static inline uint64_t cpuc_sign_extend(uint64_t value, unsigned unused)
{
	return (uint64_t)((int64_t)(value << unused) >> unused);
}

/* The count. False if the kernel has updated the page since `t` was filled in
 * (at a switch, an overflow), and in a forked child, which has no page. */
static inline __attribute__((always_inline)) bool
cpuc_perf_quick(struct cpuc_perf_thread *t, cpuc_register *reg, uint64_t *count)
{
	uint64_t sum, value;
	cpuc_page *page;
	uint32_t lock, index, unused;

	if (__builtin_expect(*(const volatile uint32_t *)t->quick == 0, 0))
		return false;
	/* A handler in between may fill in the state again, by read_pages(): to
	 * that an older sum does not belong, which the second look shows. The
	 * page last: on another type of core an old lock may be right for the
	 * new page, but a new one must not be for the old page, which later
	 * switches leave alone. Compiler barriers are enough: the kernel writes
	 * the page on this thread's CPU alone, or while it is switched out. */
	sum = t->sum;
	lock = t->lock;
	CPUC_FENCE();
	page = t->page;
	/* A switch may have taken the register from users: SIGILL. */
	if (__builtin_expect(CPUC_GET(page, lock) != lock, 0))
		return false;
	/* What happens from here to the second look shows there: the page's
	 * lock changes with a switch, the sum with a handler's drop. */
	CPUC_FENCE();
	index = t->index;
	unused = t->unused;
	value = cpuc_sign_extend(reg(index), unused);
	CPUC_FENCE();
	if (__builtin_expect(CPUC_GET(page, lock) != lock || t->sum != sum, 0))
		return false;
	sum += value;
	t->last = sum;
	*count = sum;
	return true;
}

#define CPUC_EIGHT_REGISTERS(CASE, a, c) \
	CASE(a, c, 0)                    \
	CASE(a, c, 1)                    \
	CASE(a, c, 2)                    \
	CASE(a, c, 3)                    \
	CASE(a, c, 4)                    \
	CASE(a, c, 5)                    \
	CASE(a, c, 6)                    \
	CASE(a, c, 7)

/* A switch with a CASE(a, 8 + a, b) for each register 8 * a + b. */
#define CPUC_REGISTERS(number, CASE)              \
	switch (number) {                         \
		CPUC_EIGHT_REGISTERS(CASE, 0, 8)  \
		CPUC_EIGHT_REGISTERS(CASE, 1, 9)  \
		CPUC_EIGHT_REGISTERS(CASE, 2, 10) \
		CPUC_EIGHT_REGISTERS(CASE, 3, 11) \
	default:                                  \
		break;                            \
	}

/* A counter's read. `counts` and `reg` are the set's, as constants. */
static inline __attribute__((always_inline, unused)) long long
cpuc_perf_count(struct cpuc_event_set *set, unsigned counts, cpuc_register *reg)
{
	uint64_t count;

	if (reg != NULL && cpuc_perf_quick(&cpuc_perf_own[counts], reg, &count))
		return (long long)count;
	return cpuc_perf_slow(set);
}

/* Defines counter ID and the counter of instructions beside it. The arguments
 * after config1 initialise fields of both event sets. */
#define CPUC_PERF_COUNTERS(id, of_name, of_kind, cycle_events, of_register,    \
			   cycle_config1, instruction_config1, ...)            \
	struct cpuc_event_set cycle_events = {                                 \
		.counts = PERF_COUNT_HW_CPU_CYCLES,                            \
		.reg = of_register,                                            \
		.config1 = cycle_config1,                                      \
		__VA_ARGS__};                                                  \
	static struct cpuc_event_set id##_instruction_events = {               \
		.counts = PERF_COUNT_HW_INSTRUCTIONS,                          \
		.reg = of_register,                                            \
		.config1 = instruction_config1,                                \
		__VA_ARGS__};                                                  \
                                                                               \
	static long long id##_read(void)                                       \
	{                                                                      \
		return cpuc_perf_count(&cycle_events,                          \
				       PERF_COUNT_HW_CPU_CYCLES, of_register); \
	}                                                                      \
                                                                               \
	static long long id##_instructions(void)                               \
	{                                                                      \
		return cpuc_perf_count(&id##_instruction_events,               \
				       PERF_COUNT_HW_INSTRUCTIONS,             \
				       of_register);                           \
	}                                                                      \
                                                                               \
	CPUC_DEFINE_COUNTER(id, of_name, .kind = of_kind,                      \
			    .events = &cycle_events)                           \
	const struct cpuc_counter cpuc_instructions_##id = {                   \
		.name = of_name,                                               \
		.kind = of_kind,                                               \
		.events = &id##_instruction_events,                            \
		.cycles = &cpuc_counter_##id,                                  \
		.read = id##_instructions,                                     \
	};

#endif
