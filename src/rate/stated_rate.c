/* SPDX-License-Identifier: 0BSD */
/* Cycles per second, and ticks of a time base, as the operating system states
 * them. */
#include <config.h>
#ifndef _WIN32

#include "stated_rate.h"

#include <stddef.h>
#include <string.h>

#include "stated_sysctl.h"
#include "textfile.h"

#define CPU0 "/sys/devices/system/cpu/cpu0/"
#define CPUINFO "/proc/cpuinfo"
#define DEVICE_TREE "/proc/device-tree/cpus/"

/* /proc/cpuinfo has about 1.5 KiB per CPU, so this is hundreds of CPUs. It
 * also ends a file that has no end. */
#define CPUINFO_MAX ((size_t)1 << 20)

enum stated_format {
	STATED_COMMENTED, /* Hz; comments begin with # */
	STATED_HZ,
	STATED_KHZ,
	STATED_CELLS, /* Hz, binary */
	STATED_KEYS   /* stated_keys */
};

/* The best comes first: the administrator's word, the core's rate as it is set,
 * the core's limit, and then rates that are the TSC's on a virtual machine, and
 * may be those of an idle core on another. */
static const struct stated_file {
	const char *path;
	enum stated_format format;
	bool of_core;
} stated_files[] = {
	{"/etc/cpucyclespersecond", STATED_COMMENTED, true},
	/* "<unsupported>" unless the governor is `userspace` */
	{CPU0 "cpufreq/scaling_setspeed", STATED_KHZ, true},
	{CPU0 "cpufreq/scaling_max_freq", STATED_KHZ, true},
	{CPU0 "cpufreq/cpuinfo_max_freq", STATED_KHZ, true},
	{CPU0 "clock_tick", STATED_HZ, true}, /* sparc64 */
	{DEVICE_TREE "cpu@0/clock-frequency", STATED_CELLS, true},
	{CPUINFO, STATED_KEYS, false},
	{CPU0 "tsc_freq_khz", STATED_KHZ, false},
};

struct stated_key {
	const char *source; /* CPUINFO, a blank and the key */
	const char *unit;   /* after the number */
	int exp10;          /* the number is in units of 10^exp10 Hz */
	bool of_core;
};

/* No kernel writes two of these, so their order does not matter. s390x also has
 * "cpu MHz dynamic", which is momentary. */
static const struct stated_key stated_keys[] = {
	{CPUINFO " clock", "MHz", 6, true},       /* POWER */
	{CPUINFO " cpu MHz static", "", 6, true}, /* s390x */
	{CPUINFO " cpu MHz", "", 6, false},
	{CPUINFO " CPU MHz", "", 6, false}, /* LoongArch */
};

static const struct stated_key stated_timebase_key = {CPUINFO " timebase", "",
						      0, false};

static void stated_blank_comments(char *text, size_t len)
{
	bool comment = false;

	for (size_t i = 0; i < len; i++) {
		comment = text[i] == '#' || (comment && text[i] != '\n');
		if (comment)
			text[i] = ' ';
	}
}

/* Inlined, both buffers would be on the stack at once, and the first call may
 * come in a signal handler. */
#define NOINLINE __attribute__((noinline))

static NOINLINE uint64_t stated_read(const char *root,
				     const struct stated_file *file)
{
	char text[1024];
	ssize_t len;
	uint64_t hz;

	if (file->format == STATED_CELLS) {
		hz = cpuc_read_cells(root, file->path);
		return hz < CPUC_HZ_MIN || hz > CPUC_HZ_MAX ? 0 : hz;
	}
	len = cpuc_read_file(root, file->path, text, sizeof(text));
	if (len < 0)
		return 0;
	text[len] = '\0';
	if (file->format == STATED_COMMENTED)
		stated_blank_comments(text, (size_t)len);
	return cpuc_parse_hz(text, (size_t)len,
			     file->format == STATED_KHZ ? 3 : 0, "");
}

/* Whether the key is all of text[0 ... end), blanks around it aside. */
static bool stated_is_key(const struct stated_key *key, const char *text,
			  const char *end)
{
	const char *name = key->source + strlen(CPUINFO " ");

	while (text < end && (*text == ' ' || *text == '\t'))
		text++;
	while (text < end && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	return (size_t)(end - text) == strlen(name) &&
	       memcmp(text, name, strlen(name)) == 0;
}

/* The first believable value of any of the keys. One pass for all of them:
 * where there is none, as on arm64, the file is long and slow to read. */
static NOINLINE struct cpuc_rate
stated_cpuinfo(const char *root, const struct stated_key *keys, size_t n)
{
	struct cpuc_rate rate = {0, "", false};
	struct cpuc_lines lines;
	const char *line;
	size_t len;

	if (cpuc_lines_open(&lines, root, CPUINFO, CPUINFO_MAX) < 0)
		return rate;
	while (!rate.hz && (line = cpuc_lines_next(&lines, &len)) != NULL) {
		const char *colon = memchr(line, ':', len);
		const struct stated_key *k = keys;

		while (colon && k < keys + n && !stated_is_key(k, line, colon))
			k++;
		if (!colon || k == keys + n)
			continue;
		colon++;
		rate.hz = cpuc_parse_hz(colon, (size_t)(line + len - colon),
					k->exp10, k->unit);
		rate.source = k->source;
		rate.of_core = k->of_core;
	}
	cpuc_lines_close(&lines);
	return rate;
}

struct cpuc_rate cpuc_stated_rate(const char *root)
{
	const size_t nfiles = sizeof(stated_files) / sizeof(*stated_files);
	const size_t nkeys = sizeof(stated_keys) / sizeof(*stated_keys);
	struct cpuc_rate rate;

	for (size_t i = 0; i < nfiles; i++) {
		const struct stated_file *file = &stated_files[i];

		if (file->format == STATED_KEYS)
			rate = stated_cpuinfo(root, stated_keys, nkeys);
		else
			rate = (struct cpuc_rate){stated_read(root, file),
						  file->path, file->of_core};
		if (rate.hz)
			return rate;
	}
	rate = (struct cpuc_rate){0, NULL, false};
	/* System calls describe this machine, not a fake tree. */
	if (!*root)
		rate.hz = cpuc_stated_sysctl(&rate.source);
	if (!rate.hz)
		rate.source = "unknown";
	return rate;
}

uint64_t cpuc_stated_timebase(const char *root)
{
	uint64_t hz = cpuc_read_cells(root, DEVICE_TREE "timebase-frequency");

	return hz ? hz : stated_cpuinfo(root, &stated_timebase_key, 1).hz;
}

#endif
