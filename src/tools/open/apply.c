/* SPDX-License-Identifier: 0BSD */
/* cpucycles-open --apply. What was found is on record before anything is
 * changed, so that whoever is killed in between can be undone. */
#include <config.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include "actions.h"
#include "files.h"
#include "../common/tool.h"

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
		   struct open_state *state, const bool todo[OPEN_SETTINGS],
		   int *done)
{
	int i, status = TOOL_GOOD;

	if (!run->dry && open_remember(run->root, state) != TOOL_GOOD)
		return TOOL_FINDING;
	for (i = 0; i < OPEN_SETTINGS; i++) {
		if (!todo[i])
			continue;
		if (set(run, &open_settings[i], view->now[i]) == TOOL_GOOD) {
			++*done;
			continue;
		}
		state->changed[i] = false;
		status = TOOL_FINDING;
	}
	if (status != TOOL_GOOD && !run->dry)
		open_remember(run->root, state);
	return status;
}

/* Of what cannot be read, nothing is known; it had its message. */
static void say_nothing(const struct open_view *view, int status)
{
	int i, here = 0;

	for (i = 0; i < OPEN_SETTINGS; i++)
		here += view->here[i];
	if (here > 0)
		printf("nothing to set: all settings that %s are open\n",
		       status == TOOL_GOOD ? "are here" : "can be read");
	else if (status == TOOL_GOOD)
		printf("there is nothing to open here\n");
}

int open_apply(const struct open_run *run)
{
	bool todo[OPEN_SETTINGS];
	struct open_state state;
	struct open_view view;
	int count, status, done = 0;

	if (open_recall(run->root, &state) != TOOL_GOOD)
		return TOOL_FINDING;
	status = open_look(run->root, &view);
	count = plan(&view, &state, todo);
	if (count == 0)
		say_nothing(&view, status);
	else if (set_all(run, &view, &state, todo, &done) != TOOL_GOOD)
		status = TOOL_FINDING;
	if (run->persist && open_persist(run, &state) != TOOL_GOOD)
		status = TOOL_FINDING;
	if (done > 0 && !run->dry)
		printf("undo with " OPEN_TOOL " --revert; for who can read "
		       "what now, see SECURITY in its manual page\n");
	return status;
}
