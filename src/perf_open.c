/* SPDX-License-Identifier: 0BSD */
/* Whether perf events can be opened here, how, and if not, why. Under the
 * engine's lock. */
#include <config.h>
#if HAVE_COUNTER_DEFAULT_PERFEVENT
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "slot.h"
#include "perf_sys.h"

/* What the kernel refused to one counter it would refuse to the next: in a
 * virtual machine, one failing system call is all that these counters cost.
 * Forgotten when the selection closes its losers. */
static struct {
	int err; /* 0: none, or -errno */
	unsigned exclude;
	unsigned selection; /* in which that was */
} refused;

static bool for_all(int err)
{
	return err == -ENOENT || err == -ENODEV || err == -ENOSYS ||
	       err == -EACCES || err == -EPERM;
}

static int explain(struct cpuc_slot *slot, int err, unsigned exclude)
{
	long level, need = exclude & CPUC_NO_KERNEL ? 2 : 1;

	if (err == -ENOENT || err == -ENODEV || err == -EOPNOTSUPP)
		cpuc_reason(slot, CPUC_NO_PMU);
	else if (err == -EACCES &&
		 cpuc_perf_sys_number("/proc/sys/kernel/perf_event_paranoid",
				      &level) &&
		 level > need)
		cpuc_reason(slot,
			    "perf_event_paranoid is %ld, and %ld or less is "
			    "needed; run %s as root",
			    level, need,
			    need == 2 ? "cpucycles-open"
				      : "sysctl kernel.perf_event_paranoid=1");
	else
		cpuc_reason(slot, "perf_event_open: %s%s", strerror(-err),
			    err == -EPERM || err == -EACCES || err == -ENOSYS
				    ? " (container?); its seccomp profile must "
				      "allow this call"
				    : "");
	return err;
}

/* Some PMUs cannot leave the kernel out, and refuse; ordinary users may not
 * leave it in, and are refused. */
static int find_exclude(struct cpuc_pmu *pmu, unsigned *exclude)
{
	int fd = -EINVAL;

	if (refused.err != 0 && refused.selection == cpuc_selection) {
		*exclude = refused.exclude;
		return refused.err;
	}
	for (*exclude = CPUC_NO_KERNEL | CPUC_NO_HV;; --*exclude) {
		/* (1,1), (1,0), (0,1), (0,0). */
		static const unsigned order[] = {0, CPUC_NO_HV, CPUC_NO_KERNEL,
						 CPUC_NO_KERNEL | CPUC_NO_HV};
		unsigned bits = order[*exclude];

		fd = cpuc_perf_sys_open(0, pmu->config1, bits);
		if (fd >= 0 || *exclude == 0 || (for_all(fd) && fd != -EPERM)) {
			*exclude = bits;
			break;
		}
	}
	if (for_all(fd)) {
		refused.err = fd;
		refused.selection = cpuc_selection;
		refused.exclude = *exclude;
	}
	return fd;
}

/* Two types of cores: both must be there, or it is an ordinary machine. */
static void find_types(struct cpuc_pmu *pmu)
{
	char path[80];
	long type;
	int i;

	pmu->events = 1;
	pmu->config[0] = 0;
	for (i = 0; i < 2; i++) {
		if (pmu->core_types[i] == NULL)
			return;
		snprintf(path, sizeof path, CPUC_PMUS "%s/type",
			 pmu->core_types[i]);
		if (!cpuc_perf_sys_number(path, &type) || type <= 0)
			break;
		/* PERF_PMU_TYPE_SHIFT, of Linux 5.13. */
		pmu->config[i] = (uint64_t)type << 32;
	}
	if (i == 2)
		pmu->events = 2;
	else
		pmu->config[0] = 0;
}

/* An event opens; can this thread's be read as the counter wants? -EBUSY: at
 * other times, maybe. */
static int try_page(struct cpuc_slot *slot, struct cpuc_pmu *pmu)
{
	long allowed = 0;
	bool known;

	cpuc_perf_slow(pmu);
	if (cpuc_perf_readable(pmu))
		return 0;
	cpuc_perf_drop(pmu);
	known = pmu->access_file != NULL &&
		cpuc_perf_sys_number(pmu->access_file, &allowed);
	if (known && allowed == 0)
		cpuc_reason(slot, "%s is 0; run cpucycles-open as root",
			    pmu->access_name);
	else
		cpuc_reason(slot, "index 0: the kernel has no counter to give");
	return known && allowed != 0 ? -EBUSY : -ENOTSUP;
}

int cpuc_perf_open(struct cpuc_slot *slot, struct cpuc_pmu *pmu)
{
	unsigned exclude;
	int err, fd;

	if (pmu->reg != NULL && cpuc_perf_readable(pmu))
		return 0;
	/* A second event would take the register of the first. */
	cpuc_perf_drop(NULL);
	fd = find_exclude(pmu, &exclude);
	if (fd < 0)
		return explain(slot, fd, exclude);
	cpuc_perf_sys_close(fd);
	err = cpuc_thread_prepare();
	if (err != 0) {
		cpuc_reason(slot, "pthread_key_create: %s", strerror(-err));
		return err;
	}
	if (pmu->opened == 0)
		find_types(pmu);
	__atomic_store_n(&pmu->opened, 1 + exclude, __ATOMIC_RELEASE);
	return pmu->reg ? try_page(slot, pmu) : 0;
}

int cpuc_perf_absent(struct cpuc_slot *slot, struct cpuc_pmu *pmu)
{
	bool had = cpuc_perf_readable(pmu);
	int err = cpuc_perf_open(slot, pmu);

	if (!had)
		cpuc_perf_drop(pmu);
	slot->reason[0] = '\0';
	if (err != 0 && err != -EBUSY)
		return 0;
	cpuc_reason(slot, "the kernel gives this counter to perf events, by "
			  "which other counters read it");
	return -EBUSY;
}

void cpuc_perf_close(struct cpuc_pmu *pmu)
{
	cpuc_perf_drop(pmu);
}

#endif
