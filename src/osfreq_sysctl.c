/* SPDX-License-Identifier: 0BSD */
/* The CPU's frequency from systems that tell it by a call: sysctl (BSD and
 * macOS), kstat (Solaris), perfstat (AIX); nothing on others. */
#include <config.h>

#include "osfreq_sysctl.h"

#include <stddef.h>

#include "number.h"

#if HAVE_SYSCTLBYNAME || HAVE_KSTAT || HAVE_PERFSTAT
static uint64_t believed(uint64_t number, uint64_t unit_hz)
{
	if (number > CPUC_HZ_MAX / unit_hz)
		return 0;
	return number * unit_hz < CPUC_HZ_MIN ? 0 : number * unit_hz;
}
#endif

#if HAVE_SYSCTLBYNAME
#include <sys/types.h>
#include <sys/sysctl.h>

#include <string.h>

#define SYSCTL "sysctl "

/* The rates that do not move come first: dev.cpu.0.freq is what the power
 * daemon chose last. */
static const struct {
	const char *name; /* SYSCTL and the key */
	uint64_t unit;    /* of the key's value, in Hz */
} sysctls[] = {
	{SYSCTL "hw.cpufrequency", 1}, /* macOS, but on Apple's own CPUs */
	{SYSCTL "hw.cpufrequency_max", 1},
	{SYSCTL "machdep.tsc.frequency", 1}, /* macOS on x86 */
	{SYSCTL "machdep.tsc_freq", 1},      /* FreeBSD, NetBSD on x86 */
	{SYSCTL "hw.tsc_frequency", 1},      /* DragonFly */
	{SYSCTL "hw.cpuspeed", 1000000},     /* OpenBSD's name for it */
	{SYSCTL "hw.clockrate", 1000000},    /* FreeBSD on x86 */
	{SYSCTL "dev.cpu.0.freq", 1000000},  /* FreeBSD with cpufreq */
};

/* 0 when the key is not there or is no integer. */
static uint64_t sysctl_integer(const char *key)
{
	union {
		uint32_t u32;
		uint64_t u64;
		char bytes[8];
	} value;
	size_t len = sizeof(value);

	if (sysctlbyname(key, &value, &len, NULL, 0) != 0)
		return 0;
	if (len == sizeof(value.u64))
		return value.u64;
	return len == sizeof(value.u32) ? value.u32 : 0;
}

static uint64_t ask_sysctl(const char **source)
{
	for (size_t i = 0; i < sizeof(sysctls) / sizeof(*sysctls); i++) {
		const char *key = sysctls[i].name + strlen(SYSCTL);
		uint64_t hz = believed(sysctl_integer(key), sysctls[i].unit);

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

/* Both widths occur, by release, and signed though never negative. */
static uint64_t kstat_integer(kstat_t *ks, char *field)
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

static uint64_t ask_kstat(const char **source)
{
	/* No literals: the parameters are not const. */
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
		hz = believed(kstat_integer(ks, hertz), 1);
		if (!hz) {
			*source = "kstat cpu_info clock_MHz";
			hz = believed(kstat_integer(ks, megahertz), 1000000);
		}
	}
	kstat_close(kc);
	return hz;
}
#endif

#if HAVE_PERFSTAT
#include <libperfstat.h>

static uint64_t ask_perfstat(const char **source)
{
	perfstat_cpu_total_t total;

	if (perfstat_cpu_total(NULL, &total, sizeof(total), 1) != 1)
		return 0;
	*source = "perfstat processorHZ";
	return believed((uint64_t)total.processorHZ, 1);
}
#endif

uint64_t cpuc_osfreq_sysctl(const char **source)
{
	uint64_t hz = 0;

#if HAVE_SYSCTLBYNAME
	hz = ask_sysctl(source);
#endif
#if HAVE_KSTAT
	if (!hz)
		hz = ask_kstat(source);
#endif
#if HAVE_PERFSTAT
	if (!hz)
		hz = ask_perfstat(source);
#endif
	(void)source;
	return hz;
}
