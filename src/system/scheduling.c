/* SPDX-License-Identifier: 0BSD */
/* A thread's switches and its CPU, by system calls and the C library. */
#include <config.h>
#include <errno.h>
#include "scheduling.h"
#ifdef __APPLE__
#include <pthread.h>
#elif defined __linux__ || defined __FreeBSD__
#include <sched.h>
#endif
#ifdef _WIN32
#include "windows/api.h"
#else
#include <sys/resource.h>
#endif

bool cpuc_thread_switches(struct cpuc_switches *n)
{
#ifdef RUSAGE_THREAD
	struct rusage usage;
	int saved = errno;
	bool known = getrusage(RUSAGE_THREAD, &usage) == 0;

	errno = saved;
	if (known)
		*n = (struct cpuc_switches){(uint32_t)usage.ru_nvcsw,
					    (uint32_t)usage.ru_nivcsw};
	return known;
#else
	(void)n;
	return false;
#endif
}

uint32_t cpuc_thread_cpu(void)
{
#if defined __APPLE__ && __ENVIRONMENT_MAC_OS_X_VERSION_MIN_REQUIRED__ >= 110000
	size_t cpu = 0;

	return pthread_cpu_number_np(&cpu) == 0 ? (uint32_t)cpu : 0;
#elif defined _WIN32
	return GetCurrentProcessorNumber();
#elif defined __linux__ || defined __FreeBSD__
	int saved = errno, cpu = sched_getcpu();

	errno = saved;
	return (uint32_t)cpu;
#else
	return 0;
#endif
}
