/* SPDX-License-Identifier: 0BSD */
/* What configure would find, from the compiler's macros and the headers that
 * exist. tests/amalgamation/agree compares the two. */
#ifndef CPUC_HOSTS_H
#define CPUC_HOSTS_H

#ifdef __cplusplus
#error "cpucycles.c is C: compile it with a C compiler"
#endif

/* The system's extensions, even with -std=c11. glibc and musl want to be asked
 * for them before the first header. */
#if defined _FEATURES_H && \
	!(defined _GNU_SOURCE && (defined __USE_GNU || !defined __GLIBC__))
#error "cpucycles.c comes after headers of the system: compile it by itself (in \
CMake: SKIP_UNITY_BUILD_INCLUSION), put it first, or define _GNU_SOURCE for all"
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE 1
#endif
#ifndef _DARWIN_C_SOURCE
#define _DARWIN_C_SOURCE 1
#endif
#ifndef _NETBSD_SOURCE
#define _NETBSD_SOURCE 1
#endif
#ifndef _OPENBSD_SOURCE
#define _OPENBSD_SOURCE 1
#endif
#ifndef __EXTENSIONS__
#define __EXTENSIONS__ 1
#endif
#ifndef _FILE_OFFSET_BITS
#define _FILE_OFFSET_BITS 64
#endif

/* GCC has it from version 5 on. Without it nothing reads perf events. */
#ifndef __has_include
#define __has_include(header) 0
#endif

#include <limits.h>
#include <time.h>
#ifdef linux /* gcc 9 would look for <1/perf_event.h> */
#undef linux
#endif
#if defined __linux__ && __has_include(<linux/perf_event.h>)
#include <linux/perf_event.h>
#endif
#if __has_include(<sys/rseq.h>)
#include <sys/rseq.h>
#endif

/* The C library. musl has no macro of its own. */
#if defined __GLIBC__
#define CPUC_TLS_MODEL "initial-exec"
#define HAVE_SECURE_GETENV 1
#elif defined __linux__ && !defined __UCLIBC__ && !defined __ANDROID__
#define HAVE_SECURE_GETENV 1
#elif defined __FreeBSD__ && __FreeBSD__ >= 14
#define HAVE_SECURE_GETENV 1
#endif
#if defined __APPLE__ || defined __FreeBSD__ || defined __NetBSD__ || \
	defined __DragonFly__
#define HAVE_SYSCTLBYNAME 1
#else
#define HAVE_SYSCTLBYNAME 0
#endif
#if !defined __ANDROID__
#define HAVE_PTHREAD_SETCANCELSTATE 1
#endif

/* The compiler. It claims to have __builtin_thread_pointer even on hosts where
 * that does not work. zig, a clang, has <sys/rseq.h> even for versions of glibc
 * that lack what it declares. */
#ifdef __SIZEOF_INT128__
#define HAVE___INT128 1
#endif
#if !defined RSEQ_SIG
#define HAVE_RSEQ 0
#elif defined __clang__
#define HAVE_RSEQ (__clang_major__ >= 14 && __GLIBC_MINOR__ >= 35)
#elif defined __x86_64__ || defined __i386__
#define HAVE_RSEQ (__GNUC__ >= 11)
#elif defined __powerpc__
#define HAVE_RSEQ 0
#else
#define HAVE_RSEQ 1
#endif

/* The counters, each 0 or 1. */
#if defined PERF_FLAG_FD_CLOEXEC
#define HAVE_COUNTER_DEFAULT_PERFEVENT 1
#else
#define HAVE_COUNTER_DEFAULT_PERFEVENT 0
#endif

#if defined __x86_64__ || defined __i386__
#define HAVE_COUNTER_AMD64_TSCCORE 1
#define HAVE_COUNTER_AMD64_TSC 1
#define HAVE_COUNTER_AMD64_TSCASM 1
#define HAVE_COUNTER_AMD64_PERFPMC HAVE_COUNTER_DEFAULT_PERFEVENT
#else
#define HAVE_COUNTER_AMD64_TSCCORE 0
#define HAVE_COUNTER_AMD64_TSC 0
#define HAVE_COUNTER_AMD64_TSCASM 0
#define HAVE_COUNTER_AMD64_PERFPMC 0
#endif
#if defined __x86_64__
#define HAVE_COUNTER_AMD64_PERFPMCFF HAVE_COUNTER_DEFAULT_PERFEVENT
#define HAVE_COUNTER_AMD64_PMCFF HAVE_COUNTER_DEFAULT_PERFEVENT
#define HAVE_COUNTER_AMD64_RDPRU 1
#else
#define HAVE_COUNTER_AMD64_PERFPMCFF 0
#define HAVE_COUNTER_AMD64_PMCFF 0
#define HAVE_COUNTER_AMD64_RDPRU 0
#endif

