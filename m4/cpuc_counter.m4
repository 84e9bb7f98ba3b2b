# SPDX-License-Identifier: 0BSD
# CPUC_CPU_BITS
# -------------
# Sets $cpuc_cv_cpu_bits to 64 or 32 by the CPU's macros, because on x32 and
# 64-bit Windows a `long` has 32 bits.
AC_DEFUN([CPUC_CPU_BITS], [
AC_CACHE_CHECK([for the bits of the CPU's registers], [cpuc_cv_cpu_bits],
	[AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[
#if !defined __x86_64__ && !defined __powerpc64__ && !defined __mips64 && \
	__riscv_xlen != 64
#error 32
#endif]])], [cpuc_cv_cpu_bits=64], [cpuc_cv_cpu_bits=32])])
])

# CPUC_COUNTER(NAME, TWIN, PROLOGUE, BODY, INSTRUCTIONS)
# ------------------------------------------------------
# Whether the host has the counter NAME: the program of PROLOGUE and BODY must
# compile and link. (With link-time optimisation the assembler sees inline
# assembly only when linking.) Nothing is run, so cross builds work. TWIN is the
# counter's name on a 32-bit CPU; "" if it has none.
#
# Defines HAVE_COUNTER_NAME to 1 or 0. If 1, adds the counter to $cpuc_counters
# for the report, to $CPUC_COUNTER_OBJECTS for the makefile, and to the lists
# below: to that of instructions if INSTRUCTIONS is not empty.
AC_DEFUN([CPUC_COUNTER], [
AC_REQUIRE([CPUC_CPU_BITS])
AS_VAR_PUSHDEF([cpuc_var], [cpuc_cv_counter_$1])
AC_CACHE_CHECK([for counter $1], [cpuc_var],
	[AC_LINK_IFELSE([AC_LANG_PROGRAM([$3], [$4])],
		[AS_VAR_SET([cpuc_var], [yes])],
		[AS_VAR_SET([cpuc_var], [no])])])
AS_VAR_IF([cpuc_var], [yes],
	[cpuc_have=1
	AS_VAR_APPEND([cpuc_list], [" X(m4_translit([$1], [-], [_]))"])
	AS_VAR_APPEND([CPUC_COUNTER_OBJECTS],
		[" src/counters/libcpuc_la-m4_translit([$1], [-], [_]).lo"])
	m4_ifval([$5], [AS_VAR_APPEND([cpuc_instructions_list],
		[" X(m4_translit([$1], [-], [_]))"])])
	m4_ifval([$2],
		[AS_IF([test "$cpuc_cv_cpu_bits" = 32],
			[cpuc_counters="$cpuc_counters $2"],
			[cpuc_counters="$cpuc_counters $1"])],
		[cpuc_counters="$cpuc_counters $1"])],
	[cpuc_have=0])
AC_DEFINE_UNQUOTED(m4_toupper(m4_translit([HAVE_COUNTER_$1], [-], [_])),
	[$cpuc_have], [1: the host has the counter $1; 0: it does not.])
AS_VAR_POPDEF([cpuc_var])
])

# CPUC_COUNTER_LISTS
# ------------------
# Defines the macros that list what CPUC_COUNTER has found, for src/registry.c.
# amalgamation/amalgamate makes the same from the lines in configure.ac.
AC_DEFUN([CPUC_COUNTER_LISTS], [
AC_SUBST([CPUC_COUNTER_OBJECTS])
AC_DEFINE_UNQUOTED([CPUC_COUNTERS(X)], [$cpuc_list],
	[The counters that the host has, each as an argument of X.])
AC_DEFINE_UNQUOTED([CPUC_INSTRUCTIONS(X)], [$cpuc_instructions_list],
	[Those of them that count instructions, too.])
])

# CPUC_PERF_PROGRAM(CONDITION)
# ----------------------------
# A prologue for CPUC_COUNTER, if the preprocessor's CONDITION holds. It defines
# event(), which uses of Linux's perf events what the library does.
AC_DEFUN([CPUC_PERF_PROGRAM], [[
#if !($1)
#error not this architecture
#endif
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static int event(void)
{
	struct perf_event_attr a = {.size = sizeof a, .config1 = 3};
	unsigned long long id;
	int fd = (int)syscall(SYS_perf_event_open, &a, 0, -1, -1,
			      PERF_FLAG_FD_CLOEXEC);
	struct perf_event_mmap_page *p =
		mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0);
	return ioctl(fd, PERF_EVENT_IOC_ID, &id) + (int)p->index +
	       (int)p->pmc_width + (int)p->cap_user_rdpmc;
}
]])
