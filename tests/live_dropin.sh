#!/bin/sh
# SPDX-License-Identifier: 0BSD
# Programs built with the original library run on this one, and the reverse.
# tests/dropin/standin.c stands in for the original.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

dropin=$top_srcdir/tests/dropin

# For either library a directory: its headers, its version, and what it is.
mkdir "$tmp/ours" "$tmp/standin"
ln -s "$top_srcdir/include" "$tmp/ours/include"
ln -s "$dropin" "$tmp/standin/include"
"$top_builddir/cpucycles-info" --version | sed 's/.* //' >"$tmp/ours/version"
echo standin >"$tmp/standin/version"

# NAME LIBRARY ARGUMENT...: the program NAME, with the LIBRARY's header.
program() {
	name=$1 headers=$tmp/$2/include
	shift 2
	# shellcheck disable=SC2086 # several words
	quietly $CC $CFLAGS -I"$headers" -o "$tmp/$name" "$dropin/use.c" "$@"
}

# NAME LIBRARY: runs it on that library, without a word from the dynamic linker.
runs_on() {
	LD_LIBRARY_PATH=$tmp/$2 "$tmp/$1" >"$tmp/out" 2>"$tmp/err" &&
		! test -s "$tmp/err" &&
		sed -n 's/^version //p' "$tmp/out" | cmp -s - "$tmp/$2/version" &&
		grep -q '^cpucycles tracesetup 0 ' "$tmp/out" && return
	sed 's/^/# /' "$tmp/out" "$tmp/err"
	return 1
}

# NAME TEXT: runs it on both.
runs_on_both() {
	runs_on "$1" ours
	ok "$2: runs on this library"
	runs_on "$1" standin
	ok "$2: runs on the original"
}

shared_programs() {
	for built in ours standin; do
		library=$tmp/$built/libcpucycles.so.1
		program pie $built "$library"
		runs_on_both pie "built with $built"
		program now $built "$library" -Wl,-z,now
		runs_on_both now "built with $built, bound at once"
		if ! program copy $built -fno-pie -no-pie "$library"; then
			skip "no position-dependent program can be built here"
			continue
		fi
		readelf -rW "$tmp/copy" | grep -q 'R_.*COPY.*cpucycles'
		ok "built with $built, at a fixed position: a copy relocation"
		runs_on_both copy "built with $built, at a fixed position"
	done
	program late standin -DWITH_DLSYM -ldl
	runs_on_both late "dlopen and dlsym"
}

lib=$top_builddir/.libs/libcpucycles.so.1
# shellcheck disable=SC2086 # several words
if test -f "$lib" && command -v readelf >/dev/null; then
	cp "$lib" "$tmp/ours" &&
		quietly $CC $CFLAGS -I"$dropin" -fPIC -shared \
			-Wl,-soname,libcpucycles.so.1 "$dropin/standin.c" \
			-o "$tmp/standin/libcpucycles.so.1"
	ok "a library with the original's five symbols"
	shared_programs
else
	skip "no shared library was built, or there is no readelf"
fi

archive=$top_builddir/.libs/libcpucycles.a
case $CFLAGS in
*-fsanitize*) skip "a sanitizer cannot be linked statically" ;;
*)
	if test -f "$archive"; then
		program static standin -static "$archive" &&
			runs_on static ours
		ok "the original's header, linked statically with this library"
		program static ours -static "$dropin/standin.c" &&
			runs_on static standin
		ok "this header, linked statically with the original"
	else
		skip "no static library was built"
	fi
	;;
esac
done_testing