#if defined __aarch64__
#define HAVE_COUNTER_ARM64_PERFPMC HAVE_COUNTER_DEFAULT_PERFEVENT
#ifdef __APPLE__
#define HAVE_COUNTER_ARM64_PMC 0
#else
#define HAVE_COUNTER_ARM64_PMC 1
#endif
#define HAVE_COUNTER_ARM64_VCTCORE 1
#define HAVE_COUNTER_ARM64_VCT 1
#else
#define HAVE_COUNTER_ARM64_PERFPMC 0
#define HAVE_COUNTER_ARM64_PMC 0
#define HAVE_COUNTER_ARM64_VCTCORE 0
#define HAVE_COUNTER_ARM64_VCT 0
#endif

/* Thumb-1 has no coprocessor instructions. MRRC came with ARMv5TE. */
#if defined __arm__ && (!defined __thumb__ || defined __thumb2__)
#define HAVE_COUNTER_ARM32_CORTEX 1
#define HAVE_COUNTER_ARM32_1176 1
#else
#define HAVE_COUNTER_ARM32_CORTEX 0
#define HAVE_COUNTER_ARM32_1176 0
#endif
#if HAVE_COUNTER_ARM32_1176 && (__ARM_ARCH >= 6 || defined __ARM_ARCH_5TE__ || \
				defined __ARM_ARCH_5TEJ__)
#define HAVE_COUNTER_ARM32_VCT 1
#else
#define HAVE_COUNTER_ARM32_VCT 0
#endif

/* Before version 2.1 the base ISA included the CSR instructions. */
#if defined __riscv && (defined __riscv_zicsr || __riscv_i < 2001000)
#define HAVE_COUNTER_RISCV64_PERFRDCYCLE HAVE_COUNTER_DEFAULT_PERFEVENT
#define HAVE_COUNTER_RISCV64_RDCYCLE 1
#define HAVE_COUNTER_RISCV64_TIMECORE 1
#define HAVE_COUNTER_RISCV64_RDTIME 1
#else
#define HAVE_COUNTER_RISCV64_PERFRDCYCLE 0
#define HAVE_COUNTER_RISCV64_RDCYCLE 0
#define HAVE_COUNTER_RISCV64_TIMECORE 0
#define HAVE_COUNTER_RISCV64_RDTIME 0
#endif

#if defined __loongarch__ && __loongarch_grlen == 64
#define HAVE_COUNTER_LOONG64_RDTIME 1
#else
#define HAVE_COUNTER_LOONG64_RDTIME 0
#endif

/* RDHWR came with release 2. */
#if defined __mips__ && __mips_isa_rev >= 2
#define HAVE_COUNTER_MIPS64_CC 1
#else
#define HAVE_COUNTER_MIPS64_CC 0
#endif

#if defined __powerpc__
#define HAVE_COUNTER_PPC64_MFTB 1
#else
#define HAVE_COUNTER_PPC64_MFTB 0
#endif

/* STCKF came with z9. */
#if defined __s390x__ && __ARCH__ >= 7
#define HAVE_COUNTER_S390X_STCKF 1
#else
#define HAVE_COUNTER_S390X_STCKF 0
#endif

/* Older clang's assembler does not know the register's name. */
#if defined __sparc__ && defined __arch64__ && \
	(!defined __clang__ || __clang_major__ >= 18)
#define HAVE_COUNTER_SPARC64_RDTICK 1
#else
#define HAVE_COUNTER_SPARC64_RDTICK 0
#endif

#if defined __alpha__
#define HAVE_COUNTER_ALPHA_RPCC 1
#else
#define HAVE_COUNTER_ALPHA_RPCC 0
#endif

#if defined __hppa__
#define HAVE_COUNTER_HPPA_CR16 1
#else
#define HAVE_COUNTER_HPPA_CR16 0
#endif

#if defined __APPLE__
#define HAVE_COUNTER_DEFAULT_THREADCOUNTS 1
#define HAVE_COUNTER_DEFAULT_MACH 1
#else
#define HAVE_COUNTER_DEFAULT_THREADCOUNTS 0
#define HAVE_COUNTER_DEFAULT_MACH 0
#endif
#if defined CLOCK_MONOTONIC || defined _WIN32
#define HAVE_COUNTER_DEFAULT_MONOTONIC 1
#else
#define HAVE_COUNTER_DEFAULT_MONOTONIC 0
#endif
#if defined _WIN32
#define HAVE_COUNTER_DEFAULT_GETTIMEOFDAY 0
#else
#define HAVE_COUNTER_DEFAULT_GETTIMEOFDAY 1
#endif
#define HAVE_COUNTER_DEFAULT_ZERO 1

#endif
