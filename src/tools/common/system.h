/* SPDX-License-Identifier: 0BSD */
/* What the system knows of the machine: names, and why timings may scatter. */
#ifndef CPUC_TOOLS_SYSTEM_H
#define CPUC_TOOLS_SYSTEM_H

struct system {
	char governor[32]; /* such as "performance"; "": unknown */
	char turbo[8];     /* "on", "off" or "" */
	char threads[64];  /* CPUs of the same core, such as "0,8"; or "" */
};

/* Reads a CPU's files below the directory `root`, "" for this machine. */
void system_read(const char *root, int cpu, struct system *s);

/* The times of all CPUs since the machine started, in ticks. */
struct system_time {
	long long busy;   /* not idle; stolen time included */
	long long stolen; /* a CPU had work and the hypervisor did not run it */
};

/* 0, or -1 where /proc/stat does not report stolen time. */
int system_time(const char *root, struct system_time *t);

/* Names the machine, for people who compare several. "": unknown. */
struct machine {
	char cpu[128];    /* such as "Intel(R) Core(TM) ...", or "aarch64" */
	char system[256]; /* such as "Linux 6.1.0 x86_64" */
	char time[32];    /* now, UTC, such as "2026-01-31T12:00:00Z" */
};
void machine_find(struct machine *m);

#endif
