/* SPDX-License-Identifier: 0BSD */
/* CPUC_GO_ON(context, f) makes the thread continue in f(), which never returns,
 * once the signal or exception handler that got this context has returned.
 * Defined where a jump out of the handler will not do: where the system would
 * take the thread to be in the handler still, and on x86 Linux, which gives the
 * thread its floating-point exceptions and rounding back only at the return.
 * The stack stays as at the fault: f is a CPUC_LANDING. */
#ifndef CPUC_CONTEXT_H
#define CPUC_CONTEXT_H

#include <stdint.h>
#ifdef _WIN32
#include "windows/api.h"
#define CPUC_CONTEXT CONTEXT
#else
#include <signal.h>
#define CPUC_CONTEXT ucontext_t
#endif
#ifdef __APPLE__
#include <sys/ucontext.h>
#endif
#ifdef __NetBSD__
#include <ucontext.h>
#endif

#if defined __x86_64__ || defined __i386__
#define CPUC_LANDING __attribute__((force_align_arg_pointer, noreturn))
#else
#define CPUC_LANDING __attribute__((noreturn))
#endif

#if defined __linux__ && defined __x86_64__
#define CPUC_CONTEXT_PC(c) (c)->uc_mcontext.gregs[REG_RIP]
#elif defined __linux__ && defined __i386__
#define CPUC_CONTEXT_PC(c) (c)->uc_mcontext.gregs[REG_EIP]
#elif defined __APPLE__ && defined __x86_64__
#define CPUC_CONTEXT_PC(c) (c)->uc_mcontext->__ss.__rip
#elif defined __APPLE__ && defined __aarch64__ && !defined __arm64e__
#define CPUC_CONTEXT_PC(c) (c)->uc_mcontext->__ss.__pc
#elif defined __NetBSD__ && defined __x86_64__
#define CPUC_CONTEXT_PC(c) (c)->uc_mcontext.__gregs[_REG_RIP]
#elif defined __NetBSD__ && defined __aarch64__
#define CPUC_CONTEXT_PC(c) (c)->uc_mcontext.__gregs[_REG_ELR]
#elif defined _WIN32 && defined __x86_64__
#define CPUC_CONTEXT_PC(c) (c)->Rip
#elif defined _WIN32 && defined __i386__
#define CPUC_CONTEXT_PC(c) (c)->Eip
#elif defined _WIN32 && defined __aarch64__
#define CPUC_CONTEXT_PC(c) (c)->Pc
#endif

#ifdef CPUC_CONTEXT_PC
#define CPUC_GO_ON(context, f)                        \
	(CPUC_CONTEXT_PC((CPUC_CONTEXT *)(context)) = \
		 (__typeof__(CPUC_CONTEXT_PC(         \
			 (CPUC_CONTEXT *)0)))(uintptr_t)(f))
#endif

#endif
