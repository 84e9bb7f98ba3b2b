/* SPDX-License-Identifier: 0BSD */
/* Which machine this is, for people who compare several. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include "machine.h"

/* What /proc/cpuinfo calls a CPU's name. arm64 and s390x have none there. */
static const char *const keys[] = {
	"model name", /* x86, arm32, loong64 by newer kernels */
	"Model Name", /* loong64 */
	"cpu model",  /* mips, alpha */
	"cpu",        /* POWER, sparc64, hppa */
	"uarch",      /* RISC-V */
};

static void make_printable(char *text)
{
	for (; *text != '\0'; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

static int is_name(const char *line, size_t len)
{
	size_t i;

	while (len > 0 && (line[len - 1] == ' ' || line[len - 1] == '\t'))
		len--;
	for (i = 0; i < sizeof keys / sizeof *keys; i++)
		if (len == strlen(keys[i]) && !memcmp(line, keys[i], len))
			return 1;
	return 0;
}

static void find_cpu(char *cpu, size_t size)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[1024], *value;

	if (f == NULL)
		return;
	while (fgets(line, sizeof line, f) != NULL) {
		value = strchr(line, ':');
		if (value == NULL || !is_name(line, (size_t)(value - line)))
			continue;
		value += 1 + strspn(value + 1, " \t");
		value[strcspn(value, "\n")] = '\0';
		if (*value == '\0')
			continue;
		snprintf(cpu, size, "%.*s", (int)size - 1, value);
		break;
	}
	fclose(f);
}

void machine_describe(struct machine *m)
{
	struct utsname u;
	time_t now = time(NULL);
	struct tm tm;

	memset(m, 0, sizeof *m);
	if (uname(&u) >= 0) {
		snprintf(m->cpu, sizeof m->cpu, "%.100s", u.machine);
		/* Behind a hyphen is who built it. */
		u.release[strcspn(u.release, "-")] = '\0';
		snprintf(m->system, sizeof m->system, "%.60s %.100s %.60s",
			 u.sysname, u.release, u.machine);
	}
	find_cpu(m->cpu, sizeof m->cpu);
	make_printable(m->cpu);
	make_printable(m->system);
	if (gmtime_r(&now, &tm) != NULL)
		strftime(m->time, sizeof m->time, "%Y-%m-%dT%H:%M:%SZ", &tm);
}
