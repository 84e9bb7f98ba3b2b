/* SPDX-License-Identifier: 0BSD */
/* What cpucycles-open finds: settings, and what earlier runs remember. */
#include <config.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "actions.h"
#include "files.h"
#include "../common/tool.h"

const struct open_persistent open_persistent[OPEN_PERSISTENT] = {
	{"/etc/sysctl.d/60-cpucycles.conf", "/proc/sys/"},
	{"/etc/tmpfiles.d/cpucycles.conf", "/sys/"},
};

int open_failed(const char *doing, const char *path, int err)
{
	const int denied = err == -EACCES || err == -EPERM;
	const char *help = "";

	if (denied && geteuid() != 0)
		help = "; run " OPEN_TOOL " as root";
	else if (denied || err == -EROFS)
		help = "; if this is a container, run " OPEN_TOOL
		       " on its host";
	fprintf(stderr, OPEN_TOOL ": cannot %s %s: %s%s\n", doing, path,
		strerror(-err), help);
	return TOOL_FINDING;
}

/* Adds what a file of ours says, where the state does not know better. */
static int add(const char *root, const char *path, struct open_state *state)
{
	struct open_state more;
	int i, err = open_read_state(root, path, &more);

	if (err == -EINVAL) {
		fprintf(stderr,
			OPEN_TOOL ": %s is damaged: set what it should "
				  "restore yourself, then remove it\n",
			path);
		return TOOL_FINDING;
	}
	/* Somebody else's file is not touched. */
	if (err == -ENOENT || err == -EPERM)
		return TOOL_GOOD;
	if (err != 0)
		return open_failed("read", path, err);
	for (i = 0; i < OPEN_SETTINGS; i++)
		if (more.changed[i] && !state->changed[i]) {
			state->changed[i] = true;
			state->found[i] = more.found[i];
		}
	return TOOL_GOOD;
}

int open_recall(const char *root, struct open_state *state)
{
	struct open_state foreign;
	int i, status;

	*state = (struct open_state){0};
	if (open_read_state(root, OPEN_STATE_FILE, &foreign) == -EPERM) {
		fprintf(stderr,
			OPEN_TOOL ": " OPEN_STATE_FILE " is not of this "
				  "program, or damaged: remove it\n");
		return TOOL_FINDING;
	}
	status = add(root, OPEN_STATE_FILE, state);
	for (i = 0; i < OPEN_PERSISTENT && status == TOOL_GOOD; i++)
		status = add(root, open_persistent[i].path, state);
	return status;
}

int open_remember(const char *root, const struct open_state *state)
{
	char text[OPEN_TEXT_SIZE];
	int err;

	if (open_state_empty(state)) {
		err = open_remove(root, OPEN_STATE_FILE);
		if (err != 0 && err != -ENOENT)
			return open_failed("remove", OPEN_STATE_FILE, err);
		return TOOL_GOOD;
	}
	err = open_replace(root, OPEN_STATE_FILE, text,
			   open_state_format(state, "", text));
	return err ? open_failed("write", OPEN_STATE_FILE, err) : TOOL_GOOD;
}

int open_look(const char *root, struct open_view *view)
{
	int i, err, status = TOOL_GOOD;

	*view = (struct open_view){0};
	for (i = 0; i < OPEN_SETTINGS; i++) {
		err = open_read_setting(root, &open_settings[i], &view->now[i]);
		view->here[i] = err == 0;
		if (err != 0 && err != -ENOENT)
			status =
				open_failed("read", open_settings[i].path, err);
	}
	return status;
}
