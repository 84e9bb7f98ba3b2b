/* SPDX-License-Identifier: 0BSD */
/* machine.h for Windows. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include "../../system/windows/api.h"
#include "../info/machine.h"

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

void machine_find(struct machine *m)
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
