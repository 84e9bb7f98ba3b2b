/* SPDX-License-Identifier: 0BSD */
/* The reports in lines of text, and facts that other reports use. Programs
 * have parsed the first lines for years. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "calls.h"
#include "report.h"
#include "../common/affinity.h"
#include "../common/stats.h"
#include "../common/tool.h"

#define SAMPLES 15 /* of a core's rate */

const char *const report_variables[] = {"cpucyclesimplementation",
					"cpucyclespersecond"};

const char *report_why_not(int i, const char *value, const struct request *r)
{
	static char text[256];
	const char *source = cpucycles_persecondsource();

	if (i == 1) {
		/* A file in /etc has the same name. */
		if (!strncmp(source, "environment ", strlen("environment ")))
			return "";
		if (!strcmp(source, "measured") &&
		    !strcmp(cpucycles_kind(), "calibrated"))
			return "a calibrated counter's rate is measured";
		if (!strcmp(source, "measured") || !strcmp(source, "unknown"))
			return "it is not a number from 1e6 to 1e11, or "
			       "privileges are raised";
		snprintf(text, sizeof text, "%s states the rate", source);
		return text;
	}
	if (r->counter != NULL &&
	    strcmp(value, cpucycles_implementation()) != 0)
		return "--counter names another";
	return tool_not_taken(value);
}

