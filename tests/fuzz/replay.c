/* SPDX-License-Identifier: 0BSD */
/* Runs a fuzz target without libFuzzer on the files that are named, or else on
 * its corpus. A finding ends the program. */
#include <config.h>
#include <errno.h>
#include <glob.h>
#include "fuzz.h"
#include "../tap.h"

#define SIZE_MAX_READ ((size_t)1 << 20)

static void run(const char *path)
{
	uint8_t *data, *all = malloc(SIZE_MAX_READ);
	FILE *f = fopen(path, "rb");
	size_t size;

	MUST(all, "no memory");
	MUST(f, "%s: %s", path, strerror(errno));
	size = fread(all, 1, SIZE_MAX_READ, f);
	MUST(!ferror(f), "%s: %s", path, strerror(errno));
	fclose(f);
	/* As libFuzzer does it: memory of exactly that size. */
	data = realloc(all, size ? size : 1);
	MUST(data, "no memory");
	diag("%s", path);
	LLVMFuzzerTestOneInput(data, size);
	ok(1, "%zu bytes", size);
	free(data);
}

/* The corpus is called as the target is, without fuzz_. */
static void run_corpus(const char *self)
{
	const char *top = getenv("top_srcdir"), *name = strrchr(self, '_');
	char pattern[4096];
	glob_t found;
	size_t i;

	if (top == NULL || name == NULL)
		skip_all("name the files to run on, or set top_srcdir");
	snprintf(pattern, sizeof pattern, "%s/tests/fuzz/corpus/%s/*", top,
		 name + 1);
	if (!ok(glob(pattern, 0, NULL, &found) == 0, "%s", pattern))
		return;
	for (i = 0; i < found.gl_pathc; i++)
		run(found.gl_pathv[i]);
	globfree(&found);
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
