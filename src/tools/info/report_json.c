/* SPDX-License-Identifier: 0BSD */
/* The report as JSON; tests/info.schema.json describes it. */
#include <config.h>
#include <stdio.h>
#include <stdlib.h>
#include "calls.h"
#include "noise_text.h"
#include "report_json.h"
#include "../common/json.h"
#include "../common/tool.h"

static void json_observed(void)
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

static void json_environment(const struct request *r)
{
	const char *value, *why;
	int i;

	json_open("environment", '{');
	for (i = 0; i < VARIABLES; i++) {
		value = getenv(report_variables[i]);
		if (value == NULL)
			continue;
		why = report_why_not(i, value, r);
		json_open(report_variables[i], '{');
		json_text("value", value);
		json_print("in_force", *why ? "false" : "true");
		json_text("reason", why);
		json_close('}');
	}
	json_close('}');
}

/* What counters of cycles and of instructions have. */
static void json_counter(const struct cpucycles_counter *c)
{
	json_print("usable", c->usable ? "true" : "false");
	json_print("step", "%lld", c->step);
	json_text("reason", c->reason);
	json_text("hint", c->hint);
}

static void json_counters(void)
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
		json_counter(&c);
		json_close('}');
	}
	json_close(']');
	report_instructions(&c);
	json_open("instructions", '{');
	json_text("name", c.usable ? c.name : "");
	json_counter(&c);
	json_close('}');
}

static void json_calls(void)
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
	json_print("max", "%lld", c->sorted[c->n - 1]);
	json_open("differences", '[');
	for (i = 0; i < c->n; i++)
		json_print(NULL, "%lld", c->diff[i]);
	json_close(']');
	json_close('}');
}

int report_json(const struct request *r)
{
	long long core = cpucycles_observepersecond();
	int status = TOOL_GOOD;
	struct machine m;

	report_machine(&m);
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
	json_print("core_persecond", core == 0 ? "null" : "%lld", core);
	json_observed();
	json_environment(r);
	json_counters();
	if (r->noise)
		status = noise_json();
	json_calls();
	json_close('}');
	return status;
}
