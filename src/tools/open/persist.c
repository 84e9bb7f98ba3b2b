/* SPDX-License-Identifier: 0BSD */
/* cpucycles-open --persist: files by which the system makes the settings when
 * it starts. Each also says what was found, for a revert after a boot. */
#include <config.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "actions.h"
#include "files.h"
#include "../common/tool.h"

/* A line of sysctl.d(5), "kernel.perf_event_paranoid = 2", or of
 * tmpfiles.d(5), which writes to files that are there. */
static size_t line(const struct open_setting *setting, char *text, size_t size)
{
	const char *proc = "/proc/sys/";
	size_t i, n;

	if (strncmp(setting->path, proc, strlen(proc)) != 0)
		return (size_t)snprintf(text, size, "w %s - - - - %d\n",
					setting->path, setting->value);
	n = (size_t)snprintf(text, size, "%s", setting->path + strlen(proc));
	for (i = 0; i < n; i++)
		if (text[i] == '/')
			text[i] = '.';
	return n +
	       (size_t)snprintf(text + n, size - n, " = %d\n", setting->value);
}

static size_t format(const struct open_persistent *file,
		     const struct open_state *state, char text[OPEN_TEXT_SIZE])
{
	size_t n = open_state_format(state, file->prefix, text), begin;
	int i;

	text[n++] = '\n';
	begin = n;
	for (i = 0; i < OPEN_SETTINGS; i++)
		if (state->changed[i] &&
		    strncmp(open_settings[i].path, file->prefix,
			    strlen(file->prefix)) == 0)
			n += line(&open_settings[i], text + n,
				  OPEN_TEXT_SIZE - n);
	return n > begin ? n : 0;
}

static int write_file(const struct open_run *run, const char *path,
		      const char *text, size_t length)
{
	struct open_state old;
	int err = open_read_state(run->root, path, &old);

	if (err == -EPERM) {
		fprintf(stderr,
			OPEN_TOOL ": %s was not written by this program: move "
				  "it away, then try again\n",
			path);
		return TOOL_FINDING;
	}
	err = run->dry ? 0 : open_replace(run->root, path, text, length);
	if (err == -ENOENT) {
		fprintf(stderr,
			OPEN_TOOL ": there is no directory for %s: if this "
				  "system reads such files, make it, then try "
				  "again\n",
			path);
		return TOOL_FINDING;
	}
	if (err != 0)
		return open_failed("write", path, err);
	printf("%s %s: the same at every boot\n",
	       run->dry ? "would write" : "wrote", path);
	return TOOL_GOOD;
}

/* Only what was found closed: a line for what something else has opened could
 * one day close it. */
int open_persist(const struct open_run *run, const struct open_state *state)
{
	char text[OPEN_TEXT_SIZE];
	int i, status = TOOL_GOOD;
	size_t length;

	if (open_state_empty(state))
		printf("nothing to make persistent\n");
	for (i = 0; i < OPEN_PERSISTENT; i++) {
		length = format(&open_persistent[i], state, text);
		if (length > 0 && write_file(run, open_persistent[i].path, text,
					     length) != TOOL_GOOD)
			status = TOOL_FINDING;
	}
	return status;
}
