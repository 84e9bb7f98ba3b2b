/* SPDX-License-Identifier: 0BSD */
/* Numbers in text files, read exactly: digit by digit in integers, because
 * strtod takes its point from the locale, and hexadecimal, nan and inf too. */
#include <config.h>

#include "number.h"

#include <stdbool.h>
#include <string.h>

/* text[pos..len) is what has not been read yet. */
struct scan {
	const char *text;
	size_t len;
	size_t pos;
};

/* The value is 0.DDD * 10^point, DDD being the digits in
 * text[first..end), where a '.' among them counts for nothing; 0 when that
 * is empty. */
struct decimal {
	size_t first; /* the first digit that is not 0 */
	size_t end;
	int64_t point;
};

/* Exponents stop growing here: past any number of digits that memory holds,
 * and so small that sums of a few of them do not overflow. */
#define EXPONENT_MAX (INT64_MAX / 100)

/* The most digits that any uint64_t can hold. */
#define DIGITS_MAX 19

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* isspace() of the C locale: another locale may add bytes of its own. */
static bool is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static void skip_space(struct scan *s)
{
	while (s->pos < s->len && is_space(s->text[s->pos]))
		s->pos++;
}

/* Digits with at most one point, which may be first or last. A second one is
 * left for the caller to stumble on. No digits are 0: as good as refused. */
static void scan_digits(struct scan *s, struct decimal *d)
{
	bool nonzero = false, fraction = false;

	d->point = 0;
	for (; s->pos < s->len; s->pos++) {
		char c = s->text[s->pos];

		if (c == '.' && !fraction) {
			fraction = true;
			continue;
		}
		if (!is_digit(c))
			break;
		if (c != '0' && !nonzero) {
			nonzero = true;
			d->first = s->pos;
		}
		if (nonzero && !fraction)
			d->point++;
		else if (!nonzero && fraction)
			d->point--;
	}
	d->end = s->pos;
	if (!nonzero)
		d->first = d->end;
}

/* An optional exponent, added to the decimal. False: an e without digits. */
static bool scan_exponent(struct scan *s, struct decimal *d)
{
	bool any = false, negative = false;
	int64_t exponent = 0;

	if (s->pos == s->len ||
	    (s->text[s->pos] != 'e' && s->text[s->pos] != 'E'))
		return true;
	s->pos++;
	if (s->pos < s->len &&
	    (s->text[s->pos] == '+' || s->text[s->pos] == '-'))
		negative = s->text[s->pos++] == '-';
	for (; s->pos < s->len && is_digit(s->text[s->pos]); s->pos++) {
		any = true;
		if (exponent < EXPONENT_MAX / 10)
			exponent = exponent * 10 + (s->text[s->pos] - '0');
	}
	d->point += negative ? -exponent : exponent;
	return any;
}

static bool scan_unit(struct scan *s, const char *unit)
{
	size_t len = strlen(unit);

	while (len && s->pos < s->len &&
	       (s->text[s->pos] == ' ' || s->text[s->pos] == '\t'))
		s->pos++;
	if (s->len - s->pos < len || memcmp(s->text + s->pos, unit, len) != 0)
		return false;
	s->pos += len;
	return true;
}

/* The nearest integer, a half upwards; 0 when the value itself, not only the
 * integer, is outside the rates that are believed. */
static uint64_t round_hz(const char *text, const struct decimal *d)
{
	uint64_t hz = 0;
	int64_t place = 0;
	bool half = false, rest = false;

	if (d->point < 1 || d->point > DIGITS_MAX)
		return 0;
	for (size_t i = d->first; i < d->end; i++) {
		if (text[i] == '.')
			continue;
		if (place < d->point)
			hz = hz * 10 + (unsigned)(text[i] - '0');
		else if (text[i] != '0')
			rest = true;
		if (place == d->point)
			half = text[i] >= '5';
		place++;
	}
	for (; place < d->point; place++)
		hz *= 10;
	if (hz < CPUC_HZ_MIN || hz > CPUC_HZ_MAX || (hz == CPUC_HZ_MAX && rest))
		return 0;
	return hz + half;
}

uint64_t cpuc_parse_hz(const char *text, size_t len, int exp10,
		       const char *unit)
{
	struct scan s = {.text = text, .len = len};
	struct decimal d;

	skip_space(&s);
	scan_digits(&s, &d);
	if (!scan_exponent(&s, &d) || !scan_unit(&s, unit))
		return 0;
	skip_space(&s);
	if (s.pos != s.len || d.first == d.end)
		return 0;
	d.point += exp10;
	return round_hz(text, &d);
}
