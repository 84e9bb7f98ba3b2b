/* SPDX-License-Identifier: 0BSD */
/* cpucycles-open --apply. What was found is on record before anything is
 * changed, so that whoever is killed in between can be undone. */
#include <config.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "open_actions.h"
#include "open_files.h"
#include "tool.h"

static int set(const struct open_run *run, const struct open_setting *setting,
	       int now)
{
	int err = 0;

	if (!run->dry)
		err = open_write_setting(run->root, setting, setting->value);
	if (err != 0)
		return open_failed("write", setting->path, err);
	printf("%s %s: %d -> %d: %s\n", run->dry ? "would set" : "set",
	       setting->path, now, setting->value, setting->allows);
	return TOOL_GOOD;
}

/* What the last write of ours replaces is what a revert has to bring back:
 * where a setting was closed again since an earlier one, that is its value
 * now. */
static int plan(const struct open_view *view, struct open_state *state,
		bool todo[OPEN_SETTINGS])
{
	int i, count = 0;

	for (i = 0; i < OPEN_SETTINGS; i++) {
		todo[i] = view->here[i] &&
			  !open_enough(&open_settings[i], view->now[i]);
		if (!todo[i])
			continue;
		state->changed[i] = true;
		state->found[i] = view->now[i];
		count++;
	}
	return count;
}

static int set_all(const struct open_run *run, const struct open_view *view,
		   struct open_state *state, const bool todo[OPEN_SETTINGS])
{
	int i, status = TOOL_GOOD;

	if (!run->dry && open_remember(run->root, state) != TOOL_GOOD)
		return TOOL_FINDING;
	for (i = 0; i < OPEN_SETTINGS; i++)
		if (todo[i] &&
		    set(run, &open_settings[i], view->now[i]) != TOOL_GOOD) {
			state->changed[i] = false;
			status = TOOL_FINDING;
		}
	if (status != TOOL_GOOD && !run->dry)
		open_remember(run->root, state);
	return status;
}

int open_apply(const struct open_run *run)
{
	bool todo[OPEN_SETTINGS];
	struct open_state state;
	struct open_view view;
	int count, status;

	if (open_recall(run->root, &state) != TOOL_GOOD)
		return TOOL_FINDING;
	status = open_look(run->root, &view);
	count = plan(&view, &state, todo);
	if (count == 0)
		printf("nothing to set: all settings that are here are open\n");
	else if (set_all(run, &view, &state, todo) != TOOL_GOOD)
		status = TOOL_FINDING;
	if (run->persist && open_persist(run, &state) != TOOL_GOOD)
		status = TOOL_FINDING;
	if (count > 0 && !run->dry)
		printf("undo with " OPEN_TOOL " --revert; for who can read "
		       "what now, see SECURITY in its manual page\n");
	return status;
}
