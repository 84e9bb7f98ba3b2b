/* SPDX-License-Identifier: 0BSD */
/* Reads from Linux what it knows of CPUs, and of processes on them. */
#include <config.h>
#ifdef __linux__
#include <glob.h>
#endif
#include <stdio.h>
#include <stdlib.h>
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

#ifdef __linux__
/* In the line of stat, of proc(5), comes the thread's name in parentheses,
 * which may be anything, then its state, and 35 words later its CPU. */
void system_running(int pid, int *running, int *cpu)
{
#define FIVE " %*s %*s %*s %*s %*s"
#define STATE ") R" FIVE FIVE FIVE FIVE FIVE FIVE FIVE " %d"
	char text[1024], *name;
	glob_t found;
	int on, child;
	size_t n;
	FILE *f;

	snprintf(text, sizeof text, "/proc/%d/task/*/stat", pid);
	if (glob(text, GLOB_NOSORT, NULL, &found) != 0)
		return;
	for (n = 0; n < found.gl_pathc; n++) {
		f = fopen(found.gl_pathv[n], "re");
		if (f == NULL)
			continue;
		text[fread(text, 1, sizeof text - 1, f)] = '\0';
		fclose(f);
		name = strrchr(text, ')');
		/* The kernel's. NOLINTNEXTLINE(cert-err34-c) */
		if (name != NULL && sscanf(name, STATE, &on) == 1 &&
		    random() % ++*running == 0)
			*cpu = on;
		snprintf(text, sizeof text, "%.*schildren",
			 (int)strlen(found.gl_pathv[n]) - 4, found.gl_pathv[n]);
		f = fopen(text, "re");
		/* The kernel's. NOLINTNEXTLINE(cert-err34-c) */
		while (f != NULL && fscanf(f, "%d", &child) == 1)
			system_running(child, running, cpu);
		if (f != NULL)
			fclose(f);
	}
	globfree(&found);
}
#endif
