#!/bin/sh
# SPDX-License-Identifier: 0BSD
# Installs into a directory and builds programs against that as users do:
# plain -lcpucycles or pkg-config, shared or static, C or C++.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

make=${MAKE:-make}
(cd "$top_builddir" && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS "$make" \
	install DESTDIR="$tmp/root") >"$tmp/log" 2>&1
ok "make install DESTDIR=..."

header=$(find "$tmp/root" -name cpucycles.h)
pc=$(find "$tmp/root" -name libcpucycles.pc)
inc=${header%/*}
lib=${pc%/pkgconfig/*}
test -f "$header" && test -f "$pc"
ok "the header and libcpucycles.pc are installed"

# Each is cpucycles(3) wherever it is read, which ".so man3/cpucycles.3" is not.
page=$(find "$tmp/root" -name cpucycles.3)
missing=
for function in cpucycles_fence $(sed -n 's/^\t\(cpucycles_.*\);/\1/p' \
	"$top_srcdir/src/libcpucycles.map"); do
	cmp -s "$page" "${page%/*}/$function.3" || missing="$missing $function"
done
test -z "$missing"
ok "the manual has a page for each function$missing"

missing=
for example in "$top_srcdir"/examples/*.*; do
	cmp -s "$example" "${page%/man/*}/doc/libcpucycles/examples/${example##*/}" ||
		missing="$missing ${example##*/}"
done
test -z "$missing"
ok "the examples are installed$missing"

cat >"$tmp/use.c" <<'C'
#include <cpucycles.h>
#include <stdio.h>

int main(void)
{
	long long a = cpucycles(), b, tries = 1000000;

	do
		b = cpucycles();
	while (b == a && tries--);
	printf("%s %s\n", cpucycles_implementation(), cpucycles_version());
	return b <= a;
}
C
cp "$tmp/use.c" "$tmp/use.cc"

# build_and_run TEXT COMPILER SOURCE FLAGS...
build_and_run() {
	text=$1 compiler=$2 source=$3
	shift 3
	# shellcheck disable=SC2086 # the compiler may have arguments
	$compiler $CFLAGS -o "$tmp/use" "$tmp/$source" "$@" >"$tmp/log" 2>&1 &&
		LD_LIBRARY_PATH=$lib "$tmp/use" >"$tmp/out" 2>&1
	if ! ok "$text"; then
		sed 's/^/# /' "$tmp/log" "$tmp/out"
	fi
}

# A project that CMake builds, which asks pkg-config.
by_cmake() {
	if ! command -v cmake >/dev/null; then
		skip "there is no cmake"
		return
	fi
	cat >"$tmp/CMakeLists.txt" <<-'TXT'
		cmake_minimum_required(VERSION 3.13)
		project(use C)
		find_package(PkgConfig REQUIRED)
		pkg_check_modules(CPUCYCLES REQUIRED IMPORTED_TARGET libcpucycles)
		add_executable(use use.c)
		target_link_libraries(use PkgConfig::CPUCYCLES)
	TXT
	(
		unset MAKEFLAGS MAKELEVEL MFLAGS
		cmake -S "$tmp" -B "$tmp/cmake" -G 'Unix Makefiles' \
			-DCMAKE_MAKE_PROGRAM=make &&
			cmake --build "$tmp/cmake" && "$tmp/cmake/use"
	) >"$tmp/log" 2>&1
	ok "C, shared, by CMake" || sed 's/^/# /' "$tmp/log"
}

if test -n "$(find "$lib" -name 'libcpucycles.so')"; then
	build_and_run "C, shared" "$CC" use.c -I"$inc" -L"$lib" -lcpucycles
	if test -n "$CXX"; then
		build_and_run "C++, shared" "$CXX" use.cc -I"$inc" -L"$lib" \
			-lcpucycles
	fi
	if command -v pkg-config >/dev/null; then
		PKG_CONFIG_PATH=$lib/pkgconfig
		PKG_CONFIG_SYSROOT_DIR=$tmp/root
		export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
		# shellcheck disable=SC2046 # a list of flags
		build_and_run "C, shared, by pkg-config" "$CC" use.c \
			$(pkg-config --cflags --libs libcpucycles)
		by_cmake
		unset PKG_CONFIG_SYSROOT_DIR
	else
		skip "there is no pkg-config"
	fi
else
	skip "no shared library was built"
fi
archive=$(find "$lib" -name libcpucycles.a)
if test -n "$archive"; then
	build_and_run "C, the static library" "$CC" use.c -I"$inc" "$archive"
	if test -n "$CXX"; then
		build_and_run "C++, the static library" "$CXX" use.cc \
			-I"$inc" "$archive"
	fi
	case $CFLAGS in
	*-fsanitize*) skip "a sanitizer cannot be linked statically" ;;
	*) build_and_run "C, the whole program static" "$CC" use.c -static \
		-I"$inc" "$archive" ;;
	esac
else
	skip "no static library was built"
fi
(cd "$top_builddir" && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS "$make" \
	uninstall DESTDIR="$tmp/root") >"$tmp/log" 2>&1
left=$(find "$tmp/root" ! -type d)
test -z "$left"
ok "make uninstall leaves no file behind $left"
done_testing
