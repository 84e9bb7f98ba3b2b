/* SPDX-License-Identifier: 0BSD */
/* Reads from Linux what it knows of CPUs. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "system.h"

#define CPUS "/sys/devices/system/cpu"

/* The first line of root + path, to be printed as it is, without its end; "" if
 * there is none, or it does not fit. */
static void system_line(const char *root, const char *path, char *line,
			int size)
{
	char full[1024], *c;
	FILE *f = NULL;

	if (snprintf(full, sizeof full, "%s%s", root, path) < (int)sizeof full)
		f = fopen(full, "r");
	if (f == NULL || fgets(line, size, f) == NULL)
		*line = '\0';
	if (f != NULL)
		fclose(f);
	for (c = line; *c != '\n' && *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	/* A line without its end may be a part. */
	line[*c == '\n' ? c - line : 0] = '\0';
}

void system_read(const char *root, int cpu, struct system *s)
{
	/* AMD's file, and Intel's, which says the contrary. */
	static const char *const file[] = {CPUS "/cpufreq/boost",
					   CPUS "/intel_pstate/no_turbo"};
	char line[8], path[128];
	int i;

	s->turbo[0] = '\0';
	for (i = 0; i < 2; i++) {
		system_line(root, file[i], line, sizeof line);
		if (!strcmp(line, "0") || !strcmp(line, "1"))
			snprintf(s->turbo, sizeof s->turbo, "%s",
				 (*line == '1') != i ? "on" : "off");
	}
	snprintf(path, sizeof path, CPUS "/cpu%d/cpufreq/scaling_governor",
		 cpu);
	system_line(root, path, s->governor, sizeof s->governor);
	snprintf(path, sizeof path, CPUS "/cpu%d/topology/thread_siblings_list",
		 cpu);
	system_line(root, path, s->threads, sizeof s->threads);
}

int system_time(const char *root, struct system_time *t)
{
	long long user, nice, kernel, irq, softirq;
	char line[512];

	*t = (struct system_time){0, 0};
	system_line(root, "/proc/stat", line, sizeof line);
	/* The others are idle and iowait. NOLINTNEXTLINE(cert-err34-c) */
	if (sscanf(line, "cpu%*[ ]%lld %lld %lld %*d %*d %lld %lld %lld", &user,
		   &nice, &kernel, &irq, &softirq, &t->stolen) != 6)
		return -1;
	t->busy = user + nice + kernel + irq + softirq + t->stolen;
	return 0;
}
