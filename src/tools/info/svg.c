/* SPDX-License-Identifier: 0BSD */
/* The report as a picture. */
#include <config.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "cpucycles.h"
#include "machine.h"
#include "panels.h"
#include "picture.h"
#include "report.h"
#include "../common/tool.h"

#define WIDTH 800
#define HEIGHT 660

/* What matters differs by shape and by dashes, and not by colour alone, so
 * that it survives a grey printer. */
static const char style[] =
	"<style>\n"
	"text { font: 13px system-ui, \"DejaVu Sans\", sans-serif;"
	" fill: #222; }\n"
	".title { font-size: 20px; font-weight: bold; }\n"
	".head { font-size: 14px; font-weight: bold; }\n"
	".end { text-anchor: end; }\n"
	".mid { text-anchor: middle; }\n"
	".paper { fill: #fff; }\n"
	".axis { stroke: #222; }\n"
	".grid { stroke: #ddd; }\n"
	".half { fill: #f0d9a8; }\n"
	".bar { fill: #2f6690; }\n"
	".mean { stroke: #111; stroke-width: 1.5; stroke-dasharray: 2 3; }\n"
	".bound { stroke: #a3320b; stroke-width: 2; }\n"
	".nominal { stroke: #111; stroke-width: 1.5;"
	" stroke-dasharray: 9 5; }\n"
	"@media screen and (prefers-color-scheme: dark) {\n"
	"text { fill: #ddd; }\n"
	".paper { fill: #16191d; }\n"
	".axis { stroke: #ddd; }\n"
	".grid { stroke: #383d44; }\n"
	".half { fill: #54431c; }\n"
	".bar { fill: #74b0dd; }\n"
	".mean, .nominal { stroke: #eee; }\n"
	".bound { stroke: #ff9466; }\n"
	"}\n"
	"</style>\n";

static void begin(FILE *file)
{
	struct machine m;
	char line[512];

	machine_describe(&m);
	fprintf(file,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" "
		"height=\"%d\" viewBox=\"0 0 %d %d\" role=\"img\">\n"
		"<title>CPU cycles counted by %s</title>\n",
		WIDTH, HEIGHT, WIDTH, HEIGHT, cpucycles_implementation());
	fputs(style, file);
	picture_box(file, "paper", 0, 0, WIDTH, HEIGHT);
	snprintf(line, sizeof line, "CPU cycles counted by %s (%s)",
		 cpucycles_implementation(), cpucycles_kind());
	picture_text(file, 24, 38, "class=\"title\"", line);
	snprintf(line, sizeof line, "%s, %s", m.cpu, m.system);
	picture_text(file, 24, 62, "", line);
	snprintf(line, sizeof line, "libcpucycles %s, %s", cpucycles_version(),
		 m.time);
	picture_text(file, 24, 80, "", line);
}

static void draw(FILE *file, const struct calls *c,
		 const struct observed o[OBSERVED])
{
	struct panel calls = {.file = file,
			      .left = 84,
			      .top = 140,
			      .width = 692,
			      .height = 180};
	struct panel rates = calls;

	begin(file);
	panel_calls(&calls, c);
	rates.top = 420;
	panel_rates(&rates, o);
	fputs("</svg>\n", file);
}

/* Half a picture is of no use to anybody. */
static void remove_half(FILE *file, const char *name)
{
	struct stat st;

	if (fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode))
		remove(name);
}

static int fail(const char *name, int err)
{
	fprintf(stderr, "%s: cannot write '%s': %s\n", TOOL, name,
		strerror(err));
	return TOOL_FINDING;
}

static int save(const char *name, const struct calls *c,
		const struct observed o[OBSERVED])
{
	FILE *file = fopen(name, "w");
	int err = 0;

	if (file == NULL)
		return fail(name, errno);
	draw(file, c, o);
	if (fflush(file) != 0 || ferror(file)) {
		err = errno;
		remove_half(file, name);
	}
	if (fclose(file) != 0 && err == 0)
		err = errno;
	return err ? fail(name, err) : TOOL_GOOD;
}

int report_svg(const struct request *r)
{
	const struct calls *c = calls_measure(CALLS_MANY);
	struct observed o[OBSERVED];
	int status = TOOL_GOOD;

	observe(o);
	if (!strcmp(r->file, "-"))
		draw(stdout, c, o);
	else
		status = save(r->file, c, o);
	if (status == TOOL_GOOD && !strcmp(cpucycles_kind(), "zero"))
		status = TOOL_FINDING;
	return status;
}
