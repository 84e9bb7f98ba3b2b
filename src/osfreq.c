/* SPDX-License-Identifier: 0BSD */
/* What the operating system says the CPU's frequency is: a table of sources,
 * asked in order until one knows. */
#include <config.h>

#include "osfreq.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "file.h"
#include "number.h"
#include "osfreq_sysctl.h"

#define CPU0 "/sys/devices/system/cpu/cpu0/"
#define CPUINFO "/proc/cpuinfo"

/* /proc/cpuinfo has about 1.5 KiB a CPU, so this is hundreds of CPUs, any of
 * which would do; and it ends a file that has no end. */
#define CPUINFO_MAX ((size_t)1 << 20)

struct source {
	const char *name; /* for people; the path, where it is one file */
	/* Hz, or 0 for unknown. May put a better name into *name. */
	uint64_t (*ask)(const struct source *s, const char *root,
			const char **name);
	int exp10; /* the number in the file is in units of 10^exp10 Hz */
};

static uint64_t ask_number(const struct source *s, const char *root,
			   const char **name)
{
	char buf[2048];
	ssize_t n = cpuc_read_file(root, s->name, buf, sizeof(buf));

	(void)name;
	return n < 0 ? 0 : cpuc_parse_hz(buf, (size_t)n, s->exp10, "");
}

static uint64_t ask_cells(const struct source *s, const char *root,
			  const char **name)
{
	uint64_t hz = cpuc_read_cells(root, s->name);

	(void)name;
	return hz < CPUC_HZ_MIN || hz > CPUC_HZ_MAX ? 0 : hz;
}

/* Best first. The keys are matched whole: s390x also has a "cpu MHz
 * dynamic", which is no frequency to count with. */
static const struct cpuinfo_key {
	const char *key;
	const char *unit;
	const char *name;
	bool last; /* nothing further down in the file can be better */
} cpuinfo_keys[] = {
	{"cpu MHz", "", CPUINFO " cpu MHz", true},
	{"CPU MHz", "", CPUINFO " CPU MHz", true}, /* LoongArch */
	{"clock", "MHz", CPUINFO " clock", false}, /* POWER */
	{"cpu MHz static", "", CPUINFO " cpu MHz static", false}, /* s390x */
};

#define N_CPUINFO_KEYS (sizeof(cpuinfo_keys) / sizeof(*cpuinfo_keys))

/* The index of the key that is all of text[0..len), blanks aside;
 * N_CPUINFO_KEYS when it is none of them. */
static size_t cpuinfo_find(const char *text, size_t len)
{
	size_t i;

	while (len && (*text == ' ' || *text == '\t')) {
		text++;
		len--;
	}
	while (len && (text[len - 1] == ' ' || text[len - 1] == '\t'))
		len--;
	for (i = 0; i < N_CPUINFO_KEYS; i++) {
		const char *key = cpuinfo_keys[i].key;

		if (len == strlen(key) && memcmp(text, key, len) == 0)
			break;
	}
	return i;
}

/* One pass for all the keys: where there is none, as on arm64, the file is
 * long and the kernel takes its time to write it. */
static uint64_t ask_cpuinfo(const struct source *s, const char *root,
			    const char **name)
{
	struct cpuc_lines lines;
	const char *line;
	size_t len, best = N_CPUINFO_KEYS;
	uint64_t best_hz = 0;

	if (cpuc_lines_open(&lines, root, s->name, CPUINFO_MAX) < 0)
		return 0;
	while ((line = cpuc_lines_next(&lines, &len)) != NULL) {
		const char *colon = memchr(line, ':', len), *value;
		uint64_t hz;
		size_t i;

		if (!colon)
			continue;
		i = cpuinfo_find(line, (size_t)(colon - line));
		if (i >= best)
			continue;
		value = colon + 1;
		hz = cpuc_parse_hz(value, (size_t)(line + len - value),
				   s->exp10, cpuinfo_keys[i].unit);
		if (!hz)
			continue;
		best = i;
		best_hz = hz;
		*name = cpuinfo_keys[i].name;
		if (cpuinfo_keys[i].last)
			break;
	}
	cpuc_lines_close(&lines);
	return best_hz;
}

/* The calls tell about this machine, which a fake tree is not. */
static uint64_t ask_sysctl(const struct source *s, const char *root,
			   const char **name)
{
	(void)s;
	return *root ? 0 : cpuc_osfreq_sysctl(name);
}

/* What an administrator wrote comes first; then what is set, before what
 * could be. */
static const struct source sources[] = {
	{"/etc/cpucyclespersecond", ask_number, 0},
	/* "<unsupported>" unless the governor is `userspace` */
	{CPU0 "cpufreq/scaling_setspeed", ask_number, 3},
	{CPU0 "cpufreq/scaling_max_freq", ask_number, 3},
	{CPU0 "clock_tick", ask_number, 0}, /* sparc64 */
	{CPUINFO, ask_cpuinfo, 6},
	{CPU0 "cpufreq/cpuinfo_max_freq", ask_number, 3},
	{"/proc/device-tree/cpus/cpu@0/clock-frequency", ask_cells, 0},
	{CPU0 "tsc_freq_khz", ask_number, 3},
	{"sysctl", ask_sysctl, 0},
};

uint64_t cpuc_osfreq(const char *root, const char **source)
{
	for (size_t i = 0; i < sizeof(sources) / sizeof(*sources); i++) {
		uint64_t hz;

		*source = sources[i].name;
		hz = sources[i].ask(&sources[i], root, source);
		if (hz)
			return hz;
	}
	*source = "unknown";
	return 0;
}
