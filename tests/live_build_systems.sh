#!/bin/sh
# SPDX-License-Identifier: 0BSD
# What packaging/ has for users of other build systems: a project of each is
# built against the library. For RPM packages there is tests/packages/rpm.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

# LDFLAGS may be libtool's, such as -all-static, which no compiler knows.
unset MAKEFLAGS MAKELEVEL MFLAGS LDFLAGS
: >"$tmp/log"
cp "$top_srcdir/examples/counters.c" "$tmp"
version=$(sed -n 's/^#define CPUCYCLES_VERSION "\(.*\)"/\1/p' \
	"$top_srcdir/include/cpucycles.h")

# ok, with what was logged if not.
ok_log() {
	ok "$@" || sed 's/^/# /' "$tmp/log"
	: >"$tmp/log"
}

in_build() (
	cd "$top_builddir" && ${MAKE:-make} "$@" >>"$tmp/log" 2>&1
)

# PROGRAM...: each lists the counters, and one is in use.
counts() {
	for program; do
		"$program" | tee -a "$tmp/log" | grep -q '^\* [a-z]' || return 1
	done
}

# The installed tree has moved since, and so has what find_package() says.
cmake_package() {
	config=$(find "$tmp/moved" -name cpucyclesConfig.cmake)
	static=
	test -f "${config%/cmake/*}/libcpucycles.a" && static=static
	cat >"$tmp/CMakeLists.txt" <<-TXT
		cmake_minimum_required(VERSION 3.13)
		project(use C)
		find_package(cpucycles 0.9 REQUIRED CONFIG)
		find_package(cpucycles REQUIRED CONFIG)
		foreach(library cpucycles $static)
			add_executable(\${library} counters.c)
			target_link_libraries(\${library} cpucycles::\${library})
		endforeach()
	TXT
	cmake -S "$tmp" -B "$tmp/cmake" -G 'Unix Makefiles' \
		-DCMAKE_MAKE_PROGRAM=make "-Dcpucycles_DIR=${config%/*}" \
		>>"$tmp/log" 2>&1 &&
		cmake --build "$tmp/cmake" >>"$tmp/log" 2>&1 &&
		counts "$tmp/cmake/cpucycles" ${static:+"$tmp/cmake/static"}
	ok_log "CMake: find_package, from a tree that was moved"

	# wanted COMPATIBLE-EXACT-UNSUITABLE VERSION BYTES-OF-A-POINTER
	pointer=$(sed -n 's/.*EQUAL \([48]\))/\1/p' "${config%.cmake}Version.cmake")
	cat >"$tmp/version.cmake" <<-TXT
		function(wanted result PACKAGE_FIND_VERSION CMAKE_SIZEOF_VOID_P)
			include(${config%.cmake}Version.cmake)
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
	cmake -P "$tmp/version.cmake" >>"$tmp/log" 2>&1
	ok_log "CMake: which versions will do"
}

# meson_project TEXT DIRECTORY-OF-PC-FILES: finds the library and uses it.
meson_project() {
	rm -rf "$tmp/meson/build"
	PKG_CONFIG_LIBDIR=$2 PKG_CONFIG_SYSROOT_DIR=$tmp/moved meson setup \
		"$tmp/meson/build" "$tmp/meson" >>"$tmp/log" 2>&1 &&
		meson compile -C "$tmp/meson/build" >>"$tmp/log" 2>&1 &&
		counts "$tmp/meson/build/use"
	ok_log "Meson: $1"
}

# With subprojects/ as packaging/meson/cpucycles.wrap says.
meson_dependency() {
	mkdir -p "$tmp/meson/subprojects/cpucycles" &&
		cp "$tmp/counters.c" "$tmp/meson" &&
		cp "$top_srcdir/packaging/meson/cpucycles.wrap" \
			"$tmp/meson/subprojects" &&
		cp "$top_srcdir/packaging/meson/meson.build" \
			"$tmp/meson/subprojects/cpucycles" &&
		cat >"$tmp/meson/meson.build" <<-TXT
			project('use', 'c')
			cpucycles = dependency('libcpucycles', version: '$version')
			executable('use', 'counters.c', dependencies: cpucycles)
		TXT
	pc=$(find "$tmp/moved" -name libcpucycles.pc)
	if command -v pkg-config >/dev/null; then
		meson_project "the installed library" "${pc%/*}"
	else
		skip "there is no pkg-config"
	fi
	in_build amalgamation
	cp "$top_builddir"/amalgamation/cpucycles.[ch] \
		"$tmp/meson/subprojects/cpucycles"
	meson_project "the two files as a subproject" "$tmp/none"
}

in_build install DESTDIR="$tmp/root"
mv "$tmp/root" "$tmp/moved"
test -n "$(find "$tmp/moved" -name cpucyclesConfigVersion.cmake)"
ok_log "make install, with the CMake package"
if command -v cmake >/dev/null; then
	cmake_package
else
	skip "there is no cmake"
fi
if command -v meson >/dev/null; then
	meson_dependency
else
	skip "there is no meson"
fi
done_testing
