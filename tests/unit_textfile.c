/* SPDX-License-Identifier: 0BSD */
/* textfile.c: what counts as a number, and that its value is exact. */
#include <config.h>

#include <inttypes.h>
#include <string.h>

#include "tap.h"
#include "system/textfile.h"

struct number {
	const char *text;
	uint64_t hz; /* 0: has to be refused */
	int exp10;
	const char *unit;
};

static const struct number numbers[] = {
	/* plain, point, exponent */
	{"2399987654", 2399987654, 0, ""},
	{"2399987654\n", 2399987654, 0, ""},
	{" \t\n\v\f\r2399987654 \t\n\v\f\r", 2399987654, 0, ""},
	{"0002399987654", 2399987654, 0, ""},
	{"2399987654.", 2399987654, 0, ""},
	{"2.4e9", 2400000000, 0, ""},
	{"2.4E9", 2400000000, 0, ""},
	{"2.4e+9", 2400000000, 0, ""},
	{"2.4e+009", 2400000000, 0, ""},
	{".24e10", 2400000000, 0, ""},
	{"0.00024e13", 2400000000, 0, ""},
	{"24000000000000e-4", 2400000000, 0, ""},
	{"2400000000e0", 2400000000, 0, ""},
	{"2400000000e-0", 2400000000, 0, ""},
	{"1.e9", 1000000000, 0, ""},
	/* the unit that the format has */
	{"2596.120", 2596120000, 6, ""},
	{"3550.000000MHz\n", 3550000000, 6, "MHz"},
	{"3550.000000 MHz", 3550000000, 6, "MHz"},
	{"3550.000000\t MHz ", 3550000000, 6, "MHz"},
	{"3.55e3MHz", 3550000000, 6, "MHz"},
	{"3400000", 3400000000, 3, ""},
	{"2399987654321", 2399987654, -3, ""},
	{"3550.000000", 0, 6, "MHz"},
	{"3550.000000\nMHz", 0, 6, "MHz"},
	{"3550.000000MH", 0, 6, "MHz"},
	{"3550.000000mhz", 0, 6, "MHz"},
	{"3550.000000MHzz", 0, 6, "MHz"},
	{"3550.000000MHz MHz", 0, 6, "MHz"},
	{"3550.000000MHz 1", 0, 6, "MHz"},
	{"MHz", 0, 6, "MHz"},
	{"3550.000000MHz", 0, 6, ""},
	/* rounding */
	{"2400000000.4999999999999999999999", 2400000000, 0, ""},
	{"2400000000.5", 2400000001, 0, ""},
	{"2400000000.05", 2400000000, 0, ""},
	{"2399999999.9", 2400000000, 0, ""},
	{"2596.1234564", 2596123456, 6, ""},
	{"2596.1234565", 2596123457, 6, ""},
	{"2.4000000005e9", 2400000001, 0, ""},
	{"24000000005e-1", 2400000001, 0, ""},
	/* the limits, exactly */
	{"1000000", 1000000, 0, ""},
	{"1e6", 1000000, 0, ""},
	{"999999", 0, 0, ""},
	{"999999.9", 0, 0, ""},
	{"999999.999999999999999999999999999", 0, 0, ""},
	{"1000000.4", 1000000, 0, ""},
	{"100000000000", 100000000000, 0, ""},
	{"1e11", 100000000000, 0, ""},
	{"100000000000.000000000000000000000", 100000000000, 0, ""},
	{"99999999999.9", 100000000000, 0, ""},
	{"100000000000.0000000000000000000001", 0, 0, ""},
	{"100000000000.05", 0, 0, ""},
	{"100000000000.5", 0, 0, ""},
	{"100000000001", 0, 0, ""},
	{"0", 0, 0, ""},
	{"0e99999", 0, 0, ""},
	{"0.000", 0, 0, ""},
	/* what would wrap around 2^63, 2^64 or 2^128 into the limits */
	{"9223372039254775808", 0, 0, ""},
	{"18446744076109551616", 0, 0, ""},
	{"340282366920938463463374607434168211456", 0, 0, ""},
	{"340282366920938463463374609831768211456", 0, 0, ""},
	{"2e4294967305", 0, 0, ""},
	{"2e18446744073709551625", 0, 0, ""},
	{"2e-18446744073709551607", 0, 0, ""},
	{"1e999999999999", 0, 0, ""},
	{"1e-999999999999", 0, 0, ""},
	{"1e99999999999999999999999999999999999999999999", 0, 0, ""},
	{"1e9223372036854775807", 0, 0, ""},
	{"1e-9223372036854775808", 0, 0, ""},
	/* not one unsigned decimal number */
	{"", 0, 0, ""},
	{" ", 0, 0, ""},
	{".", 0, 0, ""},
	{". ", 0, 0, ""},
	{"e5", 0, 0, ""},
	{"e9", 0, 0, ""},
	{".e9", 0, 0, ""},
	{"2.4e", 0, 0, ""},
	{"2.4e+", 0, 0, ""},
	{"2.4e-", 0, 0, ""},
	{"2400000000e", 0, 0, ""},
	{"2400000000e+", 0, 0, ""},
	{"2400000000e-", 0, 0, ""},
	{"2400000000e\n", 0, 0, ""},
	{"2400eMHz", 0, 6, "MHz"},
	{"2.4 e9", 0, 0, ""},
	{"2.4e 9", 0, 0, ""},
	{"2.4e9e0", 0, 0, ""},
	{"2.4e9.0", 0, 0, ""},
	{"2.4e++9", 0, 0, ""},
	{"2400000000..", 0, 0, ""},
	{"2.400.000.000", 0, 0, ""},
	{"2,4e9", 0, 0, ""},
	{"2400000000,0", 0, 0, ""},
	{"2'400'000'000", 0, 0, ""},
	{"2_400_000_000", 0, 0, ""},
	{"+2400000000", 0, 0, ""},
	{"-2400000000", 0, 0, ""},
	{"--2400000000", 0, 0, ""},
	{"2400000000-", 0, 0, ""},
	{"0x8f0d1800", 0, 0, ""},
	{"0X8F0D1800", 0, 0, ""},
	{"0x1p31", 0, 0, ""},
	{"2400000000p0", 0, 0, ""},
	{"2400000000f", 0, 0, ""},
	{"2400000000L", 0, 0, ""},
	{"2.4d9", 0, 0, ""},
	{"nan", 0, 0, ""},
	{"NAN", 0, 0, ""},
	{"inf", 0, 0, ""},
	{"infinity", 0, 0, ""},
	{"<unsupported>", 0, 0, ""},
	{"<unsupported>\n", 0, 0, ""},
	{"2400000000 2400000000", 0, 0, ""},
	{"2400000000\n2400000000\n", 0, 0, ""},
	{"2400 000 000", 0, 0, ""},
	{"2400000000 Hz", 0, 0, ""},
	{"2.4GHz", 0, 0, ""},
	{"# 2400000000", 0, 0, ""},
	{"2400000000 # Hz", 0, 0, ""},
	{"\"2400000000\"", 0, 0, ""},
	{"\357\273\2772400000000", 0, 0, ""},
	{"\302\2402400000000", 0, 0, ""},
	{"2400000000\240", 0, 0, ""},
	{"\331\242\331\244\331\240\331\240\331\240\331\240\331\240", 0, 0, ""},
};

