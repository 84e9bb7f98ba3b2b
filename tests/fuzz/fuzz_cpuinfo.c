/* SPDX-License-Identifier: 0BSD */
/* /proc/cpuinfo, for its two readers: the frequency and the time base. */
#include <config.h>
#include "osfreq.h"
#include "timebase.h"
#include "files.h"
#include "reference.h"

#define CPUINFO "/proc/cpuinfo"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes b = {data, size};
	const char *source = NULL, *key;
	uint64_t hz, ref;
	size_t len, lines;
	char *text;

	files_behave(&b);
	text = fuzz_part(&b, FUZZ_REST, &len);
	files_add(CPUINFO, text, len);
	lines = files_lines(text, len);
	hz = cpuc_osfreq(ROOT, &source);
	ref = ref_cpuinfo(text, lines, &key);
	MUST(hz == ref, "%llu instead of %llu", (unsigned long long)hz,
	     (unsigned long long)ref);
	if (hz != 0)
		MUST(strncmp(source, CPUINFO " ", strlen(CPUINFO) + 1) == 0 &&
			     strcmp(source + strlen(CPUINFO) + 1, key) == 0,
		     "%s instead of %s", source, key);
	hz = cpuc_timebase(ROOT);
	ref = ref_timebase(text, lines);
	MUST(hz == ref, "time base %llu instead of %llu",
	     (unsigned long long)hz, (unsigned long long)ref);
	MUST(files_open == 0, "%d", files_open);
	free(text);
	return 0;
}
