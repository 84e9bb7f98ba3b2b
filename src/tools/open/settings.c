/* SPDX-License-Identifier: 0BSD */
/* The settings that cpucycles-open changes, and its record of them. */
#include <config.h>
#include <string.h>
#include "settings.h"

/* clang-format off */
#define KERNEL(name) "/proc/sys/kernel/" name, "kernel." name
#define RDPMC(pmu) \
	{"/sys/bus/event_source/devices/" pmu "/rdpmc", NULL, false, 2, \
	 OPEN_RDPMC_ALL, "every process may read every counter at any time, " \
	 "also those that count for others"}, \
	{"/sys/bus/event_source/devices/" pmu "/rdpmc", NULL, false, 1, 0, \
	 "programs with an event may read the CPU's counters directly"}

const struct open_setting open_settings[OPEN_SETTINGS] = {
	/* Linux has -1 to 2; Debian's and Ubuntu's kernels add 3 and 4. */
	{KERNEL("perf_event_paranoid"), true, 1, OPEN_KERNEL_TOO,
	 "users may also count what the kernel does for their programs"},
	{KERNEL("perf_event_paranoid"), true, 2, 0,
	 "users may count what their programs do in user mode"},
	/* arm64 and RISC-V. */
	{KERNEL("perf_user_access"), false, 1, 0,
	 "programs may read cycle counters directly"},
	/* x86. Each type of core has a file, but Linux one value for all. */
	RDPMC("cpu"), RDPMC("cpu_core"), RDPMC("cpu_atom"), RDPMC("cpu_lowpower"),
	{KERNEL("nmi_watchdog"), true, 0, OPEN_NO_NMI,
	 "a counter is free, but the kernel no longer detects hard lockups"},
};
/* clang-format on */

static const char open_mark[] = "# Written by cpucycles-open; cpucycles-open "
				"--revert removes this file.\n";

bool open_kernel_too(void)
{
	FILE *f = fopen("proc/cpuinfo", "r");
	char text[4096];

	if (f == NULL)
		return false;
	text[fread(text, 1, sizeof text - 1, f)] = '\0';
	fclose(f);
	return strstr(text, "\nisa\t\t: rv") && !strstr(text, "sscofpmf");
}

bool open_enough(int i, int now)
{
	const struct open_setting *setting = &open_settings[i];

	return setting->lower ? now <= setting->value : now >= setting->value;
}

void open_format(const int old[OPEN_SETTINGS], FILE *f)
{
	int i;

	fputs(open_mark, f);
	for (i = 0; i < OPEN_SETTINGS; i++)
		if (old[i] >= 0)
			fprintf(f, "# %s %d %d\n", open_settings[i].path,
				old[i], open_settings[i].value);
	fputc('\n', f);
}

int open_parse(int old[OPEN_SETTINGS], FILE *f)
{
	char line[128], again[sizeof line];
	bool more;
	int i, value;

	if (fgets(line, sizeof line, f) == NULL || strcmp(line, open_mark) != 0)
		return OPEN_FOREIGN;
	more = fgets(line, sizeof line, f) != NULL;
	for (i = 0; i < OPEN_SETTINGS; i++) {
		/* Nine digits fit. NOLINTNEXTLINE(cert-err34-c) */
		if (sscanf(line, "# %*s %9d", &value) != 1)
			break;
		snprintf(again, sizeof again, "# %s %d %d\n",
			 open_settings[i].path, value, open_settings[i].value);
		if (strcmp(line, again) != 0 || value < 0 ||
		    open_enough(i, value))
			continue;
		old[i] = value;
		more = fgets(line, sizeof line, f) != NULL;
	}
	return more && strcmp(line, "\n") == 0 ? 0 : OPEN_DAMAGED;
}
