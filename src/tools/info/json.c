/* SPDX-License-Identifier: 0BSD */
/* The report as JSON (RFC 8259); tests/info.schema.json describes it. */
#include <config.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include "calls.h"
#include "json.h"
#include "noise_text.h"
#include "../common/tool.h"

/* The length of the UTF-8 character at s (RFC 3629), or 0. */
static size_t json_utf8(const unsigned char *s)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t i, n = *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : 4;
	uint32_t c = *s & (0x7fU >> n);

	if (*s < 0x80)
		return 1;
	if (*s < 0xc0 || *s > 0xf4)
		return 0;
	for (i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[n] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	return n;
}

void json_string(FILE *file, const char *value)
{
	const unsigned char *s = (const unsigned char *)value;
	size_t length;

	putc('"', file);
	for (; *s != '\0'; s += length ? length : 1) {
		length = json_utf8(s);
		if (length == 0) /* the environment may hold any bytes */
			fputs("\\ufffd", file);
		else if (*s < ' ' || *s == 0x7f)
			fprintf(file, "\\u%04x", *s);
		else
			fprintf(file, "%s%.*s",
				*s == '"' || *s == '\\' ? "\\" : "",
				(int)length, (const char *)s);
	}
	putc('"', file);
}

/* A member with a string as its value. The key comes with indentation and
 * quotes; `end` follows the value. */
static void json_member(const char *key, const char *value, const char *end)
{
	printf("%s: ", key);
	json_string(stdout, value);
	fputs(end, stdout);
}

static void json_observed(void)
{
	struct observed o[OBSERVED];
	int i, n = calls_observe(o);

	printf("\t\"observed\": [");
	for (i = 0; i < n; i++)
		printf("%s\n\t\t{\n"
		       "\t\t\t\"loops\": %ld,\n"
		       "\t\t\t\"nanoseconds\": %lld,\n"
		       "\t\t\t\"low\": %.9g,\n"
		       "\t\t\t\"high\": %.9g\n"
		       "\t\t}",
		       i > 0 ? "," : "", o[i].loops, o[i].ns, o[i].low,
		       o[i].high);
	printf("\n\t],\n");
}

static void json_environment(const struct request *r)
{
	const char *value, *why, *comma = "";
	int i;

	printf("\t\"environment\": {");
	for (i = 0; i < VARIABLES; i++) {
		value = getenv(report_variables[i]);
		if (value == NULL)
			continue;
		why = report_why_not(i, value, r);
		printf("%s\n\t\t\"%s\": {\n", comma, report_variables[i]);
		json_member("\t\t\t\"value\"", value, ",\n");
		printf("\t\t\t\"in_force\": %s,\n", *why ? "false" : "true");
		json_member("\t\t\t\"reason\"", why, "\n\t\t}");
		comma = ",";
	}
	printf("%s},\n", *comma ? "\n\t" : "");
}

static void json_counters(void)
{
	struct cpucycles_counter c;
	unsigned i;

	printf("\t\"counters\": [");
	for (i = 0; cpucycles_counter(i, &c, sizeof c) == 0; i++) {
		printf("%s\n\t\t{\n"
		       "\t\t\t\"name\": \"%s\",\n"
		       "\t\t\t\"kind\": \"%s\",\n"
		       "\t\t\t\"per_thread\": %s,\n"
		       "\t\t\t\"usable\": %s,\n"
		       "\t\t\t\"step\": %lld,\n"
		       "\t\t\t\"precision\": %lld,\n"
		       "\t\t\t\"scaling\": %.9g,\n"
		       "\t\t\t\"bits\": %u,\n",
		       i > 0 ? "," : "", c.name, c.kind,
		       c.per_thread ? "true" : "false",
		       c.usable ? "true" : "false", c.step, c.precision,
		       c.scaling, c.bits);
		json_member("\t\t\t\"reason\"", c.reason, ",\n");
		json_member("\t\t\t\"hint\"", c.hint, "\n\t\t}");
	}
	printf("\n\t],\n");
}

static void json_instructions(void)
{
	struct cpucycles_counter c;

	report_instructions(&c);
	printf("\t\"instructions\": {\n"
	       "\t\t\"usable\": %s,\n"
	       "\t\t\"step\": %lld,\n",
	       c.usable ? "true" : "false", c.step);
	json_member("\t\t\"name\"", c.usable ? c.name : "", ",\n");
	json_member("\t\t\"reason\"", c.reason, ",\n");
	json_member("\t\t\"hint\"", c.hint, "\n\t},\n");
}

