/* SPDX-License-Identifier: 0BSD */
/* All the small files that are asked for a frequency, in the documented order,
 * with bytes 0x1e between their contents: /etc, sysfs, the device tree. */
#include <config.h>
#include "system/stated_rate.h"
#include "files.h"
#include "reference.h"

#define SEPARATOR 0x1e
#define CPU0 "/sys/devices/system/cpu/cpu0/"
#define CELLS (-1)
#define COMMENTED (-2)

static const struct {
	const char *path;
	int exp10;
} sources[] = {
	{"/etc/cpucyclespersecond", COMMENTED},
	{CPU0 "cpufreq/scaling_setspeed", 3},
	{CPU0 "cpufreq/scaling_max_freq", 3},
	{CPU0 "cpufreq/cpuinfo_max_freq", 3},
	{CPU0 "clock_tick", 0},
	{"/proc/device-tree/cpus/cpu@0/clock-frequency", CELLS},
	{CPU0 "tsc_freq_khz", 3},
};

#define N (sizeof sources / sizeof *sources)

static uint64_t ref_source(size_t i, const char *text, size_t len)
{
	uint64_t hz;

	if (fails <= len || len >= REF_LINE_MAX)
		return 0;
	if (sources[i].exp10 == COMMENTED)
		return ref_commented(text, len);
	if (sources[i].exp10 != CELLS)
		return ref_hz(text, len, sources[i].exp10, "");
	hz = ref_cells(text, len);
	return hz < REF_MIN || hz > REF_MAX ? 0 : hz;
}

/* The time base's property is not checked against any limits. */
static void check_timebase(struct fuzz_bytes *b)
{
	size_t len;
	char *text = fuzz_part(b, SEPARATOR, &len);
	uint64_t hz, ref;

	files_add("/proc/device-tree/cpus/timebase-frequency", text, len);
	hz = cpuc_stated_timebase(ROOT);
	ref = fails <= len ? 0 : ref_cells(text, len);
	MUST(hz == ref, "time base %llu instead of %llu",
	     (unsigned long long)hz, (unsigned long long)ref);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes b = {data, size};
	const char *name = "unknown";
	struct cpuc_rate rate;
	uint64_t ref = 0;
	static char *text[N]; /* what is in an array, -fanalyzer forgets */
	size_t i, len;

	files_behave(&b);
	for (i = 0; i < N; i++) {
		text[i] = fuzz_part(&b, SEPARATOR, &len);
		/* Every other way of not saying anything is no file at all. */
		if (len == 0 && i % 2)
			continue;
		files_add(sources[i].path, text[i], len);
		if (ref == 0 && (ref = ref_source(i, text[i], len)) != 0)
			name = sources[i].path;
	}
	rate = cpuc_stated_rate(ROOT);
	MUST(rate.hz == ref && strcmp(rate.source, name) == 0,
	     "%llu by %s instead of %llu by %s", (unsigned long long)rate.hz,
	     rate.source, (unsigned long long)ref, name);
	MUST(rate.of_core == (ref != 0 && name != sources[N - 1].path), "%s",
	     name);
	check_timebase(&b);
	MUST(files_open == 0, "%d", files_open);
	for (i = 0; i < N; i++)
		free(text[i]);
	return 0;
}
