/* SPDX-License-Identifier: 0BSD */
/* The parts of cpucycles-info that compute: bins, scales, JSON, XML. */
#include <config.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "../src/tools/info/calls.h"
#include "../src/tools/info/json.h"
#include "../src/tools/info/svg.h"
#include "tap.h"

/* The file's content so far. */
static const char *written(FILE *f)
{
	static char text[512];
	size_t n;

	rewind(f);
	n = fread(text, 1, sizeof text - 1, f);
	text[n] = '\0';
	fclose(f);
	return text;
}

static int total(const struct histogram *h)
{
	int i, sum = h->below + h->above;

	for (i = 0; i < h->bins; i++)
		sum += h->count[i];
	return sum;
}

static void check_bins(const char *what, const long long *sorted, int n,
		       int most, long long first, long long width, int bins)
{
	struct histogram h;

	calls_histogram(&h, sorted, n, most);
	ok(h.first == first && h.width == width && h.bins == bins,
	   "%s: %d bins of %lld from %lld", what, h.bins, h.width, h.first);
	ok(total(&h) == n, "which leave out none");
}

static void check_histogram(void)
{
	static const long long same[] = {0, 0, 0, 0};
	static const long long one[] = {41};
	static const long long few[] = {1, 39, 41, 41, 41, 42};
	static const long long back[] = {-26, -1, 0, 0, 3};
	static const long long coarse[] = {0, 0, 0, 2596};
	static const long long wild[] = {LLONG_MIN / 4, 0, 1, LLONG_MAX / 4};
	static long long tail[1000];
	struct histogram h;
	int i;

	check_bins("all zero", same, 4, 20, 0, 1, BINS_MIN);
	check_bins("one value", one, 1, 20, 40, 1, BINS_MIN);
	check_bins("single cycles", few, 6, 64, 0, 1, 43);
	check_bins("the same, in rows", few, 6, 20, 0, 5, 10);
	check_bins("0 begins a bin, below it too", back, 5, 8, -35, 5, 8);
	check_bins("a coarse clock", coarse, 4, 20, 0, 1, BINS_MIN);
	calls_histogram(&h, wild, 4, 20);
	ok(total(&h) == 4 && h.bins <= 20, "differences of any size");

	for (i = 0; i < 1000; i++)
		tail[i] = i < 995 ? 100 + i / 200 : 1000000 + i;
	tail[0] = 7;
	calls_histogram(&h, tail, 1000, 20);
	ok(h.below == 1 && h.above == 5 && h.width == 1,
	   "what an interrupt hit is outside: %d, %d", h.below, h.above);
	ok(h.most == 200 && h.count[101 - h.first] == 200,
	   "the highest bin has %d", h.most);
	ok(h.first + h.low == 101 && h.first + h.high == 103,
	   "the middle half ends at the quartiles");
}

static void check_step(void)
{
	ok(calls_step(43, 10) == 5 && calls_step(4096, 5) == 1000 &&
		   calls_step(120, 5) == 50 && calls_step(5, 5) == 1 &&
		   calls_step(6, 5) == 2 && calls_step(0, 5) == 1 &&
		   calls_step(10000000000, 5) == 2000000000,
	   "steps of scales are 1, 2 or 5 times a power of ten");
}

static void check_json(void)
{
	FILE *f = tmpfile();

	if (f == NULL) {
		skip("there is no temporary file");
		return;
	}
	json_string(f, "a\"b\\c\n\x7f \xc3\xa9 \xff\xc3 \xed\xa0\x80 "
		       "\xe0\x80\x80 \xf0\x9f\x98\x80 \xf4\x90\x80\x80");
	ok(!strcmp(written(f),
		   "\"a\\\"b\\\\c\\u000a\\u007f \xc3\xa9 \\ufffd\\ufffd "
		   "\\ufffd\\ufffd\\ufffd \\ufffd\\ufffd\\ufffd "
		   "\xf0\x9f\x98\x80 \\ufffd\\ufffd\\ufffd\\ufffd\""),
	   "a string in JSON may hold any bytes");
}

static void check_xml(void)
{
	FILE *f = tmpfile();

	if (f == NULL) {
		skip("there is no temporary file");
		return;
	}
	svg_text(f, "note", 1, 2, "a<b>%s", "&c");
	ok(!strcmp(written(f),
		   "<text class=\"note\" x=\"1.0\" y=\"2.0\">a&lt;b&gt;&amp;c"
		   "</text>\n"),
	   "text in XML is escaped");
}

int main(void)
{
	check_histogram();
	check_step();
	check_json();
	check_xml();
	return done_testing();
}