void report_machine(struct machine *m)
{
	time_t now = time(NULL);
	char *c;

	memset(m, 0, sizeof *m);
	machine_find(m);
	for (c = m->cpu; *c != '\0'; c++)
		if (*c < ' ' || *c > '~')
			*c = '?';
	strftime(m->time, sizeof m->time, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
}

static void report_measured(void)
{
	const struct calls *c = calls_measure(CALLS_FEW);
	long long iqm = (long long)c->iqm;
	struct observed o[OBSERVED];
	int i, n;

	printf("cpucycles iqm %lld ", iqm);
	for (i = 0; i < c->n; i++)
		printf("%+lld", c->diff[i] - iqm);
	printf("\n");
	n = calls_observe(o);
	for (i = 0; i < n; i++)
		printf("cpucycles observed persecond %.0f...%.0f with %ld "
		       "loops %lld microseconds\n",
		       o[i].low, o[i].high, o[i].loops, o[i].ns / 1000);
}

/* An administrator's file that the library skipped. */
static void report_file(void)
{
	static const char path[] = "/etc/cpucyclespersecond";

	if (access(path, F_OK) == 0 &&
	    strcmp(cpucycles_persecondsource(), path) != 0)
		printf("cpucycles note %s was not taken: it is not a readable "
		       "file with one number from 1e6 to 1e11\n",
		       path);
}

/* Many users do not know that the core's rate is not the clock's, and a script
 * easily misses that a variable had no effect. */
static void report_notes(const struct cpucycles_counter *c,
			 const struct request *r)
{
	const char *value, *why;
	int i;

	if (c->kind_id == CPUCYCLES_CALIBRATED)
		printf("cpucycles note the core runs at %.3f times the rate of "
		       "the %s\n",
		       c->scaling,
		       strstr(c->name, "tsc")   ? "time-stamp counter"
		       : strstr(c->name, "vct") ? "virtual count"
						: "clock");
	for (i = 0; i < VARIABLES; i++) {
		value = getenv(report_variables[i]);
		why = value != NULL ? report_why_not(i, value, r) : "";
		if (*why != '\0')
			printf("cpucycles note %s=%s was not taken: %s\n",
			       report_variables[i], value, why);
	}
	report_file();
}

/* Why the counter does not count the thread alone. */
static const char *report_shared(const struct cpucycles_counter *c)
{
	switch (c->kind_id) {
	case CPUCYCLES_CORE:
		return "whatever the core does is counted";
	case CPUCYCLES_CALIBRATED:
		return machine_shared;
	default:
		return "a clock does not stand still";
	}
}

void report_instructions(struct cpucycles_counter *c)
{
	const bool tried = !tool_without_events();

	if (tried && cpucycles_instructionscounter(c, sizeof *c) == 0)
		return;
	memset(c, 0, sizeof *c);
	snprintf(c->reason, sizeof c->reason, "%s",
		 tried ? TOOL_NO_INSTRUCTIONS
		       : "not tried, since the environment names a counter "
			 "without perf events");
}

/* A sentence for people; programs get the lines alone. */
static void report_sentence(void)
{
	struct cpucycles_counter c, better;
	double hz = (double)cpucycles_observepersecond();
	unsigned i;

	cpucycles_counterbyname(NULL, &c, sizeof c);
	fputs(tool_counts(&c), stdout);
	if (c.kind_id == CPUCYCLES_REFERENCE || c.kind_id == CPUCYCLES_OS)
		fputs(", not cycles of the core", stdout);
	if (hz > 0)
		printf("; the core runs at %.2f GHz now", hz / 1e9);
	for (i = 0; cpucycles_counter(i, &better, sizeof better) == 0; i++)
		if (better.kind_id < c.kind_id && better.hint[0] != '\0') {
			printf("; %s would be better, but %s", better.name,
			       tool_why(&better));
			break;
		}
	fputs(".\n\n", stdout);
}

int report_text(const struct request *r)
{
	struct cpucycles_counter c, other;
	unsigned i;

	if (isatty(1))
		report_sentence();
	printf("cpucycles version %s\n", cpucycles_version());
	/* Selecting prints the trace. */
	cpucycles_tracesetup();
	if (cpucycles_select(r->counter) != 0 ||
	    cpucycles_counterbyname(NULL, &c, sizeof c) != 0)
		return TOOL_FINDING;
	printf("cpucycles persecond %lld\n", cpucycles_persecond());
	printf("cpucycles implementation %s\n", c.name);
	report_measured();
	printf("cpucycles kind %s\n", c.kind);
	printf("cpucycles per thread %s%s\n", c.per_thread ? "yes" : "no: ",
	       c.per_thread ? "" : report_shared(&c));
	report_instructions(&other);
	printf("cpucycles instructions %s%s\n",
	       other.usable ? other.name : "unavailable: ", tool_why(&other));
	for (i = 0; cpucycles_counter(i, &other, sizeof other) == 0; i++)
		if (!other.usable)
			printf("cpucycles unavailable %s: %s\n", other.name,
			       tool_why(&other));
	report_notes(&c, r);
	return TOOL_GOOD;
}

static void report_cpu(int cpu)
{
	long long hz[SAMPLES], persecond = cpucycles_persecond();
	double middle;
	int i;

	for (i = 0; i < SAMPLES; i++)
		hz[i] = cpucycles_observepersecond();
	stats_sort(hz, SAMPLES);
	middle = (double)hz[SAMPLES / 2];
	printf("cpucycles cpu %d ", cpu);
	if (hz[0] == 0)
		printf("unavailable: too noisy to measure\n");
	else
		printf("persecond %lld observed %.0f ratio %.4f spread "
		       "%.2f%%\n",
		       persecond, middle, middle / (double)persecond,
		       (double)(hz[SAMPLES - 2] - hz[1]) * 100 / middle);
}

static int report_no_rate(void)
{
	struct cpucycles_counter c;
	unsigned i;

	fprintf(stderr, "cpucycles-info: the core's rate could not be measured "
			"on this CPU\n");
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
		if (c.kind_id == CPUCYCLES_CALIBRATED && !c.usable)
			fprintf(stderr, "cpucycles-info: %s: %s\n", c.name,
				tool_why(&c));
	return TOOL_FINDING;
}

int report_cpus(const struct request *r)
{
	struct affinity a;
	int cpu, err = affinity_get(&a);

	(void)r;
	if (err) {
		fprintf(stderr,
			"cpucycles-info: cannot find out which CPUs this "
			"process may run on: %s\n",
			strerror(err));
		return TOOL_FINDING;
	}
	if (cpucycles_observepersecond() == 0) {
		affinity_end(&a);
		return report_no_rate();
	}
	for (cpu = affinity_next(&a, -1); cpu >= 0;
	     cpu = affinity_next(&a, cpu)) {
		err = affinity_pin(cpu);
		if (err == 0)
			report_cpu(cpu);
		else
			printf("cpucycles cpu %d unavailable: %s\n", cpu,
			       strerror(err));
	}
	affinity_end(&a);
	return TOOL_GOOD;
}
