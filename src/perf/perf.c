/* SPDX-License-Identifier: 0BSD */
/* Whether perf events can be read here, how every thread is to open a
 * counter's, and cycles and instructions of one instant. */
#include <config.h>
#include <errno.h>
#include "../system/syscalls.h"
#include "../thread/memory.h"
#include "perf.h"
#include "read.h"

#define CPUC_OPEN_HINT "run cpucycles-open --apply as root"
#define PARANOID "/proc/sys/kernel/perf_event_paranoid"

static int perf_explain(struct cpuc_slot *slot,
			const struct cpuc_event_set *set, int err,
			unsigned exclude)
{
	long level, need = exclude & CPUC_NO_KERNEL ? 2 : 1;
	/* Not by strerror(3), which translates, takes locks and allocates. */
	const char *denied = err == -EPERM    ? "EPERM"
			     : err == -EACCES ? "EACCES"
			     : err == -ENOSYS ? "ENOSYS"
					      : NULL;

	if (err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP) {
		cpuc_reason(slot, "%s",
			    set->counts == PERF_COUNT_HW_INSTRUCTIONS
				    ? CPUC_NO_INSTRUCTIONS
				    : CPUC_NO_PMU);
		slot->trial.hint = CPUC_NO_PMU_HINT;
	} else if (err == -EACCES && cpuc_setting(PARANOID, &level) &&
		   level > need) {
		cpuc_reason(
			slot,
			"perf_event_paranoid is %ld, and %ld or less is needed",
			level, need);
		slot->trial.hint =
			need == 2 ? CPUC_OPEN_HINT
				  : "run sysctl kernel.perf_event_paranoid=1 "
				    "as root";
	} else if (err == -ENOSYS && !cpuc_setting(PARANOID, &level)) {
		cpuc_reason(slot, "perf_event_open: ENOSYS (kernel without "
				  "perf events?)");
	} else if (denied != NULL) {
		cpuc_reason(slot, "perf_event_open: %s (container?)", denied);
		slot->trial.hint = "its seccomp profile must allow this call";
	} else {
		cpuc_reason(slot, "perf_event_open: errno %d", -err);
	}
	return err;
}

/* Opens an event with the first exclude bits that are permitted. Some PMUs
 * cannot exclude the kernel; ordinary users must. */
static int perf_open_event(const struct cpuc_event_set *set, unsigned *exclude)
{
	static const unsigned bits[] = {CPUC_NO_KERNEL | CPUC_NO_HV,
					CPUC_NO_KERNEL, CPUC_NO_HV, 0};
	const struct cpuc_event generic = {PERF_TYPE_HARDWARE, set->counts};
	int i, fd = -EINVAL;

	for (i = 0; i < 4; i++) {
		*exclude = bits[i];
		fd = cpuc_event_open(&generic, set->config1, bits[i]);
		/* Other bits would not help. */
		if (fd >= 0 || fd == -ENOENT || fd == -ENODEV ||
		    fd == -ENOSYS || fd == -EACCES)
			break;
	}
	return fd;
}

/* One event for each type of core or, if any is refused, the generic one. */
static void perf_cores(struct cpuc_event_set *set, unsigned exclude)
{
	unsigned i, n = set->n;
	int fd;

	for (i = 0; n > 1 && i < n; i++) {
		fd = cpuc_event_open(&set->event[i], set->config1, exclude);
		if (fd < 0)
			break;
		cpuc_sys_close(fd);
	}
	if (i < n)
		set->event[0] =
			(struct cpuc_event){PERF_TYPE_HARDWARE, set->counts};
	set->n = i < n ? 1 : n;
}

/* Whether users may read this thread's event. -EBUSY: perhaps later. */
static int perf_read(struct cpuc_slot *slot, struct cpuc_event_set *set,
		     const char *file, long allowed)
{
	cpuc_perf_slow(set);
	if (set->reg != NULL ? cpuc_perf_index(set) != 0
			     : cpuc_perf_thread_own(set)->set == set)
		return 0;
	cpuc_perf_close(set);
	if (set->reg == NULL) {
		slot->trial.hint = "its seccomp profile must allow ioctl";
		return cpuc_reason(slot, "perf_event_open works, but its event "
					 "cannot be read (container?)");
	}
	if (allowed < 0) {
		slot->trial.hint = CPUC_OPEN_HINT;
		return cpuc_reason(slot,
				   "%s is 0, or the kernel has no counter to "
				   "give",
				   file);
	}
	cpuc_reason(slot, "index 0: the kernel has no counter to give");
	return allowed > 0 ? -EBUSY : -ENOTSUP;
}

