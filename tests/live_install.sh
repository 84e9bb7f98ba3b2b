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
header=$(find "$tmp/root" -name cpucycles.h)
pc=$(find "$tmp/root" -name libcpucycles.pc)
test -f "$header" && test -f "$pc" &&
	test -n "$(find "$tmp/root" -name cpucyclesConfigVersion.cmake)"
ok "the header, libcpucycles.pc and the CMake package are installed"

# Each has the whole text, so that it can be read outside the manual's
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
ok "a page for each function, the examples, the licence, NEWS and README are, too"

# The tree moves away from where it was installed. The prefix of README.md is a
# directory with include and lib, wherever the library's are.
mv "$tmp/root" "$tmp/moved"
mkdir "$tmp/prefix"
P=$tmp/prefix
inc=$tmp/moved${header#"$tmp/root"} inc=${inc%/*}
lib=$tmp/moved${pc#"$tmp/root"} lib=${lib%/pkgconfig/*}
ln -s "$inc" "$P/include"
ln -s "$lib" "$P/lib"

# A program that counts.
cp tests/dropin/use.c "$tmp/prog.c"

# build_and_run TEXT FLAGS...
build_and_run() {
	text=$1
	shift
	quietly $CC $CFLAGS -o "$tmp/prog" "$tmp/prog.c" "$@" &&
		LD_LIBRARY_PATH=$lib quietly "$tmp/prog"
	ok "$text"
}

# A plug-in, built with the flags for the static library.
plugin=$tmp/plugin.so
echo 'int plugin;' >"$tmp/plugin.c"

build_plugin() {
	quietly $CC $CFLAGS -shared -fPIC -o "$plugin" "$tmp/plugin.c" "$@"
}

is_nodelete() {
	readelf -dW "$1" 2>&1 | grep -q NODELETE
}

# stays TEXT PLUG-IN
stays() {
	if test -n "$nodelete"; then
		is_nodelete "$2"
		ok "$1: a plug-in is never unloaded"
	else
		skip "the linker has no -z nodelete, or there is no readelf"
	fi
}

nodelete=
build_plugin -Wl,-z,nodelete && is_nodelete "$plugin" && nodelete=yes

# A project that finds the library below P. It has a program for each target.
cmake_project() {
	targets=prog
	cat >"$tmp/CMakeLists.txt" <<-'TXT'
		cmake_minimum_required(VERSION 3.13)
		project(use C)
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

# The package alone in a prefix of its own, as distributions move it that split
# what is installed. It knows where that was.
split_prefix() {
	P=$tmp/split
	mkdir -p "$P/lib/cmake"
	cp -r "$lib/cmake/cpucycles" "$P/lib/cmake"
	sed -e "s,@libdir@,$lib,g" -e "s,@includedir@,$inc,g" \
		-e "s|@LIBS@|$(made LIBS)|" \
		-e "s|@CPUC_NODELETE@|$(made CPUC_NODELETE)|" \
		-e '/^\tset(.*prefix/d' packaging/cpucyclesConfig.cmake.in \
		>"$P/lib/cmake/cpucycles/cpucyclesConfig.cmake"
}

# wanted COMPATIBLE-EXACT-UNSUITABLE VERSION BYTES-OF-A-POINTER
cmake_versions() {
	file=$lib/cmake/cpucycles/cpucyclesConfigVersion.cmake
	pointer=$(sed -n 's/.*EQUAL \([48]\))/\1/p' "$file")
	cat >"$tmp/version.cmake" <<-TXT
		function(wanted result PACKAGE_FIND_VERSION CMAKE_SIZEOF_VOID_P)
			include($file)
			set(got "\${PACKAGE_VERSION_COMPATIBLE}-\${PACKAGE_VERSION_EXACT}-\${PACKAGE_VERSION_UNSUITABLE}")
			if(NOT got STREQUAL result)
				message(SEND_ERROR "\${PACKAGE_FIND_VERSION}: \${got}")
			endif()
		endfunction()
		wanted(TRUE-- "" $pointer)
		wanted(TRUE-- 0.9 $pointer)
		wanted(TRUE-TRUE- $version $pointer)
		wanted(-- $version.1 $pointer)
		wanted(TRUE--TRUE 0.9 2)
	TXT
	quietly cmake -P "$tmp/version.cmake"
	ok "CMake: which versions will do"
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
	test "$(assignment Meson)" = "$(assignment pkg-config)"
	ok "Meson: README gives it pkg-config's prefix"
	unset PKG_CONFIG_PATH
	export PKG_CONFIG_LIBDIR="$tmp/none"
	CFLAGS="$CFLAGS -O0" quietly meson setup "$tmp/meson/build" \
		"$tmp/meson" &&
		quietly meson compile -C "$tmp/meson/build" &&
		quietly "$tmp/meson/build/prog"
	ok "Meson: the two files as a subproject"
	stays Meson "$tmp/meson/build/libplugin.so"
}

PKG_CONFIG_SYSROOT_DIR=$tmp/moved
export PKG_CONFIG_SYSROOT_DIR
archive=$(find "$lib" -name libcpucycles.a)
if test -n "$(find "$lib" -name 'libcpucycles.so')"; then
	build_and_run "shared" -I"$inc" -L"$lib" -lcpucycles
	if command -v pkg-config >/dev/null; then
		eval "export $(assignment pkg-config)"
		build_and_run "shared, by pkg-config" \
			$(pkg-config --cflags --libs libcpucycles)
		build_plugin $(pkg-config --static --libs libcpucycles)
		stays "pkg-config --static" "$plugin"
	else
		skip "there is no pkg-config"
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
if command -v cmake >/dev/null; then
	cmake_versions
	cmake_project
	split_prefix
	cmake_project
else
	skip "there is no cmake"
fi
if command -v meson >/dev/null; then
	meson_project
else
	skip "there is no meson"
fi
mv "$tmp/moved" "$tmp/root"
in_build uninstall DESTDIR="$tmp/root"
left=$(cd "$tmp/root$(made prefix)" && find . ! -type d -o -name '*cpucycles*') &&
	test -z "$left"
ok "make uninstall leaves nothing behind, nor a directory of its own $left"
done_testing
