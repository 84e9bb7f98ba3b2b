/* SPDX-License-Identifier: 0BSD */
/* A counter as its file describes it, and as found on this machine. */
#ifndef CPUC_SLOT_H
#define CPUC_SLOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "cpucycles.h"
#include "scale.h"

/* Runs once or so: rather small than fast, with all that it alone calls. */
#define CPUC_COLD __attribute__((cold))

/* The best first. */
enum cpuc_kind {
	CPUC_CORE,
	CPUC_CORE_KERNEL,
	CPUC_CALIBRATED,
	CPUC_REFERENCE,
	CPUC_OS,
	CPUC_ZERO
};

extern const struct cpuc_kind_row {
	const char *name; /* public, like `id` */
	enum cpucycles_kind_id id;
	/* Cycles added to a measured step: truer wins over finer. */
	long long added;
} cpuc_kinds[];

struct cpuc_slot;
struct cpuc_event_set;
struct cpuc_clock;

/* A counter as its file describes it; listed in configure.ac. */
struct cpuc_counter {
	const char *name; /* public: never changes */
	enum cpuc_kind kind;
	unsigned bits; /* of the hardware; 0 is 64 */
	bool strict;   /* may be a clock: proven by one chain, within 1% */

	struct cpuc_clock *clock;      /* NULL: `read` returns core cycles */
	struct cpuc_event_set *events; /* this thread's, opened before open() */
	long long (*read)(void);       /* the raw count, from any thread */

	/* Of a counter of instructions: reads cycles and instructions of one
	 * instant. NULL: the events of `cycles` are read as well. */
	void (*pair)(long long pair[2]);
	const struct cpuc_counter *cycles;

	/* Asks the system whether the counter may be used, and gets ready: 0 or
	 * cpuc_reason()'s. NULL: nothing to do. Reads are tried later. */
	int (*open)(struct cpuc_slot *slot);
};

/* Defines counter ID, which ID_read() reads; then come its fields. */
#define CPUC_DEFINE_COUNTER(id, of_name, ...)           \
	const struct cpuc_counter cpuc_counter_##id = { \
		.name = of_name, .read = id##_read, __VA_ARGS__};

/* Defines a function that reads a register by one instruction. */
#define CPUC_ASM_READ(type, name, instruction)                \
	static inline __attribute__((unused)) type name(void) \
	{                                                     \
		type value;                                   \
                                                              \
		__asm__ volatile(instruction : "=r"(value));  \
		return value;                                 \
	}

/* How callers read the counter. Made before the slot is first published, and
 * constant from then on: any thread may use it without the lock, and counts
 * stay comparable when the counter is selected again. */
struct cpuc_reader {
	struct cpuc_scale scale; /* raw count to cycles */

	/* The value for `cpucycles`, stored last; NULL: not made yet. */
	long long (*entry)(void);
};

/* The result of the latest trial. */
struct cpuc_trial {
	bool tried; /* or not to be: the reason says why */
	bool usable;
	long long step; /* cycles, call included; 0: not usable */
	/* why not usable */
	char reason[sizeof((struct cpucycles_counter *)0)->reason];
	const char *hint; /* how to make it usable; NULL: unknown */
};

/* A counter on this machine. */
struct cpuc_slot {
	const struct cpuc_counter *counter; /* in one slot of a process */
	struct cpuc_reader reader;          /* made once */
	struct cpuc_trial trial; /* by each selection, under the lock */
};

/* Keeps the reason why a counter is not usable, and returns -ENOTSUP. */
int cpuc_reason(struct cpuc_slot *slot, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* The rank of a usable counter, the lowest is the best; 0: not usable. */
long long cpuc_precision(const struct cpuc_slot *slot);

/* Completes the reader, whose scale is set. */
void cpuc_compose(struct cpuc_slot *slot);

/* The count as callers would get it if the slot were selected. */
static inline long long cpuc_slot_read(const struct cpuc_slot *slot)
{
	return (long long)cpuc_scale_apply(&slot->reader.scale,
					   (uint64_t)slot->counter->read());
}

/* Upward calls. A thread on a weakly ordered CPU may run a new reader before it
 * sees that reader's state; a child may lack state if its parent was selecting
 * at the fork. The reader then calls one of these, whose lock orders all. */

/* The first value of `cpucycles`: selects, or waits for who does. */
long long cpuc_first(void);

/* The same for instructions; -1: they cannot be counted. */
long long cpuc_first_instructions(void);

/* The calling thread counts by these events on a type of core for the first
 * time in the process: tries them there, by chains. If they are wrong, selects
 * anew. */
void cpuc_first_on_core(struct cpuc_event_set *set);

/* The selected slot, which a scaled entry reads. Never NULL. */
extern const struct cpuc_slot *cpuc_current;

#endif
