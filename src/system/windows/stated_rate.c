/* SPDX-License-Identifier: 0BSD */
/* stated_rate.h for Windows, whose registry has the rate that Windows measured
 * when it started. No files: anybody may create those that other systems
 * have. */
#include <config.h>
#ifdef _WIN32
#include "../../rate/stated_rate.h"
#include "../../rate/textfile.h"
#include "api.h"

#define KEY "HARDWARE\\DESCRIPTION\\System\\CentralProcessor\\0"
#define VALUE "~MHz"

struct cpuc_rate cpuc_stated_rate(const char *root)
{
	struct cpuc_rate rate = {0, "unknown", false};
	DWORD mhz = 0, size = sizeof mhz;
	uint64_t hz;

	if (*root != '\0' ||
	    RegGetValueA(HKEY_LOCAL_MACHINE, KEY, VALUE, RRF_RT_REG_DWORD, NULL,
			 &mhz, &size) != ERROR_SUCCESS)
		return rate;
	hz = (uint64_t)mhz * 1000000;
	if (hz >= CPUC_HZ_MIN && hz <= CPUC_HZ_MAX)
		rate = (struct cpuc_rate){hz, "registry HKLM\\" KEY "\\" VALUE,
					  false};
	return rate;
}

uint64_t cpuc_stated_timebase(const char *root)
{
	(void)root;
	return 0;
}

#endif
