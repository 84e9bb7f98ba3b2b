/* SPDX-License-Identifier: 0BSD */
/* What the parts of cpucycles-run share. */
#ifndef CPUC_TOOLS_RUN_H
#define CPUC_TOOLS_RUN_H

#include <stdbool.h>
#include <stdio.h>

#define RUNS_MOST 100000
#define COMMANDS 2

/* Beside the command's own statuses, as env(1). */
enum { RUN_FAILED = 125, RUN_CANNOT, RUN_NONE };

/* Values in parts of a unit, one a run; < 0: unknown. */
enum { CYCLES, INSTRUCTIONS, RATIO, USER, SYSTEM, WALL, RATE, ROWS };
#define RATIO_UNIT 1e6
#define NS 1e9

struct command {
	char **words; /* behind those of a shell, which runs scripts */
	int runs;
	long long rows[ROWS][RUNS_MOST];
	long long off[RUNS_MOST]; /* an estimate's bound, in 1e-6 of it; < 0 */
};

enum form { FORM_LINES, FORM_JSON, FORM_PEOPLE };

/* Of all runs. */
extern struct run {
	enum form form;
	int wanted, commands; /* runs of each */
	int status;           /* of the last run that failed */
	bool last;            /* there will be no more, */
	bool interrupted;     /* as a signal came to this process */
	bool counted, user;   /* by a PMU, in user mode alone, */
	double share;         /* for this part of the time, at least */
	bool estimated, load; /* beside others' load, once at least */
} run;

/* Signals that are not ignored, as by nohup(1), are taken from now on. */
void command_begin(void);

/* So that its n words can be run. */
void command_words(struct command *c, int n, char **words);

/* Runs it, and keeps the numbers if it is complete and `kept`. */
void command_run(struct command *c, bool kept);

/* Perf events of cycles and instructions in what this process will start.
 * False: none can be opened. */
bool events_begin(void);

/* Closes them. What they counted; < 0: unknown. */
void events_end(long long *cycles, long long *instructions);

/* Sorts the values. */
void result_print(FILE *f, struct command *c, const char *title);

/* What all have in common; for people the last lines. */
void result_how(FILE *f, struct command *c);

/* Which of two takes fewer cycles, before their values are sorted; where the
 * commands ran in turn. */
struct verdict {
	double ratio, low, high; /* of the second to the first; < 0: unknown */
	bool time;               /* as cycles are unknown */
};
struct verdict verdict_find(const struct command *first,
			    const struct command *second);
void verdict_print(FILE *f, const struct verdict *v);

/* A name and a value, as JSON or a line; < 0: unknown. */
void result_number(FILE *f, const char *name, int digits, double value);

#endif
