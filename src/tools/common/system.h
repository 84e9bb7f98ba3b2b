/* SPDX-License-Identifier: 0BSD */
/* Reads from Linux why timings on a CPU may scatter: its governor, turbo, the
 * other threads of its core, and time that the hypervisor took. */
#ifndef CPUC_TOOLS_SYSTEM_H
#define CPUC_TOOLS_SYSTEM_H

struct system {
	char governor[32]; /* such as "performance"; "": unknown */
	char turbo[8];     /* "on", "off" or "" */
	char threads[64];  /* CPUs of the same core, such as "0,8"; or "" */
};

/* Reads the files of CPU `cpu` below the directory `root`, "" for this
 * machine. */
void system_read(const char *root, int cpu, struct system *s);

/* The times of all CPUs since the machine started, in ticks. */
struct system_time {
	long long busy;   /* not idle; stolen time included */
	long long stolen; /* a CPU had work and the hypervisor did not run it */
};

/* 0, or -1 where /proc/stat does not report stolen time. */
int system_time(const char *root, struct system_time *t);

#endif
