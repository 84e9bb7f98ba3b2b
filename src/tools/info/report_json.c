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

static void json_word(const char *key, const char *word)
{
	if (*word != '\0')
		json_text(key, word);
	else
		json_print(key, "null");
}

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

static void json_gaps(const struct noise *n, enum noise_item item)
{
	const struct noise_gaps *g = &n->gaps[item];

	if (item == NOISE_PREEMPTION && !n->told) {
		json_print(noise_names[item], "null");
		return;
	}
	json_open(noise_names[item], '{');
	json_print("share", "%.9g", g->share);
	json_print("per_second", "%.9g", g->persecond);
	json_print("median_ns", "%lld", g->median);
	json_print("longest_ns", "%lld", g->longest);
	json_close('}');
}

static void json_hints(const struct noise *n)
{
	const char *hint;
	int i;

	json_open("hints", '{');
	for (i = 0; i < NOISE_ITEMS; i++) {
		hint = noise_hint(n, (enum noise_item)i);
		if (hint != NULL)
			json_text(noise_names[i], hint);
	}
	json_close('}');
}

static int json_noise(void)
{
	const struct noise *n = noise_measure();
	const struct system *s = &n->system;

	json_open("noise", '{');
	json_gaps(n, NOISE_INTERRUPTS);
	json_gaps(n, NOISE_PREEMPTION);
	json_print("steal", n->steal < 0 ? "null" : "%.9g", n->steal);
	json_print("dither", "%.9g", n->dither);
	json_print("dither_worst", "%.9g", n->worst);
	json_print("rate_moved", "%.9g", n->moved);
	json_open("rate_steps", '{');
	json_print("per_second", "%.9g", n->steps.persecond);
	json_print("size", "%.9g", n->steps.size);
	json_print("seconds", "%.9g", n->steps.lasted);
	json_close('}');
	json_print("visible_difference", "%.9g", n->visible / 1e4);
	json_print("visible_apart", "%.9g", n->apart / 1e4);
	json_word("governor", s->governor);
	json_print("turbo", s->turbo < 0 ? "null"
			    : s->turbo   ? "true"
					 : "false");
	json_word("core_cpus", s->threads);
	json_hints(n);
	json_close('}');
	return noise_status(n);
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
		status = json_noise();
	json_calls();
	json_close('}');
	return status;
}
