/* SPDX-License-Identifier: 0BSD */
/* textfile.c: what counts as a number, and that its value is exact. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tap.h"
#include "rate/textfile.h"

static const struct {
	const char *text;
	uint64_t hz;
} numbers[] = {
	/* plain, point */
	{"2399987654", 2399987654},
	{" \t\n\v\f\r2399987654 \t\n\v\f\r", 2399987654},
	{"0002399987654", 2399987654},
	{"2399987654.", 2399987654},
	{"2399999999.9", 2399999999},
	/* the limits, exactly */
	{"1000000", 1000000},
	{"999999", 0},
	{"999999.9", 0},
	{"100000000000", 100000000000},
	{"100000000001", 0},
};

static const struct {
	const char *text;
	uint64_t hz;
	int exp10;
	const char *unit;
} units[] = {
	{"2596.120", 2596120000, 6, ""},
	{"3400000", 3400000000, 3, ""},
	{"3550.000000MHz\n", 3550000000, 6, "MHz"},
	{"3550.000000\t MHz ", 3550000000, 6, "MHz"},
	{"2596.1234567", 2596123456, 6, ""},
	{"2.", 2000000, 6, ""},
	{".9999999", 0, 6, ""},
	{"100000.000001", 0, 6, ""},
	{"3550.000000", 0, 6, "MHz"},
	{"3550.000000\nMHz", 0, 6, "MHz"},
	{"3550.000000MH", 0, 6, "MHz"},
	{"3550.000000mhz", 0, 6, "MHz"},
	{"3550.000000MHzz", 0, 6, "MHz"},
	{"MHz", 0, 6, "MHz"},
	{"3550.000000MHz", 0, 6, ""},
};

static const char *const refused[] = {
	/* what would wrap around 2^63, 2^64 or 2^128 into the limits */
	"9223372039254775808", "18446744076109551616",
	"340282366920938463463374607434168211456",
	"340282366920938463463374609831768211456",
	/* not one unsigned decimal number */
	"", " ", ".", "e9", "2.4e9", "2400000000e0", "2400000000..",
	"2.400.000.000", "2,4e9", "2400000000,0", "2'400'000'000",
	"2_400_000_000", "+2400000000", "-2400000000", "2400000000-",
	"0x8f0d1800", "0x1p31", "2400000000f", "2.4d9", "nan", "inf",
	"<unsupported>\n", "2400000000 2400000000", "2400000000\n2400000000\n",
	"2400 000 000", "2400000000 Hz", "2.4GHz", "2400000000 # Hz",
	"\"2400000000\"",
	/* a byte order mark, other blanks, other digits */
	"\357\273\2772400000000", "\302\2402400000000", "2400000000\240",
	"\331\242\331\244\331\240\331\240\331\240\331\240\331\240"};

static void check(const char *text, int exp10, const char *unit, uint64_t hz)
{
	uint64_t got = cpuc_parse_hz(text, exp10, unit);

	if (!ok(got == hz, "a number is %" PRIu64 " Hz", hz))
		diag("\"%s\" gave %" PRIu64, text, got);
}

static void test_tables(void)
{
	size_t i;

	for (i = 0; i < COUNT(numbers); i++)
		check(numbers[i].text, 0, "", numbers[i].hz);
	for (i = 0; i < COUNT(units); i++)
		check(units[i].text, units[i].exp10, units[i].unit,
		      units[i].hz);
	for (i = 0; i < COUNT(refused); i++)
		check(refused[i], 0, "", 0);
}

/* Numbers with very many equal bytes: head, then these, then tail. */
static const struct {
	const char *what, *head, *tail;
	char fill;
	uint64_t hz;
} many[] = {
	{"zeros in front", "", "2400000000", '0', 2400000000},
	{"zeros at the end", "2400000000.", "", '0', 2400000000},
	{"less than one Hz", "2400000000.", "", '9', 2400000000},
	{"just below the lower limit", "999999.", "", '9', 0},
	{"too many digits", "24", "", '0', 0},
	{"white space", "2400000000", "\n", ' ', 2400000000},
};

static void test_many(void)
{
	static char text[100100];
	const size_t n = 100000;

	for (size_t i = 0; i < COUNT(many); i++) {
		size_t head = strlen(many[i].head);

		strcpy(text, many[i].head);
		memset(text + head, many[i].fill, n);
		strcpy(text + head + n, many[i].tail);
		ok(cpuc_parse_hz(text, 0, "") == many[i].hz, "%s: %" PRIu64,
		   many[i].what, many[i].hz);
	}
}

int main(void)
{
	test_tables();
	test_many();
	return done_testing();
}
