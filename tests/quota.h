/* SPDX-License-Identifier: 0BSD */
/* A process that the kernel lets run for 5 ms of each 20 ms of a CPU: in a
 * control group with a quota if one can be made, else by its parent, which
 * stops it. */
#ifndef QUOTA_H
#define QUOTA_H

#include "load.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

static char quota_group[128];
static bool quota_joined;
static unsigned quota_stops;

static bool quota_write(const char *file, const char *text)
{
	char path[192];
	ssize_t n;
	int fd;

	snprintf(path, sizeof path, "%s/%s", quota_group, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text);
}

/* Version 2, then 1; where the controller is in use. */
static void quota_begin(void)
{
	static const char *const places[] = {
		"/sys/fs/cgroup", "/sys/fs/cgroup/unified",
		"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"};
	size_t i;

	quota_joined = false;
	quota_stops = 0;
	for (i = 0; i < sizeof places / sizeof *places; i++) {
		snprintf(quota_group, sizeof quota_group,
			 "%s/libcpucycles-test-%ld", places[i], (long)getpid());
		if (mkdir(quota_group, 0755) != 0)
			continue;
		if (quota_write("cpu.max", "5000 20000") ||
		    (quota_write("cpu.cfs_period_us", "20000") &&
		     quota_write("cpu.cfs_quota_us", "5000")))
			return;
		rmdir(quota_group);
	}
	quota_group[0] = '\0';
}

/* Puts the process into the group, once, or stops it for a while. */
static void quota_during(pid_t pid)
{
	const struct timespec nap = {0, 15000000};
	char text[32];

	if (quota_joined)
		return;
	snprintf(text, sizeof text, "%ld", (long)pid);
	if (quota_group[0] != '\0' && quota_write("cgroup.procs", text)) {
		quota_joined = true;
		return;
	}
	kill(pid, SIGSTOP);
	nanosleep(&nap, NULL);
	kill(pid, SIGCONT);
	quota_stops++;
}

static unsigned long quota_throttled(void)
{
	unsigned long n = 0;
	char path[192], line[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/cpu.stat", quota_group);
	f = fopen(path, "r");
	if (f == NULL)
		return 0;
	while (fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "nr_throttled %lu", &n) == 1)
			break;
	fclose(f);
	return n;
}

/* One point: that it was throttled, if it could be. */
static void quota_end(void)
{
	int i;

	if (quota_joined)
		ok(quota_throttled() > 0, "a quota throttled it %lu times",
		   quota_throttled());
	else
		ok(quota_stops > 0, "no quota here: it was stopped %u times",
		   quota_stops);
	/* The kernel may yet have to take leave of the last process. */
	for (i = 0; i < 100 && quota_group[0] != '\0'; i++) {
		if (rmdir(quota_group) == 0)
			break;
		usleep(10000);
	}
}

#endif
