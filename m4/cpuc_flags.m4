# SPDX-License-Identifier: 0BSD
# CPUC_PLAIN_FLAGS, CPUC_USER_FLAGS
# ---------------------------------
# Between the two, all checks run without the user's flags for warnings, or one
# that is an error would decide what they find: autoconf declares functions
# without prototypes. -Wl, and the like stay.
AC_DEFUN([CPUC_PLAIN_FLAGS], [
m4_foreach_w([cpuc_var], [CFLAGS CXXFLAGS CPPFLAGS], [
AS_IF([test ${cpuc_var+y}], [
	cpuc_user_[]cpuc_var=$cpuc_var
	cpuc_var=`AS_ECHO([" $cpuc_var "]) | sed -e ':a' \
		-e 's/[[	 ]]-W[[^	 ,]]*[[	 ]]/ /;ta' \
		-e 's/[[	 ]]-pedantic[[a-z-]]*[[	 ]]/ /;ta'`])])
])
AC_DEFUN([CPUC_USER_FLAGS], [
m4_foreach_w([cpuc_var], [CFLAGS CXXFLAGS CPPFLAGS], [
cpuc_var=${cpuc_user_[]cpuc_var-$cpuc_var}])
])

# CPUC_FLAGS
# ----------
# The library's own compiler flags, if the compiler knows them. They go into
# CPUC_CFLAGS, never into CFLAGS, which is the user's.
AC_DEFUN([CPUC_FLAGS], [
AC_ARG_ENABLE([werror],
	[AS_HELP_STRING([--enable-werror], [let compiler warnings fail the build])])
CPUC_CFLAGS=
AX_APPEND_COMPILE_FLAGS([-Wall -Wextra -Wconversion -Wshadow dnl
	-Wstrict-prototypes -Wmissing-prototypes -Wvla dnl
	-Wformat=2 -Wwrite-strings], [CPUC_CFLAGS], [-Werror])
# The default of gcc 10. A linker may ignore a common symbol in an archive, or
# take the member with it although a test has replaced it.
AX_APPEND_COMPILE_FLAGS([-fno-common], [CPUC_CFLAGS], [-Werror])
AS_IF([test "$enable_werror" = yes],
	[AX_APPEND_COMPILE_FLAGS([-Werror], [CPUC_CFLAGS])])
AC_SUBST([CPUC_CFLAGS])

# Symbols are hidden except those that the header exports. Nothing in the library
# gains by vectors, and for them gcc 14 aligns thread-local storage, which leaves
# a gap.
CPUC_LIB_CFLAGS=
AX_APPEND_COMPILE_FLAGS([-fvisibility=hidden -fno-tree-vectorize],
	[CPUC_LIB_CFLAGS], [-Werror])
AC_SUBST([CPUC_LIB_CFLAGS])

# The linker's version script has no version in it: see src/libcpucycles.map.
# -Bsymbolic must not come in: programs have a copy relocation of cpucycles.
CPUC_LDFLAGS=
# No Windows comes with GCC's DLL.
AM_COND_IF([HAVE_WINDOWS], [CPUC_LDFLAGS=-Wc,-static-libgcc])
AX_CHECK_LINK_FLAG([-Wl,--version-script=$srcdir/src/libcpucycles.map],
	[have_vscript=yes], [have_vscript=no], [-shared -fPIC])
AM_CONDITIONAL([HAVE_VSCRIPT], [test "$have_vscript" = yes])
AX_APPEND_LINK_FLAGS([-Wl,-z,defs], [CPUC_LDFLAGS])
# Never unloaded: a thread that has counted calls the library when it exits, and
# that may be after the last dlclose (src/thread/thread.c). The same holds for
# what the static library is linked into.
CPUC_NODELETE=
AX_APPEND_LINK_FLAGS([-Wl,-z,nodelete], [CPUC_NODELETE])
CPUC_LDFLAGS="$CPUC_LDFLAGS $CPUC_NODELETE"
# The first call may come in a signal handler, on a small stack. Lazy binding of a
# symbol would save all vector registers there: 3 KB with AVX-512.
CPUC_BIND_NOW=
AX_APPEND_LINK_FLAGS([-Wl,-z,now], [CPUC_BIND_NOW])
AC_SUBST([CPUC_LDFLAGS])
AC_SUBST([CPUC_NODELETE])
AC_SUBST([CPUC_BIND_NOW])
])

# CPUC_TLS
# --------
# An access to initial-exec thread-local storage is one instruction; in the
# default model of a shared library it is a call. glibc reserves room for it in
# libraries that dlopen loads; other C libraries may refuse to load them.
AC_DEFUN([CPUC_TLS], [
AC_CACHE_CHECK([for initial-exec thread-local storage], [cpuc_cv_tls_ie],
	[AC_LINK_IFELSE([AC_LANG_PROGRAM([[
#include <limits.h>
#ifndef __GLIBC__
#error not known to work with dlopen
#endif
static __thread __attribute__((tls_model("initial-exec"))) int x;
]], [[x = 1; return x;]])],
		[cpuc_cv_tls_ie=yes], [cpuc_cv_tls_ie=no])])
AS_IF([test "$cpuc_cv_tls_ie" = yes],
	[AC_DEFINE([CPUC_TLS_MODEL], ["initial-exec"],
		[The model of thread-local storage, if not the default.])])
])
