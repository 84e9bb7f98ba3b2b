/* SPDX-License-Identifier: 0BSD */
/* The PMUs and the settings, as sysfs and procfs list them. */
#include <config.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "../system/syscalls.h"
#include "../rate/textfile.h"
#include "../slot.h"
#include "pmus.h"

static int pmus_number(const char *path, const char *prefix, long *number)
{
	char text[32] = "", *end;
	const char *digits = text + strlen(prefix);
	ssize_t n = cpuc_read_file(path, text, sizeof text);

	if (n < 0)
		return (int)n;
	if (strncmp(text, prefix, strlen(prefix)) != 0)
		return -EINVAL;
	*number = strtol(digits, &end, 0);
	return end != digits && (*end == '\n' || *end == '\0') ? 0 : -EINVAL;
}

bool cpuc_setting(const char *path, long *number)
{
	return pmus_number(path, "", number) == 0;
}

const char *cpuc_first_setting(const char *const path[2], long *number)
{
	int i, err;

	for (i = 0; i < 2 && path[i] != NULL; i++) {
		err = pmus_number(path[i], "", number);
		if (err == -EACCES)
			*number = -1;
		if (err == 0 || err == -EACCES)
			return path[i];
	}
	return NULL;
}

#define PMUS_PATH_SIZE 96

static const char *pmus_path(char path[PMUS_PATH_SIZE], const char *pmu,
			     const char *file)
{
	snprintf(path, PMUS_PATH_SIZE, CPUC_PMUS "%.31s/%s", pmu, file);
	return path;
}

/* The event of one PMU for `counts`; false if the PMU is not a core's. Those
 * have a file `cpus`, others have `cpumask` or neither, as the perf tool knows.
 * From Linux 5.13 on the generic event takes a PMU's type in its upper half
 * (PERF_PMU_TYPE_SHIFT), but for armv8_* PMUs only from 6.6 on. Their own event
 * number, in sysfs, works with all kernels. */
static bool pmus_event(const char *pmu, unsigned counts,
		       struct cpuc_event *event)
{
	char path[PMUS_PATH_SIZE], text[2];
	long type, number;

	/* The file has more than one byte. */
	pmus_path(path, pmu, "cpus");
	if (cpuc_read_file(path, text, sizeof text) != -EFBIG ||
	    !cpuc_setting(pmus_path(path, pmu, "type"), &type))
		return false;
	event->type = PERF_TYPE_HARDWARE;
	event->config = (uint64_t)type << 32 | counts;
	pmus_path(path, pmu,
		  counts == PERF_COUNT_HW_INSTRUCTIONS ? "events/inst_retired"
						       : "events/cpu_cycles");
	if (pmus_number(path, "event=", &number) == 0) {
		event->type = (uint32_t)type;
		event->config = (uint64_t)number;
	}
	return true;
}

/* Whether a PMU without `cpus` may be a core's: on s390x it is cpum_cf, in
 * Linux before 4.12 armv..., and elsewhere its type is that of raw events. */
static bool pmus_may_count(const char *pmu)
{
	char path[PMUS_PATH_SIZE];
	long type;

	return strncmp(pmu, "cpu", 3) == 0 || strncmp(pmu, "armv", 4) == 0 ||
	       (cpuc_setting(pmus_path(path, pmu, "type"), &type) &&
		type == PERF_TYPE_RAW);
}

/* The kernel's own PMUs, which every machine has: to look into each would
 * double the system calls of a first call. */
static bool pmus_is_software(const char *pmu)
{
	static const char names[] =
		" breakpoint kprobe msr software tracepoint uprobe ";
	char name[16];

	snprintf(name, sizeof name, " %.12s ", pmu);
	return strstr(names, name) != NULL;
}

/* Not by opendir(3), which allocates: the caller may be a signal handler. */
CPUC_COLD unsigned cpuc_core_pmus(struct cpuc_event events[CPUC_TYPES],
				  unsigned counts)
{
	/* Room for one entry; small, for the stack of a signal handler. */
	char path[PMUS_PATH_SIZE], block[320] = "";
	unsigned short length;
	unsigned n = 0, others = 0, unknown = 0;
	bool hardware;
	long size, at;
	int fd;

	events[0] = (struct cpuc_event){PERF_TYPE_HARDWARE, counts};
	/* Where all cores are alike. A server has hundreds of other PMUs. */
	if (cpuc_setting(CPUC_PMUS "cpu/type", &at))
		return 1;
	snprintf(path, sizeof path, "%s" CPUC_PMUS, CPUC_SYS_ROOT);
	fd = cpuc_sys_open(path, O_RDONLY | O_CLOEXEC);
	while ((size = syscall(SYS_getdents64, fd, block, sizeof block)) > 0)
		for (at = 0; at < size; at += length) {
			/* The offsets of struct linux_dirent64. */
			const char *entry = block + at + 19;

			memcpy(&length, block + at + 16, sizeof length);
			if (entry[0] == '.')
				continue;
			hardware = !pmus_is_software(entry);
			if (hardware && n < CPUC_TYPES &&
			    pmus_event(entry, counts, &events[n]))
				n++;
			else if (hardware && pmus_may_count(entry))
				unknown++;
			else
				others++;
		}
	if (fd >= 0)
		cpuc_sys_close(fd);
	if (n < 2)
		events[0] = (struct cpuc_event){PERF_TYPE_HARDWARE, counts};
	if (n == 0 && unknown == 0 && others > 0)
		return 0;
	return n < 2 ? 1 : n;
}
