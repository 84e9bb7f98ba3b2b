/* SPDX-License-Identifier: 0BSD */
/* Linux's C library of this machine with what Android's lacks taken out, for a
 * compiler's -include. Whoever names what is not there gets an error. */
#ifdef __linux__
#define _GNU_SOURCE 1
#define _FILE_OFFSET_BITS 64
#include <features.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif
#undef __GLIBC__
#undef RSEQ_SIG
#undef PTHREAD_CANCEL_DISABLE
#undef PTHREAD_CANCEL_DEFERRED
#define __ANDROID__ 1
#pragma GCC poison PTHREAD_CANCEL_DISABLE PTHREAD_CANCEL_DEFERRED
#pragma GCC poison pthread_cancel pthread_setcancelstate pthread_setcanceltype
#pragma GCC poison pthread_testcancel secure_getenv
#pragma GCC poison strerrordesc_np strerrorname_np
#endif
