/* SPDX-License-Identifier: 0BSD */
/* Names the machine: by Linux's /proc/cpuinfo and uname(2), or by Windows'
 * registry. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "report.h"

#ifdef _WIN32
#include "../../system/windows/api.h"

const char machine_shared[] =
	"QueryThreadCycleTime() does not advance with the counter's clock";

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

const char machine_shared[] = "no restartable sequences (rseq) are registered "
			      "here, which report preemptions";

/* Finds the CPU's name in /proc/cpuinfo; arm64 and s390x have none there. */
static void machine_find_cpu(char cpu[128])
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[1024], key[32];
	int found = 0;

	while (f != NULL && !found && fgets(line, sizeof line, f) != NULL)
		found = sscanf(line, "%31[^\t:] : %127[^\n]", key, cpu) == 2 &&
			/* x86, arm32 and loong64; mips and alpha; POWER,
			 * sparc64 and hppa; RISC-V */
			(!strcasecmp(key, "model name") ||
			 !strcmp(key, "cpu model") || !strcmp(key, "cpu") ||
			 !strcmp(key, "uarch"));
	if (!found)
		*cpu = '\0';
	if (f != NULL)
		fclose(f);
}

static void machine_names(struct machine *m)
{
	struct utsname u;

	machine_find_cpu(m->cpu);
	if (uname(&u) < 0)
		return;
	if (m->cpu[0] == '\0')
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
