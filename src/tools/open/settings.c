/* SPDX-License-Identifier: 0BSD */
/* The settings that cpucycles-open opens, and what open means for each. */
#include <config.h>
#include <errno.h>
#include <limits.h>
#include "settings.h"

#define RDPMC                                                             \
	"every program may read, without a system call, all performance " \
	"counters of the CPU that it runs on, whatever they count"

const struct open_setting open_settings[OPEN_SETTINGS] = {
	/* -1 to 2 are Linux's; Debian's and Ubuntu's kernels have 3 and 4. */
	{
		.path = "/proc/sys/kernel/perf_event_paranoid",
		.value = 2,
		.lower = true,
		.allows = "every user may count what their own programs do "
			  "in user mode",
	},
	/* arm64 and RISC-V; there 2 lets everybody read, event or not. */
	{
		.path = "/proc/sys/kernel/perf_user_access",
		.value = 1,
		.allows = "every user may read, without a system call, the "
			  "counters that count their own programs",
	},
	/* x86; the second and third where cores are of two types. */
	{
		.path = "/sys/devices/cpu/rdpmc",
		.value = 2,
		.allows = RDPMC,
	},
	{
		.path = "/sys/devices/cpu_core/rdpmc",
		.value = 2,
		.allows = RDPMC,
	},
	{
		.path = "/sys/devices/cpu_atom/rdpmc",
		.value = 2,
		.allows = RDPMC,
	},
	/* It occupies the fixed-function counter for cycles. */
	{
		.path = "/proc/sys/kernel/nmi_watchdog",
		.value = 0,
		.lower = true,
		.intel = true,
		.allows = "a cycle counter is free for every user, and the "
			  "kernel does not notice when a CPU hangs",
	},
};

bool open_enough(const struct open_setting *setting, int value)
{
	return setting->lower ? value <= setting->value
			      : value >= setting->value;
}

int open_number(const char *text, size_t length, int *value)
{
	size_t i = length > 0 && text[0] == '-';
	bool negative = i > 0;
	int number = 0;

	if (i == length || (text[i] == '0' && length > 1))
		return -EINVAL;
	for (; i < length; i++) {
		int digit = text[i] - '0';

		if (digit < 0 || digit > 9 || number > (INT_MAX - digit) / 10)
			return -EINVAL;
		number = number * 10 + digit;
	}
	*value = negative ? -number : number;
	return 0;
}
