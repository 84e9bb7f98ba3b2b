/* SPDX-License-Identifier: 0BSD */
/* Whether perf events can be read here, and if not, why; and how a counter's
 * events are to be opened in every thread. */
#include <config.h>
#include "open.h"
#if !HAVE_COUNTER_DEFAULT_PERFEVENT

int cpuc_perf_open(struct cpuc_slot *slot, struct cpuc_pmu *pmu)
{
	(void)slot;
	(void)pmu;
	return 0;
}

void cpuc_perf_close(struct cpuc_pmu *pmu)
{
	(void)pmu;
}

#else
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "read.h"

static int perf_open_explain(struct cpuc_slot *slot, const struct cpuc_pmu *pmu,
			     int err, unsigned exclude)
{
	long level, need = exclude & CPUC_NO_KERNEL ? 2 : 1;
	bool denied = err == -EPERM || err == -EACCES || err == -ENOSYS;

	if (err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP) {
		cpuc_reason(slot, "%s",
			    pmu->counts == PERF_COUNT_HW_INSTRUCTIONS
				    ? CPUC_NO_INSTRUCTIONS
				    : CPUC_NO_PMU);
		cpuc_hint(slot, CPUC_NO_PMU_HINT);
	} else if (err == -EACCES &&
		   cpuc_setting("/proc/sys/kernel/perf_event_paranoid",
				&level) &&
		   level > need) {
		cpuc_reason(slot,
			    "perf_event_paranoid is %ld, and %ld or less is "
			    "needed",
			    level, need);
		cpuc_hint(slot, "run %s as root",
			  need == 2 ? "cpucycles-open"
				    : "sysctl kernel.perf_event_paranoid=1");
	} else {
		cpuc_reason(slot, "perf_event_open: %s%s", strerror(-err),
			    denied ? " (container?)" : "");
		cpuc_hint(slot, "%s",
			  denied ? "its seccomp profile must allow this call"
				 : "");
	}
	return err;
}

/* Finds the exclude bits with which an event opens, and opens it. Some PMUs
 * cannot leave the kernel out, and refuse that; ordinary users may not leave
 * it in, and are refused. */
static int perf_open_try(const struct cpuc_pmu *pmu, unsigned *exclude)
{
	static const unsigned bits[] = {CPUC_NO_KERNEL | CPUC_NO_HV,
					CPUC_NO_KERNEL, CPUC_NO_HV, 0};
	const struct cpuc_event generic = {PERF_TYPE_HARDWARE, pmu->counts};
	int i, fd = -EINVAL;

	for (i = 0; i < 4; i++) {
		*exclude = bits[i];
		fd = cpuc_event_open(&generic, pmu->config1, bits[i]);
		/* Other bits would not help. */
		if (fd >= 0 || fd == -ENOENT || fd == -ENODEV ||
		    fd == -ENOSYS || fd == -EACCES)
			break;
	}
	return fd;
}

/* One event for each type of core, unless the kernel refuses one of them. */
static void perf_open_cores(struct cpuc_pmu *pmu, unsigned exclude)
{
	unsigned i, n = cpuc_core_pmus(pmu->event, pmu->counts);
	int fd;

	for (i = 0; n > 1 && i < n; i++) {
		fd = cpuc_event_open(&pmu->event[i], pmu->config1, exclude);
		if (fd < 0)
			break;
		cpuc_event_close(fd);
	}
	if (i < n)
		pmu->event[0] =
			(struct cpuc_event){PERF_TYPE_HARDWARE, pmu->counts};
	pmu->events = i < n ? 1 : n;
}

/* Whether this thread's event, which opens, can be read without system calls.
 * -EBUSY: at other times, maybe. */
static int perf_open_page(struct cpuc_slot *slot, struct cpuc_pmu *pmu)
{
	const char *file;
	long allowed = -1;

	cpuc_perf_slow(pmu);
	if (cpuc_perf_readable(pmu))
		return 0;
	cpuc_perf_drop(pmu);
	file = cpuc_first_setting(pmu->access, &allowed);
	if (allowed == 0) {
		cpuc_reason(slot, "%s is 0", file);
		cpuc_hint(slot, "run cpucycles-open as root");
	} else {
		cpuc_reason(slot, "index 0: the kernel has no counter to give");
	}
	return allowed > 0 ? -EBUSY : -ENOTSUP;
}

int cpuc_perf_open(struct cpuc_slot *slot, struct cpuc_pmu *pmu)
{
	unsigned exclude;
	int err, fd;

	if (pmu == NULL || (pmu->reg != NULL && cpuc_perf_readable(pmu)))
		return 0;
	/* A second event would take the register of the first. */
	cpuc_perf_make_room(pmu);
	fd = perf_open_try(pmu, &exclude);
	if (fd < 0)
		return perf_open_explain(slot, pmu, fd, exclude);
	cpuc_event_close(fd);
	err = cpuc_thread_prepare();
	if (err != 0) {
		cpuc_reason(slot, "pthread_key_create: %s", strerror(-err));
		return err;
	}
	if (pmu->opened == 0)
		perf_open_cores(pmu, exclude);
	__atomic_store_n(&pmu->opened, 1 + exclude, __ATOMIC_RELEASE);
	return pmu->reg ? perf_open_page(slot, pmu) : 0;
}

void cpuc_perf_close(struct cpuc_pmu *pmu)
{
	if (pmu != NULL)
		cpuc_perf_drop(pmu);
}

int cpuc_perf_absent(struct cpuc_slot *slot, struct cpuc_pmu *pmu)
{
	bool had = cpuc_perf_readable(pmu);
	int err = cpuc_perf_open(slot, pmu);

	if (!had)
		cpuc_perf_drop(pmu);
	cpuc_reason(slot, "%s", "");
	if (err != 0 && err != -EBUSY)
		return 0;
	cpuc_reason(slot, "the kernel gives this counter to perf events, by "
			  "which other counters read it");
	return -EBUSY;
}

#endif
