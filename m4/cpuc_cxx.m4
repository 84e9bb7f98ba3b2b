# SPDX-License-Identifier: 0BSD
# CPUC_CXX
# --------
# Whether objects of the C and the C++ compiler link together: both must be for
# the same machine and the same C library. musl-gcc and g++ are not, nor are a
# cross compiler and the build machine's g++. CXX=no leaves C++ out.
m4_define([_CPUC_C_LIBRARY], [[
#include <stdlib.h>
#ifdef __GLIBC__
#define c_library cpuc_glibc
#else
#define c_library cpuc_another
#endif
]])
AC_DEFUN([CPUC_CXX], [
AC_CACHE_CHECK([whether $CXX links the objects of $CC], [cpuc_cv_cxx], [
	cpuc_cv_cxx=no
	AC_COMPILE_IFELSE([AC_LANG_SOURCE([_CPUC_C_LIBRARY
		[int c_library = 1;]])],
		[mv conftest.$ac_objext cpuc_c.$ac_objext])
	cpuc_libs=$LIBS
	LIBS="cpuc_c.$ac_objext $LIBS"
	AC_LANG_PUSH([C++])
	AC_LINK_IFELSE([AC_LANG_PROGRAM([_CPUC_C_LIBRARY
		[#include <string>
		extern "C" int c_library;]],
		[[return std::string("c").size() != (size_t)c_library;]])],
		[cpuc_cv_cxx=yes])
	AC_LANG_POP([C++])
	LIBS=$cpuc_libs
	rm -f cpuc_c.$ac_objext])
AM_CONDITIONAL([HAVE_CXX], [test "$cpuc_cv_cxx" = yes])
])
