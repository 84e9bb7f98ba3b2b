/* SPDX-License-Identifier: 0BSD */
/* Perf events of what this process will start. */
#include <config.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "run.h"
#include "../common/tool.h"
#include "../../perf/pmus.h"

/* Of cycles and of instructions. */
static struct events {
	int fd[CPUC_TYPES], n; /* one for each type of core */
} events[2];

/* -1: nothing has counted. */
static long long events_close(struct events *e)
{
	uint64_t now[3], count = 0, enabled = 0, running = 0;
	double share;

	for (; e->n > 0; close(e->fd[e->n]))
		if (read(e->fd[--e->n], now, sizeof now) == sizeof now) {
			count += now[0];
			enabled = now[1] > enabled ? now[1] : enabled;
			running += now[2];
		}
	if (running == 0)
		return -1;
	share = running < enabled ? (double)running / (double)enabled : 1;
	run.share = share < run.share ? share : run.share;
	return (long long)((double)count / share);
}

static bool events_open(struct events *e, unsigned counts)
{
	struct perf_event_attr attr = {.size = sizeof attr,
				       .disabled = 1,
				       .enable_on_exec = 1,
				       .inherit = 1,
				       .exclude_kernel = run.user,
				       .exclude_hv = run.user,
				       .read_format =
					       PERF_FORMAT_TOTAL_TIME_ENABLED |
					       PERF_FORMAT_TOTAL_TIME_RUNNING};
	struct cpuc_event event[CPUC_TYPES];
	int n = (int)cpuc_core_pmus(event, counts);

	for (e->n = 0; e->n < n; e->n++) {
		attr.type = event[e->n].type;
		attr.config = event[e->n].config;
		e->fd[e->n] = (int)syscall(SYS_perf_event_open, &attr, 0, -1,
					   -1, PERF_FLAG_FD_CLOEXEC);
		if (e->fd[e->n] < 0)
			break;
	}
	if (e->n < n)
		events_close(e);
	return e->n > 0;
}

bool events_begin(void)
{
	if (tool_without_events())
		return false;
	for (; !events_open(&events[CYCLES], PERF_COUNT_HW_CPU_CYCLES);
	     run.user = true)
		if (run.user)
			return false;
	events_open(&events[INSTRUCTIONS], PERF_COUNT_HW_INSTRUCTIONS);
	return true;
}

void events_end(long long *cycles, long long *instructions)
{
	*cycles = events_close(&events[CYCLES]);
	*instructions = events_close(&events[INSTRUCTIONS]);
}
