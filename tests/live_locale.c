/* SPDX-License-Identifier: 0BSD */
/* The trace has decimal points in every locale. */
#include <config.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "comma.h"
#include "cpucycles.h"
#include "tap.h"

static char trace[16384];

/* What the first call prints. */
static void trace_first_call(void)
{
	FILE *f = tmpfile();
	int out = dup(1);

	fflush(stdout);
	if (f == NULL || out < 0 || dup2(fileno(f), 1) < 0)
		die("tmpfile");
	cpucycles_tracesetup();
	cpucycles();
	dup2(out, 1);
	close(out);
	rewind(f);
	trace[fread(trace, 1, sizeof trace - 1, f)] = '\0';
	fclose(f);
}

int main(void)
{
	const char *line = trace, *end;
	int lines = 0, bad = 0;

	make_base("live_locale");
	if (!set_comma())
		skip_all("localedef makes no locale with a decimal comma");
	trace_first_call();
	for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
		const char *number = strstr(line, " scaling ");

		lines++;
		bad += number == NULL ||
		       strspn(number + 9, "0123456789.") !=
			       strcspn(number + 9, " ") ||
		       memchr(number, '.', (size_t)(end - number)) == NULL;
	}
	ok(lines > 2 && bad == 0, "no comma in %d lines", lines);
	return done_testing();
}
