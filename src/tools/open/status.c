/* SPDX-License-Identifier: 0BSD */
/* cpucycles-open --status. */
#include <config.h>
#include <stdio.h>
#include "actions.h"
#include "files.h"
#include "../common/tool.h"

static void print_setting(const struct open_setting *setting, int now,
			  const int *found)
{
	if (!open_enough(setting, now)) {
		printf("%s: %d, closed; with %d, %s\n", setting->path, now,
		       setting->value, setting->allows);
		return;
	}
	printf("%s: %d, open", setting->path, now);
	if (now != setting->value)
		printf(" further than with %d", setting->value);
	if (found != NULL)
		printf(", and %d before", *found);
	printf("; %s\n", setting->allows);
}

/* Where this tool stops short of what RISC-V may need. */
static void print_riscv(const char *root, const struct open_view *view)
{
	if (view->here[0] && view->now[0] == open_settings[0].value &&
	    open_cpu_is(root, "isa", "rv"))
		printf("note: if this CPU cannot leave the kernel out of a "
		       "count, users need %s of 1, which lets them count in "
		       "the kernel; " OPEN_TOOL " does not set that\n",
		       open_settings[0].path);
}

int open_status(const char *root)
{
	struct open_state state, ours;
	struct open_view view;
	int i, here = 0, closed = 0, status;

	status = open_recall(root, &state) | open_look(root, &view);
	for (i = 0; i < OPEN_SETTINGS; i++) {
		if (!view.here[i])
			continue;
		here++;
		closed += !open_enough(&open_settings[i], view.now[i]);
		print_setting(&open_settings[i], view.now[i],
			      state.changed[i] ? &state.found[i] : NULL);
	}
	for (i = 0; i < OPEN_PERSISTENT; i++)
		if (open_read_state(root, open_persistent[i].path, &ours) == 0)
			printf("%s: makes settings at every boot\n",
			       open_persistent[i].path);
	print_riscv(root, &view);
	if (here == 0)
		printf("there is nothing to open here\n");
	return closed > 0 ? TOOL_FINDING : status;
}
