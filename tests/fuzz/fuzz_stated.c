/* SPDX-License-Identifier: 0BSD */
/* The files that may state a frequency, or the time base's, with bytes 0x1e
 * between their contents. textfile.c is included, on pretended files, so that
 * a case takes microseconds, and reads are short. The same must be found as in
 * files that are read at once. What that is, sim_nominal tests. */
#include <config.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include "fuzz.h"
#include "system/syscalls.h"

#define ROOT "/r" /* other files do not exist */
#define CPUC_SYS_ROOT ROOT
#define CPU0 "/sys/devices/system/cpu/cpu0/"
#define TREE "/proc/device-tree/cpus/"
#define FD 1000
#define SEPARATOR 0x1e

static struct fuzz_file {
	const char *path;
	bool exists;
	char *text;
	size_t size, offset; /* where the next read begins */
} files[] = {
	{.path = ROOT "/etc/cpucyclespersecond"},
	{.path = ROOT CPU0 "cpufreq/scaling_setspeed"},
	{.path = ROOT CPU0 "cpufreq/scaling_max_freq"},
	{.path = ROOT CPU0 "cpufreq/cpuinfo_max_freq"},
	{.path = ROOT CPU0 "clock_tick"},
	{.path = ROOT TREE "cpu@0/clock-frequency"},
	{.path = ROOT CPU0 "tsc_freq_khz"},
	{.path = ROOT TREE "timebase-frequency"},
	{.path = ROOT "/proc/cpuinfo"}, /* the last, without a separator */
};

#define FILES (sizeof files / sizeof *files)
#define LAST (&files[FILES - 1])

static size_t chunk; /* the most that a read gives */
static int files_open;

static int fake_open(const char *path, int flags)
{
	size_t i;

	MUST(flags & O_NONBLOCK && flags & O_CLOEXEC,
	     "%s might be waited for, or inherited", path);
	for (i = 0; i < FILES; i++)
		if (files[i].exists && strcmp(path, files[i].path) == 0) {
			files[i].offset = 0;
			files_open++;
			return FD + (int)i;
		}
	errno = ENOENT;
	return -1;
}

static ssize_t fake_read(int fd, void *buf, size_t size)
{
	struct fuzz_file *f = &files[fd - FD];
	size_t n = f->size - f->offset;

	MUST(size > 0, "a read of nothing looks like the end");
	n = n < size ? n : size;
	n = n < chunk ? n : chunk;
	/* All of it: what is asked for must be there. */
	memset(buf, '9', size);
	memcpy(buf, f->text + f->offset, n);
	f->offset += n;
	return (ssize_t)n;
}

static void fake_close(int fd)
{
	(void)fd;
	files_open--;
}

#define cpuc_sys_open(path, flags) fake_open(path, flags)
#define cpuc_sys_read(fd, buf, size) fake_read(fd, buf, size)
#define cpuc_sys_close(fd) fake_close(fd)
#include "../../src/rate/stated_rate.c"
#include "../../src/rate/textfile.c"

/* Takes the bytes up to a separator, unless it is the last file, or the end, in
 * memory of exactly their size, so that reading past them is found. */
static void take(struct fuzz_file *f, const uint8_t **data, size_t *left)
{
	const uint8_t *end = NULL;

	if (*left > 0 && f != LAST)
		end = memchr(*data, SEPARATOR, *left);
	f->size = end != NULL ? (size_t)(end - *data) : *left;
	f->text = malloc(f->size > 0 ? f->size : 1);
	MUST(f->text, "no memory");
	if (f->size > 0)
		memcpy(f->text, *data, f->size);
	*data += f->size + (end != NULL);
	*left -= f->size + (end != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const size_t chunks[] = {SIZE_MAX, 1,    2,    7,
					64,       1000, 1023, 1024};
	struct cpuc_rate rate, plain;
	uint64_t timebase;
	size_t i;

	if (size == 0)
		return 0;
	chunk = chunks[*data++ & 7];
	size--;
	for (i = 0; i < FILES; i++) {
		take(&files[i], &data, &size);
		/* Every other way of not saying anything is no file at all. */
		files[i].exists = files[i].size > 0 || i % 2;
	}
	rate = cpuc_stated_rate(0);
	timebase = cpuc_stated_timebase();
	MUST(rate.hz == 0 || (rate.hz >= CPUC_HZ_MIN && rate.hz <= CPUC_HZ_MAX),
	     "%llu", (unsigned long long)rate.hz);
	chunk = SIZE_MAX;
	plain = cpuc_stated_rate(0);
	MUST(rate.hz == plain.hz && strcmp(rate.source, plain.source) == 0 &&
		     rate.of_core == plain.of_core,
	     "%llu by %s instead of %llu by %s", (unsigned long long)rate.hz,
	     rate.source, (unsigned long long)plain.hz, plain.source);
	MUST(timebase == cpuc_stated_timebase(), "%llu",
	     (unsigned long long)timebase);
	MUST(files_open == 0, "%d", files_open);
	for (i = 0; i < FILES; i++)
		free(files[i].text);
	return 0;
}
