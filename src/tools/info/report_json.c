/* SPDX-License-Identifier: 0BSD */
/* The report as JSON; tests/info.schema.json describes it. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include "calls.h"
#include "cpucycles.h"
#include "json.h"
#include "machine.h"
#include "overrides.h"
#include "report.h"
#include "../common/stats.h"
#include "../common/tool.h"

static void add_machine(struct json *j)
{
	struct machine m;

	machine_describe(&m);
	json_string(j, "time", m.time);
	json_open(j, "machine", '{');
	json_string(j, "cpu", m.cpu);
	json_string(j, "system", m.system);
	json_close(j, '}');
}

static void add_rate(struct json *j)
{
	long long core = cpucycles_observepersecond();

	json_integer(j, "persecond", cpucycles_persecond());
	json_string(j, "persecond_source", cpucycles_persecondsource());
	if (core != 0)
		json_integer(j, "core_persecond", core);
	else
		json_null(j, "core_persecond");
}

static void add_observed(struct json *j)
{
	struct observed o[OBSERVED];
	int i;

	observe(o);
	json_open(j, "observed", '[');
	for (i = 0; i < OBSERVED; i++) {
		if (o[i].ns == 0)
			continue;
		json_open(j, NULL, '{');
		json_integer(j, "loops", o[i].loops);
		json_integer(j, "nanoseconds", o[i].ns);
		json_number(j, "low", o[i].low);
		json_number(j, "high", o[i].high);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void add_environment(struct json *j, const struct request *r)
{
	struct override o[OVERRIDES];
	int i;

	overrides(o, r->counter);
	json_open(j, "environment", '{');
	for (i = 0; i < OVERRIDES; i++) {
		if (o[i].value == NULL)
			continue;
		json_open(j, o[i].name, '{');
		json_string(j, "value", o[i].value);
		json_boolean(j, "in_force", o[i].why_not[0] == '\0');
		json_string(j, "reason", o[i].why_not);
		json_close(j, '}');
	}
	json_close(j, '}');
}

/* The library gives a reason as one string: see cpucycles_counter(3). */
static void add_reason(struct json *j, char *reason)
{
	char *hint = strstr(reason, "; ");

	if (hint != NULL) {
		*hint = '\0';
		hint += 2;
	}
	json_string(j, "reason", reason);
	json_string(j, "hint", hint != NULL ? hint : "");
}

static void add_counters(struct json *j)
{
	struct cpucycles_counter c;
	unsigned i;

	json_open(j, "counters", '[');
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		json_open(j, NULL, '{');
		json_string(j, "name", c.name);
		json_string(j, "kind", c.kind);
		json_boolean(j, "usable", c.usable);
		json_integer(j, "precision", c.precision);
		json_number(j, "scaling", c.scaling);
		json_integer(j, "bits", c.bits);
		add_reason(j, c.reason);
		json_close(j, '}');
	}
	json_close(j, ']');
}

static void add_calls(struct json *j)
{
	const struct calls *c = calls_measure(CALLS_FEW);
	int i;

	json_open(j, "calls", '{');
	json_integer(j, "iqm", c->iqm);
	json_open(j, "quartiles", '[');
	for (i = 1; i <= 3; i++)
		json_integer(j, NULL, stats_quantile(c->sorted, c->n, i, 4));
	json_close(j, ']');
	json_integer(j, "min", c->sorted[0]);
	json_integer(j, "max", c->sorted[c->n - 1]);
	json_open(j, "differences", '[');
	for (i = 0; i < c->n; i++)
		json_integer(j, NULL, c->diff[i]);
	json_close(j, ']');
	json_close(j, '}');
}

int report_json(const struct request *r)
{
	struct json j = {.file = stdout, .lines = 1, .empty = 1};

	json_open(&j, NULL, '{');
	json_string(&j, "version", cpucycles_version());
	add_machine(&j);
	json_string(&j, "implementation", cpucycles_implementation());
	json_string(&j, "kind", cpucycles_kind());
	add_rate(&j);
	add_observed(&j);
	add_environment(&j, r);
	add_counters(&j);
	add_calls(&j);
	json_close(&j, '}');
	return strcmp(cpucycles_kind(), "zero") ? TOOL_GOOD : TOOL_FINDING;
}
