/* SPDX-License-Identifier: 0BSD */
/* What cpucycles-open does. Functions that return int return the tool's exit
 * status, and have said on stderr what went wrong. */
#ifndef OPEN_ACTIONS_H
#define OPEN_ACTIONS_H

#include <stdbool.h>
#include "settings.h"
#include "state.h"

#define OPEN_TOOL "cpucycles-open"
#define OPEN_STATE_FILE "/run/cpucycles-open.state"
#define OPEN_PERSISTENT 2

struct open_run {
	const char *root; /* before every path */
	bool dry;         /* say what would be done, and do not do it */
	bool persist;     /* do it again at every boot */
};

/* Settings as they are now. */
struct open_view {
	bool here[OPEN_SETTINGS];
	int now[OPEN_SETTINGS]; /* if here */
};

/* A file by which the system makes settings when it starts. */
struct open_persistent {
	const char *path;
	const char *prefix; /* of the settings that it is for */
};
extern const struct open_persistent open_persistent[OPEN_PERSISTENT];

int open_status(const char *root);
int open_apply(const struct open_run *run);
int open_revert(const struct open_run *run);

/* Writes the persistent files for all that `state` has. */
int open_persist(const struct open_run *run, const struct open_state *state);

/* What was found before it was changed, in this boot or, where this knows
 * nothing, before it was made persistent. */
int open_recall(const char *root, struct open_state *state);

/* Makes the state file say that; there is none for an empty state. */
int open_remember(const char *root, const struct open_state *state);

/* Settings that are not here are nothing to complain about. */
int open_look(const char *root, struct open_view *view);

/* Says what failed, why (err is -errno), and what would help. */
int open_failed(const char *doing, const char *path, int err);

#endif