CPUC_COLD int cpuc_perf_try(struct cpuc_slot *slot, struct cpuc_event_set *set)
{
	const char *file = NULL;
	unsigned exclude = 0;
	long allowed = 0;
	int err, fd = -ENOENT;

	if (set == NULL || cpuc_perf_index(set) != 0)
		return 0;
	/* First sysfs: a seccomp filter may kill what opens an event. */
	if (set->opened == 0 && !set->absent) {
		set->n = cpuc_core_pmus(set->event, set->counts);
		set->absent = set->n == 0;
	}
	if (set->n > 0)
		file = cpuc_first_setting(set->access, &allowed);
	/* Registers are shut to users, so no event is opened: on arm64 that
	 * would shut to all what a module has opened (armv8pmu_start()). */
	if (file != NULL && (allowed == 0 || allowed == set->outside)) {
		slot->trial.hint = allowed == 0 ? CPUC_OPEN_HINT
						: "reads by perf events need "
						  "it to be 1";
		return cpuc_reason(slot, "%s is %ld", file, allowed);
	}
	if (set->n > 0)
		fd = perf_open_event(set, &exclude);
	if (fd < 0)
		return perf_explain(slot, set, fd, exclude);
	cpuc_sys_close(fd);
	err = cpuc_thread_prepare();
	if (err != 0)
		return cpuc_reason(slot, "pthread_key_create: errno %d", -err);
	if (set->opened == 0)
		perf_cores(set, exclude);
	/* After event[], n and absent, for who acquires it in another thread.
	 */
	__atomic_store_n(&set->opened, 1 + exclude, __ATOMIC_RELEASE);
	return perf_read(slot, set, file, allowed);
}

bool cpuc_perf_opened(const struct cpuc_event_set *set)
{
	return set == NULL ||
	       __atomic_load_n(&set->opened, __ATOMIC_ACQUIRE) != 0;
}

void cpuc_perf_proved(struct cpuc_event_set *set, bool right)
{
	unsigned on;

	if (set == NULL)
		return;
	on = cpuc_perf_thread_own(set)->on;
	/* The thread moved: each type has had a part of the trial. */
	if (right && (on & (on - 1)) != 0)
		on = 0;
	__atomic_store_n(&set->right, right, __ATOMIC_RELAXED);
	__atomic_store_n(&set->proven,
			 right ? set->proven | on : set->proven & ~on,
			 __ATOMIC_RELAXED);
}

bool cpuc_perf_unproven(const struct cpuc_event_set *set)
{
	return cpuc_perf_thread_unproven(cpuc_perf_thread_own(set), set);
}

bool cpuc_perf_right(const struct cpuc_event_set *set)
{
	return __atomic_load_n(&set->right, __ATOMIC_RELAXED);
}

void cpuc_perf_close(struct cpuc_event_set *set)
{
	struct cpuc_guard guard;

	if (set != NULL && cpuc_perf_thread_own(set)->set == set &&
	    cpuc_guard_enter(&guard)) {
		cpuc_perf_drop(cpuc_perf_thread_own(set), false);
		cpuc_guard_leave(&guard);
	}
}

int cpuc_perf_absent(struct cpuc_slot *slot, struct cpuc_event_set *set)
{
	bool had = cpuc_perf_index(set) != 0;
	int err = cpuc_perf_try(slot, set);

	if (!had)
		cpuc_perf_close(set);
	slot->trial.reason[0] = '\0';
	slot->trial.hint = NULL;
	if (err != 0 && err != -EBUSY)
		return 0;
	return cpuc_reason(slot, "the kernel uses it for perf events, which "
				 "the per-thread counters read");
}

/* Cycles: fewer than a signal handler takes, more than the reads do. Reads by
 * system calls may take more: then the last pair of PAIR_TRIES will do. */
#define PAIR_NEAR 1000
#define PAIR_TRIES 4

/* False: the thread has been switched or has not counted yet, so this read took
 * longer than the next one will. */
static bool perf_pair_read(struct cpuc_event_set *set, long long *count)
{
	uint64_t sum;

	if (cpuc_perf_quick(cpuc_perf_thread_own(set), set->reg, &sum)) {
		*count = (long long)sum;
		return true;
	}
	*count = cpuc_perf_slow(set);
	return set->reg == NULL;
}

/* Between two reads a switch adds to neither event: both are pinned and count
 * one thread. A handler shows in the cycles. No perf group: see HACKING.md. */
void cpuc_perf_pair(struct cpuc_event_set *cycles,
		    struct cpuc_event_set *instructions, long long pair[2])
{
	long long after;
	bool quick;
	int i;

	for (i = 0; i < PAIR_TRIES; i++) {
		quick = perf_pair_read(cycles, &pair[0]);
		quick &= perf_pair_read(instructions, &pair[1]);
		quick &= perf_pair_read(cycles, &after);
		if (after - pair[0] < PAIR_NEAR && quick)
			break;
	}
}
