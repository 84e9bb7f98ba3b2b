/* SPDX-License-Identifier: 0BSD */
/* /proc/cpuinfo, for its two readers: the frequency and the time base. */
#include <config.h>
#include "system/stated_rate.h"
#include "files.h"
#include "reference.h"

#define CPUINFO "/proc/cpuinfo"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_bytes b = {data, size};
	const char *key;
	struct cpuc_rate rate;
	uint64_t hz, ref;
	size_t len, lines;
	char *text;

	files_behave(&b);
	text = fuzz_part(&b, FUZZ_REST, &len);
	files_add(CPUINFO, text, len);
	lines = files_lines(text, len);
	rate = cpuc_stated_rate(ROOT);
	ref = ref_cpuinfo(text, lines, &key);
	MUST(rate.hz == ref, "%llu instead of %llu",
	     (unsigned long long)rate.hz, (unsigned long long)ref);
	if (rate.hz != 0)
		MUST(strncmp(rate.source, CPUINFO " ", strlen(CPUINFO " ")) ==
				     0 &&
			     strcmp(rate.source + strlen(CPUINFO " "), key) ==
				     0,
		     "%s instead of %s", rate.source, key);
	MUST(rate.of_core == (rate.hz != 0 && ref_of_core(key)), "%s", key);
	hz = cpuc_stated_timebase(ROOT);
	ref = ref_timebase(text, lines);
	MUST(hz == ref, "time base %llu instead of %llu",
	     (unsigned long long)hz, (unsigned long long)ref);
	MUST(files_open == 0, "%d", files_open);
	free(text);
	return 0;
}
