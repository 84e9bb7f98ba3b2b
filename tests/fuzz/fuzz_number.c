/* SPDX-License-Identifier: 0BSD */
/* cpuc_parse_hz: text that should be a rate. The first byte chooses the unit.
 */
#include <config.h>
#include "reference.h"
#include "system/textfile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct {
		int exp10;
		const char *unit;
	} forms[] = {{0, ""}, {3, ""}, {6, ""}, {6, "MHz"}, {-3, ""}};
	struct fuzz_bytes b = {data, size};
	size_t form = fuzz_byte(&b) % (sizeof forms / sizeof *forms), len;
	char *text = fuzz_part(&b, FUZZ_REST, &len);
	char *line = realloc(text, len + 1);
	uint64_t hz, ref;

	MUST(line, "no memory");
	line[len] = '\0';
	hz = cpuc_parse_hz(line, len, forms[form].exp10, forms[form].unit);
	ref = ref_hz(line, len, forms[form].exp10, forms[form].unit);
	MUST(hz == ref, "%llu instead of %llu", (unsigned long long)hz,
	     (unsigned long long)ref);
	free(line);
	return 0;
}
