/* SPDX-License-Identifier: 0BSD */
/* Names the machine, for people who compare several. */
#ifndef CPUC_TOOLS_MACHINE_H
#define CPUC_TOOLS_MACHINE_H

struct machine {
	char cpu[128];    /* such as "Intel(R) Core(TM) ...", or "aarch64" */
	char system[256]; /* such as "Linux 6.1.0 x86_64" */
	char time[32];    /* now, UTC, such as "2026-01-31T12:00:00Z" */
};

/* "" where they are unknown. */
void machine_find(struct machine *m);

/* Why a calibrated counter does not count the thread alone, where it does not.
 */
extern const char machine_shared[];

#endif