static void test_table(void)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
		const struct number *n = &numbers[i];
		uint64_t hz = cpuc_parse_hz(n->text, strlen(n->text), n->exp10,
					    n->unit);

		if (!ok(hz == n->hz, "number %zu is %" PRIu64 " Hz", i, n->hz))
			diag("\"%s\" gave %" PRIu64, n->text, hz);
	}
}

/* Text with NULs in it. */
static void test_length(void)
{
	ok(cpuc_parse_hz("", 0, 0, "") == 0, "no text, no number");
	ok(cpuc_parse_hz("2400000000\0", 11, 0, "") == 0,
	   "a NUL behind the number is no white space");
	ok(cpuc_parse_hz("\0002400000000", 11, 0, "") == 0,
	   "a NUL before the number is no white space");
	ok(cpuc_parse_hz("24000\00000000", 11, 0, "") == 0,
	   "a NUL does not end the number");
	ok(cpuc_parse_hz("2400\0MHz", 8, 6, "MHz") == 0,
	   "a NUL is no blank before the unit");
}

/* head, then n times c, then tail */
static uint64_t parse_long(const char *head, char c, size_t n, const char *tail)
{
	size_t h = strlen(head), t = strlen(tail);
	char *text = malloc(h + n + t + 1);
	uint64_t hz;

	if (!text)
		skip_all("no memory");
	memcpy(text, head, h);
	memset(text + h, c, n);
	memcpy(text + h + n, tail, t + 1);
	hz = cpuc_parse_hz(text, h + n + t, 0, "");
	free(text);
	return hz;
}

static void test_long(void)
{
	const size_t n = 100000;

	ok(parse_long("", '0', n, "2400000000") == 2400000000,
	   "zeros in front do not count");
	ok(parse_long("2400000000.", '0', n, "") == 2400000000,
	   "nor do zeros at the end");
	ok(parse_long("2400000000.4", '9', n, "") == 2400000000,
	   "digits that never reach a half round down");
	ok(parse_long("2400000000.5", '0', n, "1") == 2400000001,
	   "a half and a little rounds up");
	ok(parse_long("100000000000.", '0', n, "1") == 0,
	   "a little above the upper limit is above it");
	ok(parse_long("999999.", '9', n, "") == 0,
	   "a little below the lower limit is below it");
	ok(parse_long("24", '0', n, "e-99992") == 2400000000,
	   "an exponent brings many digits down");
	ok(parse_long("0.", '0', n, "24e100010") == 2400000000,
	   "an exponent brings many decimals up");
	ok(parse_long("24", '0', n, "") == 0, "many digits are too many");
	ok(parse_long("2.4e", '0', n, "9") == 2400000000,
	   "an exponent may have zeros in front");
	ok(parse_long("2.4e", '9', n, "") == 0, "a huge exponent is refused");
	ok(parse_long("2.4e-", '9', n, "") == 0,
	   "a huge negative exponent is refused");
	ok(parse_long("0e", '9', n, "") == 0, "zero stays zero");
	ok(parse_long("2400000000", ' ', n, "\n") == 2400000000,
	   "white space of any length is no part of it");
}

int main(void)
{
	test_table();
	test_length();
	test_long();
	return done_testing();
}
