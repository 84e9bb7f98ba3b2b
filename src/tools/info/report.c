/* SPDX-License-Identifier: 0BSD */
/* The reports in lines of text, whose first ones programs have parsed for
 * years, and the same as JSON, which tests/info.schema.json describes. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cpucycles.h"
#include "info.h"
#include "../../rate/stated_rate.h"
#include "../common/affinity.h"
#include "../common/json.h"
#include "../common/stats.h"
#include "../common/system.h"
#include "../common/tool.h"

struct request request;

#define SAMPLES 15                          /* of a core's rate */
#define RATE_FILE "/etc/cpucyclespersecond" /* an administrator's */

/* The library's environment variables. */
#define VARIABLES 2
static const char *const report_variables[VARIABLES] = {
	"cpucyclesimplementation", "cpucyclespersecond"};

/* Why this value of variable i has no effect; "" if it has. Static storage. */
static const char *report_why_not(int i, const char *value)
{
	static char text[256];
	const char *source = cpucycles_persecondsource();

	if (i == 1) {
		if (!strcmp(source, "environment variable cpucyclespersecond"))
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
	if (request.counter != NULL &&
	    strcmp(value, cpucycles_implementation()) != 0)
		return "--counter names another";
	return tool_not_taken(value);
}

static void report_measured(void)
{
	const struct calls *c = calls_measure(CALLS_FEW);
	long long iqm = (long long)c->iqm;
	struct observed o[OBSERVED];
	int i, n;

	printf("cpucycles iqm %lld ", iqm);
	for (i = 0; i < CALLS_FEW; i++)
		printf("%+lld", c->diff[i] - iqm);
	printf("\n");
	n = calls_observe(o);
	for (i = 0; i < n; i++)
		printf("cpucycles observed persecond %.0f...%.0f with %ld "
		       "loops %lld microseconds\n",
		       o[i].low, o[i].high, o[i].loops, o[i].ns / 1000);
}

/* The first rate that the system states, and why the library does not believe
 * it; "": it does, or states none. Static storage. */
static const char *report_disbelieved(void)
{
	static char text[256];
	/* gcc's analyzer takes an automatic one for uninitialised. */
	static struct cpuc_rate stated;
	const char *source = cpucycles_persecondsource();
	double hz = (double)cpucycles_persecond();

	text[0] = '\0';
	stated = cpuc_stated_rate(0);
	if (stated.hz == 0 || strcmp(stated.source, source) == 0 ||
	    (!stated.of_core && strcmp(source, "time-stamp counter") != 0))
		return text;
	if (stated.of_core)
		hz = (double)cpucycles_observepersecond();
	snprintf(text, sizeof text,
		 "%s: it states %.0f MHz, and the %s %.0f MHz", stated.source,
		 (double)stated.hz / 1e6,
		 stated.of_core ? "core runs at" : "time-stamp counter has",
		 hz / 1e6);
	return text;
}

const char *report_clock(const struct cpucycles_counter *c)
{
	return strstr(c->name, "tsc")   ? "time-stamp counter"
	       : strstr(c->name, "vct") ? "virtual count"
					: "clock";
}

/* Many users do not know that the core's rate is not the clock's, and a script
 * easily misses that a variable had no effect. */
void report_notes(const struct cpucycles_counter *c, void (*note)(const char *))
{
	const char *value, *why;
	char text[1024];
	int i;

	if (c->kind_id == CPUCYCLES_CALIBRATED) {
		snprintf(text, sizeof text,
			 "the core runs at %.3f times the rate of the %s",
			 c->scaling, report_clock(c));
		note(text);
	}
	for (i = 0; i < VARIABLES; i++) {
		value = getenv(report_variables[i]);
		why = value != NULL ? report_why_not(i, value) : "";
		if (*why == '\0')
			continue;
		snprintf(text, sizeof text, "%s=%s was not taken: %s",
			 report_variables[i], value, why);
		note(text);
	}
	if (access(RATE_FILE, F_OK) == 0 &&
	    strcmp(cpucycles_persecondsource(), RATE_FILE) != 0)
		note(RATE_FILE " was not taken: it is not a readable file with "
			       "one number from 1e6 to 1e11");
	why = report_disbelieved();
	snprintf(text, sizeof text, "not believed: %s", why);
	if (*why != '\0')
		note(text);
}

const char *report_shared(const struct cpucycles_counter *c)
{
	static const char *const why[] = {
		[CPUCYCLES_CORE] = "whatever the core does is counted",
		[CPUCYCLES_CALIBRATED] =
#ifdef _WIN32
			("QueryThreadCycleTime() does not advance with the "
			 "counter's clock"),
#else
			("no restartable sequences (rseq) are registered here, "
			 "which report preemptions"),
#endif
		[CPUCYCLES_REFERENCE] = "a clock does not stand still",
		[CPUCYCLES_OS] = "a clock does not stand still",
		[CPUCYCLES_ZERO] = "nothing is counted"};

	return c->per_thread ? "" : why[c->kind_id];
}

static void report_line_note(const char *text)
{
	printf("cpucycles note %s\n", text);
}

int report_lines(void)
{
	struct cpucycles_counter c, other;
	unsigned i;

	printf("cpucycles version %s\n", cpucycles_version());
	/* Selecting prints the trace. */
	cpucycles_tracesetup();
	if (cpucycles_select(request.counter) != 0 ||
	    cpucycles_counterbyname(NULL, &c, sizeof c) != 0)
		return TOOL_FINDING;
	printf("cpucycles persecond %lld\n", cpucycles_persecond());
	printf("cpucycles implementation %s\n", c.name);
	report_measured();
	printf("cpucycles kind %s\n", c.kind);
	printf("cpucycles per thread %s%s\n",
	       c.per_thread ? "yes" : "no: ", report_shared(&c));
	tool_instructions(&other);
	printf("cpucycles instructions %s%s\n",
	       other.usable ? other.name : "unavailable: ", tool_why(&other));
	for (i = 0; cpucycles_counter(i, &other, sizeof other) == 0; i++)
		if (!other.usable)
			printf("cpucycles unavailable %s: %s\n", other.name,
			       tool_why(&other));
	report_notes(&c, report_line_note);
	return TOOL_GOOD;
}

static void report_cpu(int cpu)
{
	long long hz[SAMPLES], persecond = cpucycles_persecond();
	double middle;
	int i;

	for (i = 0; i < SAMPLES; i++)
		hz[i] = cpucycles_observepersecond();
	middle = (double)stats_median(hz, SAMPLES);
	if (!request.lines && hz[0] == 0)
		terminal_print(0, 0, "%3d  too noisy to measure", cpu);
	else if (!request.lines)
		terminal_print(0, 0, "%3d  %9s  %15.3f  %7.2f%%", cpu,
			       table_hz(middle), middle / (double)persecond,
			       (double)(hz[SAMPLES - 1] - hz[0]) * 100 /
				       middle);
	else if (hz[0] == 0)
		printf("cpucycles cpu %d unavailable: too noisy to measure\n",
		       cpu);
	else
		printf("cpucycles cpu %d persecond %lld observed %.0f ratio "
		       "%.4f spread %.2f%%\n",
		       cpu, persecond, middle, middle / (double)persecond,
		       (double)(hz[SAMPLES - 1] - hz[0]) * 100 / middle);
}

int report_cpus(void)
{
	struct cpucycles_counter c;
	struct affinity a;
	int cpu = -1, err = affinity_get(&a);
	unsigned i;

	if (err)
		return tool_failed("cannot find out which CPUs this process "
				   "may run on: %s",
				   strerror(err));
	if (cpucycles_observepersecond() == 0) {
		tool_failed("the core's rate could not be measured on this "
			    "CPU");
		for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++)
			if (c.kind_id == CPUCYCLES_CALIBRATED && !c.usable)
				tool_failed("%s: %s", c.name, tool_why(&c));
		return TOOL_FINDING;
	}
	if (!request.lines)
		terminal_print(0, 0,
			       "CPU       rate  of counts' rate    spread");
	while ((cpu = affinity_next(&a, cpu)) >= 0) {
		err = affinity_pin(cpu);
		if (err == 0)
			report_cpu(cpu);
		else if (!request.lines)
			terminal_print(0, 0, "%3d  %s", cpu, strerror(err));
		else
			printf("cpucycles cpu %d unavailable: %s\n", cpu,
			       strerror(err));
	}
	affinity_end(&a);
	return TOOL_GOOD;
}

