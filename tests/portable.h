/* SPDX-License-Identifier: 0BSD */
/* Substitutes for parts of POSIX that tests need and some system lacks. Include
 * it after the system's headers. */
#ifndef PORTABLE_H
#define PORTABLE_H

#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

/* macOS and OpenBSD have neither sigqueue(3) nor real-time signals. */
#if defined _POSIX_REALTIME_SIGNALS && _POSIX_REALTIME_SIGNALS > 0
#define HAS_SIGQUEUE 1
#define FIRST_REALTIME SIGRTMIN
#else
#define HAS_SIGQUEUE 0
#define FIRST_REALTIME 32
#endif

/* OpenBSD counts what mmap(2) gives as data. */
#ifndef RLIMIT_AS
#define RLIMIT_AS RLIMIT_DATA
#endif

#endif