static void json_calls(void)
{
	const struct calls *c = calls_measure(CALLS_FEW);
	int i;

	printf("\t\"calls\": {\n"
	       "\t\t\"iqm\": %.2f,\n"
	       "\t\t\"quartiles\": [%lld, %lld, %lld],\n"
	       "\t\t\"min\": %lld,\n"
	       "\t\t\"max\": %lld,\n"
	       "\t\t\"differences\": [",
	       c->iqm, c->quartile[0], c->quartile[1], c->quartile[2],
	       c->sorted[0], c->sorted[c->n - 1]);
	for (i = 0; i < c->n; i++)
		printf("%s%lld", i > 0 ? ", " : "", c->diff[i]);
	printf("]\n\t}\n");
}

/* A member of the noise: a share, and null for one that is not known. */
static void json_share(const char *key, double share)
{
	if (share < 0)
		printf("\t\t\"%s\": null,\n", key);
	else
		printf("\t\t\"%s\": %.9g,\n", key, share);
}

static void json_word(const char *key, const char *word)
{
	printf("\t\t\"%s\": ", key);
	if (*word != '\0')
		json_string(stdout, word);
	printf("%s,\n", *word != '\0' ? "" : "null");
}

static void json_gaps(const struct noise *n, enum noise_item item)
{
	const struct noise_gaps *g = &n->gaps[item];

	printf("\t\t\"%s\": ", noise_names[item]);
	if (item == NOISE_PREEMPTION && !n->told)
		printf("null,\n");
	else
		printf("{\n"
		       "\t\t\t\"share\": %.9g,\n"
		       "\t\t\t\"per_second\": %.9g,\n"
		       "\t\t\t\"median_ns\": %lld,\n"
		       "\t\t\t\"longest_ns\": %lld\n"
		       "\t\t},\n",
		       g->share, g->persecond, g->median, g->longest);
}

static void json_hints(const struct noise *n)
{
	const char *hint, *comma = "";
	int i;

	printf("\t\t\"hints\": {");
	for (i = 0; i < NOISE_ITEMS; i++) {
		hint = noise_hint(n, (enum noise_item)i);
		if (hint == NULL)
			continue;
		printf("%s\n\t\t\t\"%s\": ", comma, noise_names[i]);
		json_string(stdout, hint);
		comma = ",";
	}
	printf("%s}\n", *comma ? "\n\t\t" : "");
}

static int json_noise(void)
{
	const struct noise *n = noise_measure();
	const struct system *s = &n->system;

	printf("\t\"noise\": {\n");
	json_gaps(n, NOISE_INTERRUPTS);
	json_gaps(n, NOISE_PREEMPTION);
	json_share("steal", n->steal);
	json_share("dither", n->dither);
	json_share("dither_worst", n->worst);
	json_share("rate_moved", n->moved);
	printf("\t\t\"rate_steps\": {\"per_second\": %.1f, \"size\": %.4f, "
	       "\"seconds\": %.6f},\n",
	       n->steps.persecond, n->steps.size, n->steps.lasted);
	json_share("visible_difference", n->visible / 1e4);
	json_share("visible_apart", n->apart / 1e4);
	json_word("governor", s->governor);
	printf("\t\t\"turbo\": %s,\n", s->turbo < 0 ? "null"
				       : s->turbo   ? "true"
						    : "false");
	json_word("core_cpus", s->threads);
	json_hints(n);
	printf("\t},\n");
	return noise_status(n);
}

int json_print(const struct request *r)
{
	long long core = cpucycles_observepersecond();
	int status = TOOL_GOOD;
	struct machine m;

	report_machine(&m);
	printf("{\n"
	       "\t\"version\": \"%s\",\n"
	       "\t\"time\": \"%s\",\n"
	       "\t\"machine\": {\n",
	       cpucycles_version(), m.time);
	json_member("\t\t\"cpu\"", m.cpu, ",\n");
	json_member("\t\t\"system\"", m.system, "\n\t},\n");
	printf("\t\"implementation\": \"%s\",\n"
	       "\t\"kind\": \"%s\",\n"
	       "\t\"persecond\": %lld,\n",
	       cpucycles_implementation(), cpucycles_kind(),
	       cpucycles_persecond());
	json_member("\t\"persecond_source\"", cpucycles_persecondsource(),
		    ",\n");
	if (core != 0)
		printf("\t\"core_persecond\": %lld,\n", core);
	else
		printf("\t\"core_persecond\": null,\n");
	json_observed();
	json_environment(r);
	json_counters();
	json_instructions();
	if (r->noise)
		status = json_noise();
	json_calls();
	printf("}\n");
	return status;
}