static void report_json_observed(void)
{
	struct observed o[OBSERVED];
	int i, n = calls_observe(o);

	json_open("observed", '[');
	for (i = 0; i < n; i++) {
		json_open(NULL, '{');
		json_print("loops", "%ld", o[i].loops);
		json_print("nanoseconds", "%lld", o[i].ns);
		json_print("low", "%.9g", o[i].low);
		json_print("high", "%.9g", o[i].high);
		json_close('}');
	}
	json_close(']');
}

static void report_json_environment(void)
{
	const char *value, *why;
	int i;

	json_open("environment", '{');
	for (i = 0; i < VARIABLES; i++) {
		value = getenv(report_variables[i]);
		if (value == NULL)
			continue;
		why = report_why_not(i, value);
		json_open(report_variables[i], '{');
		json_text("value", value);
		json_print("in_force", *why ? "false" : "true");
		json_text("reason", why);
		json_close('}');
	}
	json_close('}');
}

/* What counters of cycles and of instructions have. */
static void report_json_counter(const struct cpucycles_counter *c)
{
	json_print("usable", c->usable ? "true" : "false");
	json_print("step", "%lld", c->step);
	json_text("reason", c->reason);
	json_text("hint", c->hint);
}

static void report_json_counters(void)
{
	struct cpucycles_counter c;
	unsigned i;

	json_open("counters", '[');
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		json_open(NULL, '{');
		json_text("name", c.name);
		json_text("kind", c.kind);
		json_print("per_thread", c.per_thread ? "true" : "false");
		json_print("precision", "%lld", c.precision);
		json_print("scaling", "%.9g", c.scaling);
		json_print("bits", "%u", c.bits);
		report_json_counter(&c);
		json_close('}');
	}
	json_close(']');
	tool_instructions(&c);
	json_open("instructions", '{');
	json_text("name", c.usable ? c.name : "");
	report_json_counter(&c);
	json_close('}');
}

