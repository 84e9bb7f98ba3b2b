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
	int exp10;
	const char *unit; /* NULL: none */
} numbers[] = {
	/* plain, point */
	{"2399987654", 2399987654, 0, NULL},
	{" \t\n\v\f\r2399987654 \t\n\v\f\r", 2399987654, 0, NULL},
	{"0002399987654", 2399987654, 0, NULL},
	{"2399987654.", 2399987654, 0, NULL},
	{"2399999999.9", 2399999999, 0, NULL},
	/* the limits, exactly */
	{"1000000", 1000000, 0, NULL},
	{"999999", 0, 0, NULL},
	{"999999.9", 0, 0, NULL},
	{"100000000000", 100000000000, 0, NULL},
	{"100000000001", 0, 0, NULL},
	/* units */
	{"2596.120", 2596120000, 6, NULL},
	{"3400000", 3400000000, 3, NULL},
	{"3550.000000MHz\n", 3550000000, 6, "MHz"},
	{"3550.000000\t MHz ", 3550000000, 6, "MHz"},
	{"2596.1234567", 2596123456, 6, NULL},
	{".9999999", 0, 6, NULL},
	{"100000.000001", 0, 6, NULL},
	{"3550.000000", 0, 6, "MHz"},
	{"3550.000000\nMHz", 0, 6, "MHz"},
	{"3550.000000MH", 0, 6, "MHz"},
	{"3550.000000mhz", 0, 6, "MHz"},
	{"3550.000000MHzz", 0, 6, "MHz"},
	{"MHz", 0, 6, "MHz"},
	{"3550.000000MHz", 0, 6, NULL},
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
	uint64_t got = cpuc_parse_hz(text, exp10, unit ? unit : "");

	if (!ok(got == hz, "a number is %" PRIu64 " Hz", hz))
		diag("\"%s\" gave %" PRIu64, text, got);
}

int main(void)
{
	size_t i;

	for (i = 0; i < COUNT(numbers); i++)
		check(numbers[i].text, numbers[i].exp10, numbers[i].unit,
		      numbers[i].hz);
	for (i = 0; i < COUNT(refused); i++)
		check(refused[i], 0, NULL, 0);
	return done_testing();
}
