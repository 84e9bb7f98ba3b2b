/* SPDX-License-Identifier: 0BSD */
/* The state that cpucycles-open keeps: any text after the line that marks it
 * as ours, or with bit 0 of the first byte any text at all; with bit 1, a state
 * that is written and read again. */
#include <config.h>
#include <limits.h>
#include "../../src/tools/open/settings.c"
#include "../../src/tools/open/state.c"
#include "fuzz.h"

/* A number is what printf makes of one. */
static void check_number(const char *text, size_t len)
{
	char copy[32] = "", canonical[32];
	long long wide;
	int value = 0, err = open_number(text, len, &value);

	if (len >= sizeof copy || memchr(text, '\0', len)) {
		MUST(err, "%zu bytes", len);
		return;
	}
	memcpy(copy, text, len);
	wide = strtoll(copy, NULL, 10);
	snprintf(canonical, sizeof canonical, "%lld", wide);
	if (strcmp(copy, canonical) == 0 && wide > INT_MIN && wide <= INT_MAX)
		MUST(err == 0 && value == wide, "%s: %d, %d", copy, err, value);
	else
		MUST(err, "%s: %d", copy, value);
}

/* Whether this line is one of those from `at` on. */
static bool has(const char *at, const char *line, size_t len)
{
	for (; at != NULL; at = strchr(at, '\n')) {
		at += *at == '\n';
		if (strlen(at) > len && memcmp(at, line, len) == 0 &&
		    at[len] == '\n')
			return true;
	}
	return false;
}

/* What was read is what would be written: no line more, and none less. */
static void check_state(const char *text, size_t len,
			const struct open_state *state)
{
	char again[OPEN_TEXT_SIZE];
	struct open_state second;
	const char *end = text + len;
	size_t i, lines = 0, n = open_state_format(state, "", again);

	MUST(n == strlen(again), "%zu", n);
	for (i = 0; i < n; i++)
		lines += again[i] == '\n';
	for (; text < end && *text != '\n'; text += len + 1) {
		const char *newline = memchr(text, '\n', (size_t)(end - text));

		MUST(newline, "half a line");
		len = (size_t)(newline - text);
		MUST(has(again, text, len), "%.*s", (int)len, text);
		lines--;
	}
	MUST(lines == 0, "%zu lines of %s", lines, again);
	MUST(open_state_parse(again, n, &second) == 0, "%s", again);
	for (i = 0; i < OPEN_SETTINGS; i++) {
		MUST(second.changed[i] == state->changed[i], "%zu", i);
		if (!state->changed[i])
			continue;
		MUST(second.found[i] == state->found[i], "%zu", i);
		MUST(state->found[i] >= 0 &&
			     !open_enough(&open_settings[i], state->found[i]),
		     "%s is opened by %d", open_settings[i].path,
		     state->found[i]);
	}
	MUST(open_state_empty(&second) == open_state_empty(state), "empty");
}

/* A state, written, with a byte changed or its end cut off. */
static void write_and_read(struct fuzz_bytes *b)
{
	struct open_state state = {0}, got;
	char text[OPEN_TEXT_SIZE], *exact;
	size_t n, len, i;

	for (i = 0; i < OPEN_SETTINGS; i++) {
		state.found[i] = fuzz_byte(b) - 100;
		state.changed[i] =
			state.found[i] >= 0 &&
			!open_enough(&open_settings[i], state.found[i]);
	}
	n = open_state_format(&state, "", text);
	check_state(text, n, &state);
	len = fuzz_byte(b);
	len = len < n ? n - len : n;
	if (fuzz_byte(b) & 1)
		text[fuzz_byte(b) * n / 256] = (char)fuzz_byte(b);
	exact = malloc(len);
	MUST(exact, "no memory");
	memcpy(exact, text, len);
	if (open_state_parse(exact, len, &got) == 0)
		check_state(exact, len, &got);
	free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes b = {data, size};
	uint8_t how = fuzz_byte(&b);
	struct open_state state;
	size_t len, skip = how & 1 ? 0 : sizeof mark - 1;
	char *rest, *text;

	if (how & 2) {
		write_and_read(&b);
		return 0;
	}
	rest = fuzz_part(&b, FUZZ_REST, &len);
	check_number(rest, len);
	text = malloc(skip + len + !(skip + len));
	MUST(text, "no memory");
	memcpy(text, mark, skip);
	memcpy(text + skip, rest, len);
	len += skip;
	if (open_state_parse(text, len, &state) == 0)
		check_state(text, len, &state);
	else
		MUST(len != sizeof mark - 1 || skip == 0, "our mark alone");
	free(rest);
	free(text);
	return 0;
}