static void report_json_calls(void)
{
	const struct calls *c = calls_measure(CALLS_FEW);
	int i;

	json_open("calls", '{');
	json_print("iqm", "%.9g", c->iqm);
	json_open("quartiles", '[');
	for (i = 0; i < 3; i++)
		json_print(NULL, "%lld", c->quartile[i]);
	json_close(']');
	json_print("min", "%lld", c->sorted[0]);
	json_print("max", "%lld", c->sorted[CALLS_FEW - 1]);
	json_open("differences", '[');
	for (i = 0; i < CALLS_FEW; i++)
		json_print(NULL, "%lld", c->diff[i]);
	json_close(']');
	json_close('}');
}

int report_json(void)
{
	long long core = cpucycles_observepersecond();
	int status = TOOL_GOOD;
	struct machine m;

	machine_find(&m);
	json_begin(stdout);
	json_open(NULL, '{');
	json_text("version", cpucycles_version());
	json_text("time", m.time);
	json_open("machine", '{');
	json_text("cpu", m.cpu);
	json_text("system", m.system);
	json_close('}');
	json_text("implementation", cpucycles_implementation());
	json_text("kind", cpucycles_kind());
	json_print("persecond", "%lld", cpucycles_persecond());
	json_text("persecond_source", cpucycles_persecondsource());
	json_text("persecond_disbelieved", report_disbelieved());
	json_print("core_persecond", core == 0 ? "null" : "%lld", core);
	report_json_observed();
	report_json_environment();
	report_json_counters();
	if (request.noise)
		status = noise_json();
	report_json_calls();
	json_close('}');
	return status;
}
