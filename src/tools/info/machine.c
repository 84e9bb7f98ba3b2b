/* SPDX-License-Identifier: 0BSD */
/* Names the machine: by Linux's /proc/cpuinfo, and uname(2). */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/utsname.h>
#include "machine.h"

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

void machine_find(struct machine *m)
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
