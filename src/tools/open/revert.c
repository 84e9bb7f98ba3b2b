/* SPDX-License-Identifier: 0BSD */
/* cpucycles-open --revert. Each step can be repeated: what could not be
 * restored stays on record for the next attempt. */
#include <config.h>
#include <errno.h>
#include <stdio.h>
#include "actions.h"
#include "files.h"
#include "../common/tool.h"

/* Restores what `found` says, unless somebody else has set something since.
 * TOOL_FINDING: still to be done. */
static int restore(const struct open_run *run,
		   const struct open_setting *setting, int found)
{
	int now, err = open_read_setting(run->root, setting, &now);

	if (err == -ENOENT || (err == 0 && now == found))
		return TOOL_GOOD;
	if (err != 0)
		return open_failed("read", setting->path, err);
	if (now != setting->value) {
		printf("left %s: %d: somebody has changed it since; it was "
		       "%d\n",
		       setting->path, now, found);
		return TOOL_GOOD;
	}
	if (!run->dry)
		err = open_write_setting(run->root, setting, found);
	if (err != 0)
		return open_failed("write", setting->path, err);
	printf("%s %s: %d -> %d\n", run->dry ? "would restore" : "restored",
	       setting->path, now, found);
	return TOOL_GOOD;
}

static int remove_file(const struct open_run *run, const char *path)
{
	struct open_state ignored;
	int err = open_read_state(run->root, path, &ignored);

	if (err == -ENOENT)
		return TOOL_GOOD;
	if (err == -EPERM) {
		printf("left %s: it was not written by " OPEN_TOOL "\n", path);
		return TOOL_GOOD;
	}
	err = run->dry ? 0 : open_remove(run->root, path);
	if (err != 0)
		return open_failed("remove", path, err);
	printf("%s %s\n", run->dry ? "would remove" : "removed", path);
	return TOOL_GOOD;
}

int open_revert(const struct open_run *run)
{
	struct open_state state;
	int i, status = TOOL_GOOD;

	if (open_recall(run->root, &state) != TOOL_GOOD)
		return TOOL_FINDING;
	if (open_state_empty(&state))
		printf("nothing to restore\n");
	for (i = 0; i < OPEN_SETTINGS; i++) {
		if (!state.changed[i])
			continue;
		if (restore(run, &open_settings[i], state.found[i]) ==
		    TOOL_GOOD)
			state.changed[i] = false;
		else
			status = TOOL_FINDING;
	}
	/* Before the others go, in which the same may be on record. */
	if (!run->dry && open_remember(run->root, &state) != TOOL_GOOD)
		return TOOL_FINDING;
	for (i = 0; i < OPEN_PERSISTENT; i++)
		if (remove_file(run, open_persistent[i].path) != TOOL_GOOD)
			status = TOOL_FINDING;
	return status;
}
