/* SPDX-License-Identifier: 0BSD */
/* The rate of a time base, from pretended trees of files. */
#include <config.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tap.h"
#include "timebase.h"

#define CELLS "/proc/device-tree/cpus/timebase-frequency"

static char root[] = "/tmp/sim_timebase.XXXXXX";

/* Writes the file, and the directories above it; NULL: removes it. */
static void put(const char *path, const char *content, size_t size)
{
	char full[256];
	size_t i;
	FILE *f;

	snprintf(full, sizeof full, "%s%s", root, path);
	if (content == NULL) {
		unlink(full);
		return;
	}
	for (i = strlen(root) + 1; full[i] != '\0'; i++)
		if (full[i] == '/') {
			full[i] = '\0';
			mkdir(full, 0700);
			full[i] = '/';
		}
	f = fopen(full, "wb");
	if (f == NULL || fwrite(content, 1, size, f) != size || fclose(f) != 0)
		skip_all("cannot write to %s", full);
}

static void check_cells(const char *what, const char *cells, size_t size,
			uint64_t hz)
{
	uint64_t got;

	put(CELLS, cells, size);
	got = cpuc_timebase(root);
	ok(got == hz, "%s: %llu", what, (unsigned long long)got);
}

static void check_cpuinfo(const char *what, const char *text, uint64_t hz)
{
	uint64_t got;

	put("/proc/cpuinfo", text, strlen(text));
	got = cpuc_timebase(root);
	ok(got == hz, "%s: %llu", what, (unsigned long long)got);
}

int main(void)
{
	char command[64];

	if (mkdtemp(root) == NULL)
		skip_all("no temporary directory");
	ok(cpuc_timebase(root) == 0, "no files: unknown");
	check_cells("one cell", "\0\x3d\x09\0", 4, 4000000);
	check_cells("two cells", "\0\0\0\1\0\0\0\0", 8, UINT64_C(1) << 32);
	check_cells("three bytes", "\1\2\3", 3, 0);
	check_cells("nine bytes", "123456789", 9, 0);
	check_cells("32768 Hz are believed", "\0\0\x80\0", 4, 32768);
	check_cpuinfo("the device tree comes first", "timebase : 1000000000\n",
		      32768);
	put(CELLS, NULL, 0);
	check_cpuinfo("POWER's line",
		      "processor\t: 0\nclock\t\t: 3550.000000MHz\n\n"
		      "timebase\t: 512000000\nplatform\t: pSeries\n",
		      512000000);
	check_cpuinfo("no such line", "processor\t: 0\n", 0);
	check_cpuinfo("a longer key", "timebases\t: 512000000\n", 0);
	check_cpuinfo("no number", "timebase\t: fast\n", 0);
	check_cpuinfo("no colon", "timebase\n", 0);
	snprintf(command, sizeof command, "rm -rf %s", root);
	return system(command) != 0 || done_testing();
}
