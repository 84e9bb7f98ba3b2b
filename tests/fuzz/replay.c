/* SPDX-License-Identifier: 0BSD */
/* Runs a fuzz target on files, without libFuzzer: the files and directories
 * that are named, or else the target's corpus. A finding ends the program. */
#include <config.h>
#include <dirent.h>
#include <errno.h>
#include "fuzz.h"
#include "../tap.h"

#define SIZE_MAX_READ ((size_t)1 << 20)

static void run_file(const char *path, FILE *f)
{
	uint8_t *data, *all = malloc(SIZE_MAX_READ);
	size_t size;

	MUST(all, "no memory");
	size = fread(all, 1, SIZE_MAX_READ, f);
	/* As libFuzzer does it: memory of exactly that size. */
	data = realloc(all, size ? size : 1);
	MUST(data, "no memory");
	diag("%s", path);
	LLVMFuzzerTestOneInput(data, size);
	ok(!ferror(f), "%zu bytes", size);
	free(data);
}

static void run(const char *path)
{
	char inner[4096];
	struct dirent *e;
	DIR *dir = opendir(path);
	FILE *f;

	if (dir == NULL) {
		f = fopen(path, "rb");
		if (f == NULL) {
			ok(0, "%s: %s", path, strerror(errno));
			return;
		}
		run_file(path, f);
		fclose(f);
		return;
	}
	while ((e = readdir(dir)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
		run(inner);
	}
	closedir(dir);
}

/* The corpus is called as the target is, without fuzz_. */
static void run_corpus(const char *self)
{
	const char *top = getenv("top_srcdir"), *name = strstr(self, "fuzz_");
	char path[4096];

	if (top == NULL || name == NULL)
		skip_all("name the files to run on, or set top_srcdir");
	while (strstr(name + 1, "fuzz_") != NULL)
		name = strstr(name + 1, "fuzz_");
	snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%s", top,
		 name + strlen("fuzz_"));
	path[strcspn(path, "\n")] = '\0';
	run(path);
	ok(tap_run > 0, "%s is not empty", path);
}

int main(int argc, char **argv)
{
	int i;

	/* No input at all is one, too. */
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	for (i = 1; i < argc; i++)
		run(argv[i]);
	if (argc == 1)
		run_corpus(argv[0]);
	return done_testing();
}
