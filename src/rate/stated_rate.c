/* SPDX-License-Identifier: 0BSD */
/* The rates that the operating system states. */
#include <config.h>
#include <stddef.h>
#include <string.h>
#include "stated_rate.h"
#include "textfile.h"

static const struct cpuc_rate stated_unknown = {0, "unknown", false};

#define CPU0 "/sys/devices/system/cpu/cpu0/"
#define CPUINFO "/proc/cpuinfo"
#define DEVICE_TREE "/proc/device-tree/cpus/"

/* A file that states a rate, or a line of one. */
struct stated {
	const char *source; /* its path; for a line, a blank and its key, too */
	const char *unit;   /* after the number; NULL: Hz in binary */
	int exp10;          /* the number is in units of 10^exp10 Hz */
	bool of_core;
};

/* On Windows anybody may create the paths of other systems. */
#ifdef _WIN32
#define stated_by_files(core_hz) ((void)(core_hz), stated_unknown)
#else

/* Best first: what the administrator says, the core's rate as it is set, its
 * limit, and then rates that are the TSC's on a virtual machine, and may be
 * those of an idle core elsewhere. No kernel writes two of these lines of
 * /proc/cpuinfo. (s390x also has "cpu MHz dynamic", the rate at the moment.) */
static const struct stated stated_rates[] = {
	{"/etc/cpucyclespersecond", "", 0, true},
	/* "<unsupported>" unless the governor is `userspace` */
	{CPU0 "cpufreq/scaling_setspeed", "", 3, true},
	{CPU0 "cpufreq/scaling_max_freq", "", 3, true},
	{CPU0 "cpufreq/cpuinfo_max_freq", "", 3, true},
	{CPU0 "clock_tick", "", 0, true}, /* sparc64 */
	{DEVICE_TREE "cpu@0/clock-frequency", NULL, 0, true},
	{CPUINFO " clock", "MHz", 6, true},       /* POWER */
	{CPUINFO " cpu MHz static", "", 6, true}, /* s390x */
	{CPUINFO " cpu MHz", "", 6, false},
	{CPUINFO " CPU MHz", "", 6, false}, /* LoongArch */
	{CPU0 "tsc_freq_khz", "", 3, false},
};

static const struct stated stated_timebase = {CPUINFO " timebase", "", 0,
					      false};

/* The value in a line of this source; NULL: the line has another key. */
static const char *stated_value(const char *source, const char *line)
{
	const char *key = strchr(source, ' ');
	size_t n;

	if (key == NULL)
		return line;
	n = strlen(++key);
	line += strspn(line, " \t");
	if (strncmp(line, key, n) != 0)
		return NULL;
	line += n + strspn(line + n, " \t");
	return *line == ':' ? line + 1 : NULL;
}

/* Rows of one file, and the one that a line had. */
struct stated_rows {
	const struct stated *row, *end, *found;
};

/* The first believable value that the line has for any of the rows. */
static uint64_t stated_by_line(char *line, void *arg)
{
	struct stated_rows *rows = arg;
	const struct stated *row;
	const char *value;
	uint64_t hz = 0;

	line[strcspn(line, "#")] = '\0';
	for (row = rows->row; row < rows->end && hz == 0; row++) {
		rows->found = row;
		value = stated_value(row->source, line);
		if (value != NULL)
			hz = cpuc_parse_hz(value, row->exp10, row->unit);
	}
	return hz;
}

/* One pass for all rows of a file: on arm64 none matches, and it is long. */
static struct cpuc_rate stated_by_files(uint64_t core_hz)
{
	const struct stated *const end =
		stated_rates + sizeof(stated_rates) / sizeof(*stated_rates);
	struct stated_rows rows = {.end = stated_rates};
	size_t path;
	uint64_t hz;

