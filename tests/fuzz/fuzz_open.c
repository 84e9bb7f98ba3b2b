/* SPDX-License-Identifier: 0BSD */
/* The record of cpucycles-open: any text after the first line of one, or with
 * bit 0 of the first byte any text at all; with bit 1, a record that is
 * written and read again, whole and cut short. */
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

/* The record's text; to be freed. */
static char *format(const struct open_record *record, size_t *len)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, len);

	MUST(f, "no memory");
	open_format(record, f);
	fclose(f);
	return text;
}

/* A text that is taken for a record begins with one, and reverting it opens
 * nothing. */
static void check(const char *text, size_t len)
{
	struct open_record record;
	char *again;
	size_t n;
	int i;

	if (parse(&record, text, len) != 0)
		return;
	again = format(&record, &n);
	MUST(n <= len && memcmp(text, again, n) == 0, "%s", again);
	for (i = 0; i < OPEN_SETTINGS; i++)
		MUST(record.old[i] == -1 || (record.old[i] >= 0 &&
					     !open_enough(i, record.old[i])),
		     "%s is opened by %d", open_settings[i].path,
		     record.old[i]);
	free(again);
}

static void write_and_read(struct fuzz_bytes *b)
{
	struct open_record record, got;
	size_t n, cut;
	char *text;
	int i;

	for (i = 0; i < OPEN_SETTINGS; i++) {
		int old = fuzz_byte(b) - 100;

		record.old[i] = old >= 0 && !open_enough(i, old) ? old : -1;
	}
	text = format(&record, &n);
	MUST(parse(&got, text, n) == 0, "%s", text);
	MUST(memcmp(&got, &record, sizeof got) == 0, "%s", text);
	cut = 1 + fuzz_byte(b) % (n - 1);
	MUST(parse(&got, text, n - cut) != 0, "%zu bytes less than %s", cut,
	     text);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes b = {data, size};
	uint8_t how = fuzz_byte(&b);
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
	check(text, skip + len);
	free(rest);
	free(text);
	return 0;
}
