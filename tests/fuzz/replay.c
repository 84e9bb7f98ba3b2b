/* SPDX-License-Identifier: 0BSD */
/* Runs a fuzz target without libFuzzer on its corpus. A finding ends the
 * program. */
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
int main(int argc, char **argv)
{
	const char *top = getenv("top_srcdir"), *name = strrchr(argv[0], '_');
	char pattern[4096];
	glob_t found;
	size_t i;

	(void)argc;
	if (top == NULL || name == NULL)
		skip_all("set top_srcdir");
	snprintf(pattern, sizeof pattern, "%s/tests/fuzz/corpus/%s/*", top,
		 name + 1);
	/* No input at all is one, too. */
	LLVMFuzzerTestOneInput((const uint8_t *)"", 0);
	if (!ok(glob(pattern, 0, NULL, &found) == 0, "%s", pattern))
		return done_testing();
	for (i = 0; i < found.gl_pathc; i++)
		run(found.gl_pathv[i]);
	globfree(&found);
	return done_testing();
}
