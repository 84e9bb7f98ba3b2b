#!/bin/sh
# SPDX-License-Identifier: 0BSD
# Installs into a directory and builds programs against that as users do: by
# plain -lcpucycles, pkg-config, CMake and Meson, shared or static.
# tests/packages/rpm tries the RPM packages.
# shellcheck disable=SC2046,SC2086 # compilers and flags are several words
. "${top_srcdir:?is set by make check}/tests/tap.sh"

# libtool's LDFLAGS, such as -all-static, are unknown to compilers.
unset MAKEFLAGS MAKELEVEL MFLAGS LDFLAGS
version=$(sed -n 's/^#define CPUCYCLES_VERSION "\(.*\)"/\1/p' \
	"$top_srcdir/include/cpucycles.h")

in_build() (
	cd "${top_builddir:?is set, too}" && quietly "${MAKE:-make}" "$@"
)

in_build install DESTDIR="$tmp/root"
ok "make install DESTDIR=..."

# Each page has the whole text, so that it can be read outside the manual's
# directory, where ".so man3/cpucycles.3" leads nowhere.
page=$(find "$tmp/root" -name cpucycles.3)
doc=${page%/man/*}/doc/libcpucycles
cd "$top_srcdir" || exit 99
{
	for function in cpucycles_fence \
		$(sed -n 's/^\t\(cpucycles_.*\);/\1/p' src/libcpucycles.map); do
		cmp "$page" "${page%/*}/$function.3"
	done
	for text in COPYING NEWS README.md doc/building.md examples/*.*; do
		cmp "$text" "$doc/${text#doc/}"
	done
} >"$tmp/out" 2>&1
! test -s "$tmp/out"
ok "a page for each function, the examples, the licence, NEWS and README are installed"

# The tree moves away from where it was installed. The prefix of README.md is a
# directory with include and lib, wherever the library's are.
mv "$tmp/root" "$tmp/moved"
mkdir "$tmp/prefix"
P=$tmp/prefix
inc=$(find "$tmp/moved" -name cpucycles.h) inc=${inc%/*}
lib=$(find "$tmp/moved" -name libcpucycles.pc) lib=${lib%/pkgconfig/*}
ln -s "$inc" "$P/include"
ln -s "$lib" "$P/lib"

# A program that counts, and a plug-in.
cp tests/dropin/use.c "$tmp/prog.c"
echo 'int plugin;' >"$tmp/plugin.c"

# build_and_run TEXT FLAGS...
build_and_run() {
	text=$1
	shift
	quietly $CC $CFLAGS -o "$tmp/prog" "$tmp/prog.c" "$@" &&
		LD_LIBRARY_PATH=$lib quietly "$tmp/prog"
	ok "$text"
}

# stays TEXT PLUG-IN: if it has the static library inside.
stays() {
	test -z "$(made CPUC_NODELETE)" || readelf -dW "$2" | grep -q NODELETE
	ok "$1: a plug-in is never unloaded"
}

# A project that finds the library below P. It has a program for each target.
cmake_project() {
	targets=prog
	cat >"$tmp/CMakeLists.txt" <<-'TXT'
		cmake_minimum_required(VERSION 3.13)
		project(use C)
		find_package(cpucycles 99 QUIET CONFIG)
		if(cpucycles_FOUND)
			message(FATAL_ERROR "this is no version 99")
		endif()
		find_package(cpucycles 0.9 REQUIRED CONFIG)
		add_executable(prog prog.c)
		target_link_libraries(prog cpucycles::cpucycles)
	TXT
	test -z "$archive" || {
		targets="prog static"
		cat >>"$tmp/CMakeLists.txt" <<-'TXT'
			add_executable(static prog.c)
			target_link_libraries(static cpucycles::static)
			add_library(plugin MODULE plugin.c)
			target_link_libraries(plugin cpucycles::static)
		TXT
	}
	eval "$(assignment CMake) && export CMAKE_PREFIX_PATH"
	rm -rf "$tmp/cmake"
	quietly cmake -S "$tmp" -B "$tmp/cmake" -G 'Unix Makefiles' \
		-DCMAKE_MAKE_PROGRAM=make && quietly cmake --build "$tmp/cmake"
	ok "CMake: the library below $P"
	for target in $targets; do
		quietly "$tmp/cmake/$target"
		ok "CMake: the program $target counts"
	done
	test -z "$archive" || stays CMake "$tmp/cmake/libplugin.so"
}

# moved PACKAGE LIBRARIES [CMAKE_ARGUMENT]...: the package in that directory of a
# tree, and libraries in these, of which the last is found, with the header beside.
# Above the tree and where the library was installed is another build's.
moved() {
	text="CMake: the package in $1, the library in $2" tree=$above/lib/moved
	rm -rf "$above" "$tmp/cmake"
	mkdir -p "$tree/$1" "$tree/include" "$above/lib" "$above/include"
	sed "s,set(prefix .*,set(prefix \"$above\")," \
		"$lib/cmake/cpucycles/cpucyclesConfig.cmake" \
		>"$tree/$1/cpucyclesConfig.cmake"
	for dir in "$above" "$tree"; do
		: >"$dir/include/cpucycles.h"
	done
	: >"$above/lib/libcpucycles.a"
	for dir in $2; do
		mkdir -p "$tree/$dir"
		: >"$tree/$dir/libcpucycles.a"
	done
	printf '%s\n' "$tree/$dir/libcpucycles.a" "$tree/include" >"$tmp/wanted"
	package=$tree/$1
	shift 2
	quietly cmake -S "$tmp/where" -B "$tmp/cmake" -G 'Unix Makefiles' \
		-Dcpucycles_DIR="$package" "$@" &&
		cmp "$tmp/cmake/where" "$tmp/wanted" >>"$tmp/log" 2>&1
	ok "$text"
}

# Trees as packagers make them: of distributions, vcpkg and others.
moved_packages() {
	above=$tmp/above
	mkdir -p "$tmp/where"
	cat >"$tmp/where/CMakeLists.txt" <<-'TXT'
		cmake_minimum_required(VERSION 3.13)
		project(where NONE)
		find_package(cpucycles REQUIRED CONFIG)
		get_target_property(file cpucycles::static IMPORTED_LOCATION${OF})
		get_target_property(include cpucycles::static
			INTERFACE_INCLUDE_DIRECTORIES)
		file(WRITE ${CMAKE_BINARY_DIR}/where "${file}\n${include}\n")
	TXT
	arch=x86_64-linux-gnu
	while read -r package libraries; do
		moved "$package" "$libraries" \
			-DCMAKE_LIBRARY_ARCHITECTURE=$arch
	done <<-TXT
		lib/cmake/cpucycles lib
		lib64/cmake/cpucycles lib64
		lib/$arch/cmake/cpucycles lib/$arch
		share/cpucycles lib
		share/cpucycles lib64
		share/cmake/cpucycles lib/$arch
		debug/share/cpucycles lib debug/lib
	TXT
	moved share/cpucycles "lib debug/lib" -DOF=_DEBUG
}

# requested RANGE STATUS WORDS: 0 if it has this version.
requested() {
	rm -rf "$tmp/cmake"
	quietly cmake -S "$tmp/range" -B "$tmp/cmake" -G 'Unix Makefiles' \
		-DRANGE="$1" -Dcpucycles_DIR="$P/lib/cmake/cpucycles"
	test $? -eq "$2"
	ok "CMake: $version is $3 $1"
}

version_ranges() {
	mkdir -p "$tmp/range"
	cat >"$tmp/range/CMakeLists.txt" <<-'TXT'
		cmake_minimum_required(VERSION 3.13)
		project(range NONE)
		find_package(cpucycles ${RANGE} REQUIRED CONFIG)
	TXT
	for range in 0.5 "$version" "0.5...$version" "0.5...<$version.1" \
		"$version...99"; do
		requested "$range" 0 in
	done
	for range in 99 0.5...0.9 "0.5...<$version" "$version.1...99"; do
		requested "$range" 1 "not in"
	done
}

# The package alone in a prefix of its own, as distributions move it that split
# what is installed. It knows where that was.
split_prefix() {
	P=$tmp/split
	mkdir -p "$P/lib/cmake"
	cp -r "$lib/cmake/cpucycles" "$P/lib/cmake"
	sed "s,set(prefix .*,set(prefix \"${inc%/include}\")," \
		"$lib/cmake/cpucycles/cpucyclesConfig.cmake" \
		>"$P/lib/cmake/cpucycles/cpucyclesConfig.cmake"
}

# With subprojects/ as packaging/meson/cpucycles.wrap says. Meson finds the
# installed library by pkg-config, which a program above is built with.
meson_project() {
	sub=$tmp/meson/subprojects
	mkdir -p "$sub/cpucycles"
	cp "$tmp/prog.c" "$tmp/plugin.c" "$tmp/meson"
	cp packaging/meson/cpucycles.wrap "$sub"
	cp packaging/meson/meson.build "$top_builddir"/amalgamation/cpucycles.[ch] \
		"$sub/cpucycles"
	cat >"$tmp/meson/meson.build" <<-TXT
		project('use', 'c')
		library = dependency('libcpucycles')
		assert(library.version() == '$version')
		executable('prog', 'prog.c', dependencies: library)
		shared_module('plugin', 'plugin.c', dependencies: library)
	TXT
	unset PKG_CONFIG_PATH
	export PKG_CONFIG_LIBDIR="$tmp/none"
	CFLAGS="$CFLAGS -O0" quietly meson setup "$tmp/meson/build" \
		"$tmp/meson" &&
		quietly meson compile -C "$tmp/meson/build" &&
		quietly "$tmp/meson/build/prog"
	ok "Meson: the two files as a subproject"
	stays Meson "$tmp/meson/build/libplugin.so"
}

export PKG_CONFIG_SYSROOT_DIR="$tmp/moved"
archive=$(find "$lib" -name libcpucycles.a)
if test -n "$(find "$lib" -name libcpucycles.so)"; then
	build_and_run "shared" -I"$inc" -L"$lib" -lcpucycles
	if have pkg-config; then
		eval "export $(assignment pkg-config)"
		build_and_run "shared, by pkg-config" \
			$(pkg-config --cflags --libs libcpucycles)
		quietly $CC $CFLAGS -shared -fPIC -o "$tmp/plugin.so" \
			"$tmp/plugin.c" $(pkg-config --static --libs libcpucycles)
		stays "pkg-config --static" "$tmp/plugin.so"
	fi
else
	skip "no shared library was built"
fi
if test -n "$archive"; then
	# A sanitizer cannot be linked statically.
	case $CFLAGS in
	*-fsanitize*) static=-I"$inc" ;;
	*) static=-static ;;
	esac
	build_and_run "static" "$static" -I"$inc" "$archive" $(made LIBS)
else
	skip "no static library was built"
fi
if have cmake; then
	cmake_project
	split_prefix
	cmake_project
	moved_packages
	# Older ones know no ranges.
	if cmake --version | grep -qE ' (3\.(19|[2-9][0-9])|[4-9])'; then
		version_ranges
	else
		skip "needs CMake 3.19"
	fi
fi
! have meson || meson_project
mv "$tmp/moved" "$tmp/root"
in_build uninstall DESTDIR="$tmp/root"
left=$(cd "$tmp/root$(made prefix)" && find . ! -type d -o -name '*cpucycles*') &&
	test -z "$left"
ok "make uninstall leaves nothing behind, nor a directory of its own $left"
done_testing
