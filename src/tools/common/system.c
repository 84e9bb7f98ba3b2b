/* SPDX-License-Identifier: 0BSD */
/* system.h, by /proc and /sys of Linux, and by the registry of Windows. */
#include <config.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "system.h"

#define CPUS "/sys/devices/system/cpu"

/* The first line of root + path, made printable; "" if none fits. */
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

#ifdef _WIN32
#include "../../system/windows/api.h"

static void machine_value(const char *key, const char *name, char *text,
			  size_t size)
{
	DWORD n = (DWORD)size;

	if (RegGetValueA(HKEY_LOCAL_MACHINE, key, name, RRF_RT_REG_SZ, NULL,
			 text, &n) != ERROR_SUCCESS)
		*text = '\0';
}

static void machine_names(struct machine *m)
{
	const char *key = "SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion";
	const char *architecture = getenv("PROCESSOR_ARCHITECTURE");
	char version[32], build[32];

	machine_value("HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0",
		      "ProcessorNameString", m->cpu, sizeof m->cpu);
	/* The version has been 6.3 since Windows 8.1; the build tells more. */
	machine_value(key, "CurrentVersion", version, sizeof version);
	machine_value(key, "CurrentBuildNumber", build, sizeof build);
	snprintf(m->system, sizeof m->system, "Windows %s.%s %s", version,
		 build, architecture ? architecture : "");
}

#else
#include <strings.h>
#include <sys/utsname.h>

static void machine_names(struct machine *m)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[1024], key[32];
	bool named = false;
	struct utsname u;

	while (f != NULL && !named && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "%31[^\t:] : %127[^\n]", key, m->cpu) == 2)
			/* x86, arm32 and loong64; mips and alpha; POWER,
			 * sparc64 and hppa; RISC-V */
			named = !strcasecmp(key, "model name") ||
				!strcmp(key, "cpu model") ||
				!strcmp(key, "cpu") || !strcmp(key, "uarch");
	if (f != NULL)
		fclose(f);
	uname(&u);
	/* arm64 and s390x have no name there. */
	if (!named)
		snprintf(m->cpu, sizeof m->cpu, "%.100s", u.machine);
	/* The part behind a hyphen names the kernel's builder. */
	snprintf(m->system, sizeof m->system, "%.60s %.*s %.60s", u.sysname,
		 (int)strcspn(u.release, "-"), u.release, u.machine);
}
#endif

void machine_find(struct machine *m)
{
	time_t now = time(NULL);
	char *c;

	memset(m, 0, sizeof *m);
	machine_names(m);
	for (c = m->cpu; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	strftime(m->time, sizeof m->time, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
}
