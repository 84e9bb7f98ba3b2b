/* SPDX-License-Identifier: 0BSD */
/* Cycles per second from systems that state them by a call: sysctl (BSD and
 * macOS), kstat (Solaris), perfstat (AIX). Unknown elsewhere. */
#include <config.h>

#include "stated_sysctl.h"

#include <stddef.h>

#include "textfile.h"

#if HAVE_SYSCTLBYNAME || defined __OpenBSD__ || HAVE_KSTAT || HAVE_PERFSTAT
static uint64_t stated_believed(uint64_t number, uint64_t unit_hz)
{
	if (number > CPUC_HZ_MAX / unit_hz)
		return 0;
	return number * unit_hz < CPUC_HZ_MIN ? 0 : number * unit_hz;
}
#endif

#if HAVE_SYSCTLBYNAME || defined __OpenBSD__
#include <sys/types.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#if defined __OpenBSD__ && __has_include(<machine/cpu.h>)
#include <machine/cpu.h>
#endif

#include <string.h>

#define SYSCTL "sysctl "

/* Constant rates come first: dev.cpu.0.freq is the power daemon's latest
 * choice. */
static const struct {
	const char *name; /* SYSCTL and the key */
	uint64_t unit;    /* of the key's value, in Hz */
} sysctls[] = {
	{SYSCTL "hw.cpufrequency", 1}, /* macOS, but on Apple's own CPUs */
	{SYSCTL "hw.cpufrequency_max", 1},
	{SYSCTL "machdep.tsc.frequency", 1}, /* macOS on x86 */
	{SYSCTL "machdep.tsc_freq", 1},      /* FreeBSD, NetBSD on x86 */
	{SYSCTL "hw.tsc_frequency", 1},      /* DragonFly */
	{SYSCTL "machdep.tscfreq", 1},       /* OpenBSD on x86 */
	{SYSCTL "hw.cpuspeed", 1000000},     /* OpenBSD's name for it */
	{SYSCTL "hw.clockrate", 1000000},    /* FreeBSD on x86 */
	{SYSCTL "dev.cpu.0.freq", 1000000},  /* FreeBSD with cpufreq */
};

#if defined __OpenBSD__
/* OpenBSD has numbers for its keys, and no sysctlbyname(3). */
static int stated_ask(const char *key, void *value, size_t *len)
{
	int number[2] = {CTL_HW, HW_CPUSPEED};

#ifdef CPU_TSCFREQ
	if (strcmp(key, "machdep.tscfreq") == 0) {
		number[0] = CTL_MACHDEP;
		number[1] = CPU_TSCFREQ;
	} else
#endif
		if (strcmp(key, "hw.cpuspeed") != 0)
		return -1;
	return sysctl(number, 2, value, len, NULL, 0);
}
#else
static int stated_ask(const char *key, void *value, size_t *len)
{
	return sysctlbyname(key, value, len, NULL, 0);
}
#endif

/* 0 when the key does not exist or is not an integer. */
static uint64_t stated_sysctl_integer(const char *key)
{
	union {
		uint32_t u32;
		uint64_t u64;
		char bytes[8];
	} value;
	size_t len = sizeof(value);

	if (stated_ask(key, &value, &len) != 0)
		return 0;
	if (len == sizeof(value.u64))
		return value.u64;
	return len == sizeof(value.u32) ? value.u32 : 0;
}

static uint64_t stated_by_sysctl(const char **source)
{
	for (size_t i = 0; i < sizeof(sysctls) / sizeof(*sysctls); i++) {
		const char *key = sysctls[i].name + strlen(SYSCTL);
		uint64_t hz = stated_believed(stated_sysctl_integer(key),
					      sysctls[i].unit);

		if (hz) {
			*source = sysctls[i].name;
			return hz;
		}
	}
	return 0;
}
#endif

#if HAVE_KSTAT
#include <kstat.h>

/* Releases differ in the width, and in whether it is signed. */
static uint64_t stated_kstat_integer(kstat_t *ks, char *field)
{
	const kstat_named_t *named = kstat_data_lookup(ks, field);

	if (!named)
		return 0;
	switch (named->data_type) {
	case KSTAT_DATA_INT32:
		return named->value.i32 < 0 ? 0 : (uint64_t)named->value.i32;
	case KSTAT_DATA_UINT32:
		return named->value.ui32;
	case KSTAT_DATA_INT64:
		return named->value.i64 < 0 ? 0 : (uint64_t)named->value.i64;
	case KSTAT_DATA_UINT64:
		return named->value.ui64;
	default:
		return 0;
	}
}

static uint64_t stated_by_kstat(const char **source)
{
	/* Arrays, because kstat's parameters are not const. */
	char module[] = "cpu_info", hertz[] = "current_clock_Hz";
	char megahertz[] = "clock_MHz";
	kstat_ctl_t *kc = kstat_open();
	kstat_t *ks;
	uint64_t hz = 0;

	if (!kc)
		return 0;
	ks = kstat_lookup(kc, module, -1, NULL);
	if (ks && kstat_read(kc, ks, NULL) >= 0) {
		*source = "kstat cpu_info current_clock_Hz";
		hz = stated_believed(stated_kstat_integer(ks, hertz), 1);
		if (!hz) {
			*source = "kstat cpu_info clock_MHz";
			hz = stated_believed(
				stated_kstat_integer(ks, megahertz), 1000000);
		}
	}
	kstat_close(kc);
	return hz;
}
#endif

#if HAVE_PERFSTAT
#include <libperfstat.h>

static uint64_t stated_by_perfstat(const char **source)
{
	perfstat_cpu_total_t total;

	if (perfstat_cpu_total(NULL, &total, sizeof(total), 1) != 1)
		return 0;
	*source = "perfstat processorHZ";
	return stated_believed((uint64_t)total.processorHZ, 1);
}
#endif

uint64_t cpuc_stated_sysctl(const char **source)
{
	uint64_t hz = 0;

#if HAVE_SYSCTLBYNAME || defined __OpenBSD__
	hz = stated_by_sysctl(source);
#endif
#if HAVE_KSTAT
	if (!hz)
		hz = stated_by_kstat(source);
#endif
#if HAVE_PERFSTAT
	if (!hz)
		hz = stated_by_perfstat(source);
#endif
	(void)source;
	return hz;
}
