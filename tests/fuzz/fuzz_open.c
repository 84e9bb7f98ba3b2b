/* SPDX-License-Identifier: 0BSD */
/* The record of cpucycles-open: any text after the first line of one, or with
 * bit 0 of the first byte any text at all; with bit 1, a record that is
 * written, changed and read again. */
#include <config.h>
#include "../../src/tools/open/settings.c"
#include "fuzz.h"

static int parse(struct open_record *record, const char *text, size_t len)
{
	/* Of no bytes, it would be refused. */
	FILE *f = fmemopen((void *)(uintptr_t)text, len ? len : 1, "r");
	int result;

	MUST(f, "no memory");
	result = open_parse(record, f);
	fclose(f);
	return result;
}

/* A record that was taken: it is what the text begins with, and reverting it
 * opens nothing. */
static void check(const struct open_record *record, const char *text,
		  size_t len)
{
	char *again = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&again, &n);
	int i;

	MUST(f, "no memory");
	open_format(record, f);
	fclose(f);
	MUST(n <= len && memcmp(text, again, n) == 0, "%s", again);
	for (i = 0; i < OPEN_SETTINGS; i++)
		MUST(record->old[i] == -1 || (record->old[i] >= 0 &&
					      !open_enough(i, record->old[i])),
		     "%s is opened by %d", open_settings[i].path,
		     record->old[i]);
	free(again);
}

static void write_and_read(struct fuzz_bytes *b)
{
	struct open_record record, got;
	char *text = NULL;
	size_t n = 0, cut;
	FILE *f = open_memstream(&text, &n);
	int i;

	MUST(f, "no memory");
	for (i = 0; i < OPEN_SETTINGS; i++) {
		int old = fuzz_byte(b) - 100;

		record.old[i] = old >= 0 && !open_enough(i, old) ? old : -1;
	}
	open_format(&record, f);
	fclose(f);
	MUST(parse(&got, text, n) == 0, "%s", text);
	MUST(memcmp(&got, &record, sizeof got) == 0, "%s", text);
	cut = fuzz_byte(b);
	if (cut > 0 && cut < n) {
		n -= cut;
		MUST(parse(&got, text, n) != 0, "%.*s", (int)n, text);
	}
	if (fuzz_byte(b) & 1)
		text[fuzz_byte(b) * n / 256] = (char)fuzz_byte(b);
	if (parse(&got, text, n) == 0)
		check(&got, text, n);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes b = {data, size};
	uint8_t how = fuzz_byte(&b);
	struct open_record record;
	size_t len, skip = how & 1 ? 0 : sizeof open_mark - 1;
	char *rest, *text;

	if (how & 2) {
		write_and_read(&b);
		return 0;
	}
	rest = fuzz_part(&b, FUZZ_REST, &len);
	text = malloc(skip + len + 1);
	MUST(text, "no memory");
	memcpy(text, open_mark, skip);
	memcpy(text + skip, rest, len);
	if (parse(&record, text, skip + len) == 0)
		check(&record, text, skip + len);
	free(rest);
	free(text);
	return 0;
}
