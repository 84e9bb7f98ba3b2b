#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The programs that users are shown: each runs, and prints something.
: "${top_srcdir:?is set by make check}" "${top_builddir:?too}"
. "$top_srcdir/tests/tap.sh"

for source in "$top_srcdir"/examples/*.c; do
	name=${source##*/}
	name=${name%.c}
	out=$("$top_builddir/examples/$name") && test -n "$out"
	ok "$name: $(echo "$out" | head -n 1)"
done
done_testing
