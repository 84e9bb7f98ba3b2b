/* SPDX-License-Identifier: 0BSD */
/* Whether perf events can be read here, how they are opened, and if not, why.
 */
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

static int perf_open_explain(struct cpuc_slot *slot, int err, unsigned exclude)
{
	long level, need = exclude & CPUC_NO_KERNEL ? 2 : 1;
	bool denied = err == -EPERM || err == -EACCES || err == -ENOSYS;

	if (err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP) {
		cpuc_reason(slot, CPUC_NO_PMU);
		cpuc_hint(slot, CPUC_NO_PMU_HINT);
	} else if (err == -EACCES &&
		   cpuc_event_setting("/proc/sys/kernel/perf_event_paranoid",
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
	int i, fd = -EINVAL;

	for (i = 0; i < 4; i++) {
		*exclude = bits[i];
		fd = cpuc_event_open(0, pmu->config1, bits[i]);
		/* Other bits would not help. */
		if (fd >= 0 || fd == -ENOENT || fd == -ENODEV ||
		    fd == -ENOSYS || fd == -EACCES)
			break;
	}
	return fd;
}

/* The event config of one type of cores, where there are two. */
static bool perf_open_type(const char *directory, uint64_t *config)
{
	char path[80];
	long type;

	if (directory == NULL)
		return false;
	snprintf(path, sizeof path, CPUC_PMUS "%s/type", directory);
	if (!cpuc_event_setting(path, &type) || type <= 0)
		return false;
	/* PERF_PMU_TYPE_SHIFT, of Linux 5.13. */
	*config = (uint64_t)type << 32;
	return true;
}

static void perf_open_types(struct cpuc_pmu *pmu)
{
	bool both = perf_open_type(pmu->core_types[0], &pmu->config[0]) &&
		    perf_open_type(pmu->core_types[1], &pmu->config[1]);

	pmu->events = both ? 2 : 1;
	if (!both)
		pmu->config[0] = 0;
}

/* Whether this thread's event, which opens, can be read without system calls.
 * -EBUSY: at other times, maybe. */
static int perf_open_page(struct cpuc_slot *slot, struct cpuc_pmu *pmu)
{
	long allowed = -1;

	cpuc_perf_slow(pmu);
	if (cpuc_perf_readable(pmu))
		return 0;
	cpuc_perf_drop(pmu);
	if (pmu->access_file != NULL)
		cpuc_event_setting(pmu->access_file, &allowed);
	if (allowed == 0) {
		cpuc_reason(slot, "%s is 0", pmu->access_name);
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
	cpuc_perf_drop(NULL);
	fd = perf_open_try(pmu, &exclude);
	if (fd < 0)
		return perf_open_explain(slot, fd, exclude);
	cpuc_event_close(fd);
	err = cpuc_thread_prepare();
	if (err != 0) {
		cpuc_reason(slot, "pthread_key_create: %s", strerror(-err));
		return err;
	}
	if (pmu->opened == 0)
		perf_open_types(pmu);
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
