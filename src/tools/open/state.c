/* SPDX-License-Identifier: 0BSD */
/* What cpucycles-open found before it changed it, as text. */
#include <config.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "state.h"

static const char mark[] = "# Written by cpucycles-open; cpucycles-open "
			   "--revert removes this file.\n";
static const char found[] = "# found ";

bool open_state_ours(const char *text, size_t length)
{
	return length >= sizeof mark - 1 &&
	       memcmp(text, mark, sizeof mark - 1) == 0;
}

bool open_state_empty(const struct open_state *state)
{
	int i;

	for (i = 0; i < OPEN_SETTINGS; i++)
		if (state->changed[i])
			return false;
	return true;
}

/* The setting that text[0..length) is the path of, or -EINVAL. */
static int setting_of(const char *text, size_t length)
{
	int i;

	for (i = 0; i < OPEN_SETTINGS; i++)
		if (length == strlen(open_settings[i].path) &&
		    memcmp(text, open_settings[i].path, length) == 0)
			return i;
	return -EINVAL;
}

/* "# found PATH VALUE", without the newline. */
static int parse_line(const char *line, size_t length, struct open_state *state)
{
	const size_t skip = sizeof found - 1;
	const char *space;
	int i, value;

	if (length < skip || memcmp(line, found, skip) != 0)
		return -EINVAL;
	line += skip;
	length -= skip;
	space = memchr(line, ' ', length);
	if (space == NULL)
		return -EINVAL;
	i = setting_of(line, (size_t)(space - line));
	if (i < 0 || state->changed[i])
		return -EINVAL;
	length -= (size_t)(space + 1 - line);
	if (open_number(space + 1, length, &value) != 0 || value < 0 ||
	    open_enough(&open_settings[i], value))
		return -EINVAL;
	state->changed[i] = true;
	state->found[i] = value;
	return 0;
}

int open_state_parse(const char *text, size_t length, struct open_state *state)
{
	const char *end = text + length, *line, *newline;

	*state = (struct open_state){0};
	if (!open_state_ours(text, length))
		return -EINVAL;
	for (line = text + sizeof mark - 1; line < end; line = newline + 1) {
		newline = memchr(line, '\n', (size_t)(end - line));
		if (newline == NULL)
			return -EINVAL;
		if (newline == line)
			return 0;
		if (parse_line(line, (size_t)(newline - line), state) != 0)
			return -EINVAL;
	}
	return 0;
}

size_t open_state_format(const struct open_state *state, const char *prefix,
			 char text[OPEN_TEXT_SIZE])
{
	size_t n = sizeof mark - 1;
	int i;

	memcpy(text, mark, sizeof mark);
	for (i = 0; i < OPEN_SETTINGS; i++)
		if (state->changed[i] &&
		    strncmp(open_settings[i].path, prefix, strlen(prefix)) == 0)
			n += (size_t)snprintf(
				text + n, OPEN_TEXT_SIZE - n, "%s%s %d\n",
				found, open_settings[i].path, state->found[i]);
	return n;
}
