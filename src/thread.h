/* SPDX-License-Identifier: 0BSD */
/* Thread-local storage of the kind that costs one instruction. */
#ifndef CPUC_THREAD_H
#define CPUC_THREAD_H

/* configure decides CPUC_TLS_MODEL: initial-exec where the C library keeps
 * room for it in libraries that are loaded later, as glibc does; the compiler's
 * choice elsewhere. The library uses less than 256 bytes of it. */
#ifdef CPUC_TLS_MODEL
#define CPUC_THREAD __thread __attribute__((tls_model(CPUC_TLS_MODEL)))
#else
#define CPUC_THREAD __thread
#endif

#endif
