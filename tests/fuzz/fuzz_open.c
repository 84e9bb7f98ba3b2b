/* SPDX-License-Identifier: 0BSD */
/* The record of cpucycles-open: any text after the first line of one, or with
 * bit 0 of the first byte any text at all. */
#include <config.h>
#include "../../src/tools/open/settings.c"
#include "fuzz.h"

/* A text that is taken for a record begins with one, and reverting it opens
 * nothing. */
static void check(char *text, size_t len)
{
	char *again = NULL;
	size_t n;
	FILE *f;
	int old[OPEN_SETTINGS], i, taken;

	/* Of no bytes, it would be refused. */
	f = fmemopen(text, len ? len : 1, "r");
	MUST(f, "no memory");
	memset(old, -1, sizeof old);
	taken = open_parse(old, f) == 0;
	fclose(f);
	if (!taken)
		return;
	f = open_memstream(&again, &n);
	MUST(f, "no memory");
	open_format(old, f);
	fclose(f);
	MUST(n <= len && memcmp(text, again, n) == 0, "%s", again);
	for (i = 0; i < OPEN_SETTINGS; i++)
		MUST(old[i] == -1 || (old[i] >= 0 && !open_enough(i, old[i])),
		     "%s is opened by %d", open_settings[i].path, old[i]);
	free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t skip = size > 0 && data[0] & 1 ? 0 : sizeof open_mark - 1;
	const size_t len = size > 0 ? size - 1 : 0;
	char *text = malloc(skip + len + 1);

	MUST(text, "no memory");
	memcpy(text, open_mark, skip);
	if (len > 0)
		memcpy(text + skip, data + 1, len);
	check(text, skip + len);
	free(text);
	return 0;
}