	while (rows.end < end) {
		rows.row = rows.found = rows.end++;
		path = strcspn(rows.row->source, " ") + 1;
		while (rows.end < end &&
		       !strncmp(rows.end->source, rows.row->source, path))
			rows.end++;
		if (rows.row->unit != NULL)
			hz = cpuc_find_line(rows.row->source, stated_by_line,
					    &rows);
		else
			hz = cpuc_hz_believed(cpuc_read_cells(rows.row->source),
					      1);
		if (hz && (rows.row == stated_rates || !rows.found->of_core ||
			   cpuc_stated_agrees(hz, core_hz)))
			return (struct cpuc_rate){hz, rows.found->source,
						  rows.found->of_core};
	}
	return stated_unknown;
}

uint64_t cpuc_stated_timebase(void)
{
	uint64_t hz = cpuc_read_cells(DEVICE_TREE "timebase-frequency");
	struct stated_rows rows = {&stated_timebase, &stated_timebase + 1,
				   NULL};

	return hz ? hz : cpuc_find_line(CPUINFO, stated_by_line, &rows);
}

#endif

/* Systems that state rates by a call have rows, best first, and stated_ask(),
 * which asks for one: 0 if there is no such number. */
#define MHZ UINT64_C(1000000)

struct stated_call {
	const char *source; /* the call, a blank, and what it is asked for */
	uint64_t unit;      /* of the number, in Hz */
};

#if HAVE_SYSCTLBYNAME
#include <sys/types.h>
#include <sys/sysctl.h>

/* Constant rates first: dev.cpu.0.freq is the power daemon's latest choice. */
static const struct stated_call stated_calls[] = {
	{"sysctl hw.cpufrequency", 1}, /* macOS, not on Apple silicon */
	{"sysctl hw.cpufrequency_max", 1},
	{"sysctl machdep.tsc.frequency", 1}, /* macOS on x86 */
	{"sysctl machdep.tsc_freq", 1},      /* FreeBSD, NetBSD on x86 */
	{"sysctl hw.tsc_frequency", 1},      /* DragonFly */
	{"sysctl hw.clockrate", MHZ},        /* FreeBSD on x86 */
	{"sysctl dev.cpu.0.freq", MHZ},      /* FreeBSD with cpufreq */
	{NULL, 0},
};

static uint64_t stated_ask(const char *key)
{
	union {
		uint32_t u32;
		uint64_t u64;
	} value;
	size_t len = sizeof(value);

	if (sysctlbyname(key, &value, &len, NULL, 0) != 0)
		return 0;
	if (len == sizeof(value.u64))
		return value.u64;
	return len == sizeof(value.u32) ? value.u32 : 0;
}

#elif defined _WIN32
#include "../system/windows/api.h"

#define REGISTRY_KEY "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0"

/* What Windows measured when it started. */
static const struct stated_call stated_calls[] = {
	{"registry HKLM\\" REGISTRY_KEY "\\~MHz", MHZ},
	{NULL, 0},
};

static uint64_t stated_ask(const char *key)
{
	DWORD number = 0, size = sizeof number;

	(void)key;
	return RegGetValueA(HKEY_LOCAL_MACHINE, REGISTRY_KEY, "~MHz",
			    RRF_RT_REG_DWORD, NULL, &number,
			    &size) == ERROR_SUCCESS
		       ? number
		       : 0;
}

#else
static const struct stated_call stated_calls[] = {{NULL, 0}};

#define stated_ask(key) 0
#endif

static struct cpuc_rate stated_by_calls(void)
{
	const struct stated_call *call = stated_calls;
	uint64_t hz;

	for (; call->source != NULL; call++) {
		hz = cpuc_hz_believed(
			stated_ask(strrchr(call->source, ' ') + 1), call->unit);
		if (hz)
			return (struct cpuc_rate){hz, call->source, false};
	}
	return stated_unknown;
}

struct cpuc_rate cpuc_stated_rate(uint64_t core_hz)
{
	struct cpuc_rate rate = stated_by_files(core_hz);

	/* System calls describe this machine, not a fake tree. */
	return rate.hz != 0 || CPUC_SYS_ROOT[0] != '\0' ? rate
							: stated_by_calls();
}
