#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The compiled library computes with integers only, so that no call can raise a
# floating-point exception on any machine. tests/live_float calls every function.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

grep -oE '\bcpucycles[a-z_]*\)?\(' "$top_srcdir/include/cpucycles.h" |
	tr -d '()' | sort -u >"$tmp/declared"
grep -oE '\bcpucycles[a-z_]*\(' "$top_srcdir/tests/live_float.c" |
	tr -d '(' | sort -u >"$tmp/called"
grep -qx cpucycles_pair "$tmp/declared" &&
	! grep -vxFf "$tmp/called" "$tmp/declared"
ok "tests/live_float.c calls every function of the header"

# Helpers for CPUs without the instruction, by the names of libgcc and of Arm.
format='([hsdxt][fc])'
helpers="__(fix|fixuns|float|floatun)?(add|sub|mul|div|neg|powi|extend|trunc|cmp|\
unord|eq|ne|le|lt|ge|gt)?([sdt]i)?$format$format?([sdt]i)?[0-9]?|\
__aeabi_(c?[dfh]r?(add|sub|mul|div|neg|cmp|2).*|u?[il]2[dfh])|_Q.*|_Ots.*"
# With link-time optimisation, objects have no code, and some lists are empty.
$NM "$top_builddir/.libs/libcpuc.a" 2>/dev/null |
	awk 'NF == 2 && $1 == "U" {print $2}
		NF == 3 && $2 == "T" {print "+" $3}' |
	sort -u >"$tmp/symbols"
if grep -q '^+_*cpucycles_counter$' "$tmp/symbols" &&
	grep -qx '_*printf\(_chk\)*' "$tmp/symbols"; then
	! grep -xE "_?($helpers)" "$tmp/symbols"
	ok "no object calls a helper for floating point"
else
	skip "the objects have no list of what they call"
fi

# What computes; moves, logic and integers in vectors raise nothing. Those of the
# x87 begin with f.
computes='v?(cvt.*|round.*|(add|addsub|sub|mul|div|r?sqrt|rcp|min|max|hadd|hsub|'
computes=$computes'dp|cmp.*|u?comi)[sp][shd])|vfn?m[as].*|f[^s].*|fs.+'
code=$top_builddir/.libs/libcpucycles.so
test -f "$code" || code=$top_builddir/.libs/libcpuc.a
case $(made host_cpu):$CFLAGS in
*-fsanitize* | *--coverage*) skip "the compiler adds code" ;;
x86_64:*)
	objdump -d --no-show-raw-insn "$code" >"$tmp/code" 2>/dev/null
	if grep -q '<cpucycles_counter>:$' "$tmp/code"; then
		! awk '$1 ~ /^[0-9a-f]+:$/ {print $2}' "$tmp/code" |
			grep -xE "$computes"
		ok "no instruction of the library computes in floating point"
	else
		skip "objdump does not show the library's code"
	fi
	;;
*) skip "only x86-64's instructions are known here" ;;
esac
done_testing
