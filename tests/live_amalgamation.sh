#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The two files of `make amalgamation`: they compile alone, have the library's
# counters, pass its self-test, and do not meet another copy of it.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

# The value of a variable of the makefile.
variable() {
	sed -n "s/^$1 = //p" "$top_builddir/Makefile"
}
warnings="$(variable CPUC_CFLAGS) -Werror"
libs=$(variable LIBS)

# ARGUMENT...: the compiler, which may have arguments, in a directory that has
# the two files alone.
alone() {
	# shellcheck disable=SC2086 # several words
	(cd "$tmp/two" && quietly $CC $CFLAGS "$@")
}

# Programs of the sources need more than the two files.
with_sources() {
	# shellcheck disable=SC2086
	alone -I. -I"$top_builddir" -I"$top_srcdir/src" "$@" cpucycles.o $libs
}

mkdir "$tmp/two"
cp "$top_builddir"/amalgamation/cpucycles.[ch] "$tmp/two"
# shellcheck disable=SC2086
quietly "$top_srcdir/tests/amalgamation/agree" "$top_builddir" $CC $CFLAGS
ok "hosts.h finds what configure found"
# The last one makes the object of the tests below.
for flags in "-std=c11 -pedantic -fsyntax-only" "-std=gnu11 -fPIC"; do
	# shellcheck disable=SC2086
	alone $warnings $flags -c cpucycles.c
	ok "it compiles alone, with all warnings and $flags"
done
for file in c h; do
	sed -n '2,/\*\//{s/^ \* \{0,1\}//;s, \*/$,,;p;}' \
		"$tmp/two/cpucycles.$file" |
		sed '1,/^$/d' | cmp -s - "$top_srcdir/COPYING"
	ok "cpucycles.$file has the licence"
done

cat >"$tmp/use.c" <<'C'
#include "cpucycles.h"
#include <stdio.h>
#include <string.h>

int main(void)
{
	long long a = cpucycles(), b, tries = 1000000;

	do
		b = cpucycles();
	while (b == a && tries--);
	cpucycles_fence();
	return b <= a || strcmp(cpucycles_version(), CPUCYCLES_VERSION) != 0;
}
C
cp "$tmp/use.c" "$tmp/use.cc"
# shellcheck disable=SC2086
alone -I. -o use ../use.c cpucycles.o $libs && "$tmp/two/use"
ok "a program in C counts"
# As README.md has it, with the options of this build.
# shellcheck disable=SC2086
cp "$top_srcdir/examples/time-a-function.c" "$tmp/two/program.c" &&
	alone -O2 -I. -o program program.c cpucycles.o $libs &&
	"$tmp/two/program" | grep -q ' cycles ('
ok "so does README's program"
if test -n "$CXX"; then
	# shellcheck disable=SC2086
	(cd "$tmp/two" && quietly $CXX -Wall -Wextra -Werror -I. -fsyntax-only \
		../use.cc && quietly $CXX $CFLAGS -I. -o use ../use.cc \
		cpucycles.o $libs) && "$tmp/two/use"
	ok "a program in C++ counts"
fi

with_sources -o counters "$top_srcdir/examples/counters.c" &&
	"$tmp/two/counters" | sed 's/^. \([^ ]* *[^ ]*\).*/\1/' >"$tmp/ours" &&
	"$top_builddir/examples/counters" |
	sed 's/^. \([^ ]* *[^ ]*\).*/\1/' | diff - "$tmp/ours" >"$tmp/log"
ok "the library's counters, in its order" || sed 's/^/# /' "$tmp/log"
with_sources -o selftest "$top_srcdir"/src/tools/selftest/*.c \
	"$top_srcdir"/src/tools/common/*.c &&
	quietly "$tmp/two/selftest" --quick
ok "cpucycles-selftest finds nothing wrong"

# Several copies in a process.
shared=$top_builddir/.libs/libcpucycles.so.1
cat >"$tmp/other.c" <<'C'
#include <cpucycles.h>

const char *other_counter(const char *name);

const char *other_counter(const char *name)
{
	cpucycles();
	cpucycles_select(name);
	cpucycles();
	return cpucycles_implementation();
}
C
cat >"$tmp/beside.c" <<'C'
#include "cpucycles.h"
#include <string.h>

const char *other_counter(const char *name);

int main(void)
{
	cpucycles();
	cpucycles_select("default-gettimeofday");
	if (strcmp(other_counter("default-zero"), "default-zero") != 0)
		return 1;
	if (strcmp(cpucycles_implementation(), "default-gettimeofday") != 0)
		return 2;
	return cpucycles() == 0 ? 3 : 0;
}
C

# TEXT OBJECT...: a program with a copy, and a shared library that has another.
beside() {
	text=$1
	shift
	# shellcheck disable=SC2086
	alone -fPIC -shared -I"$top_srcdir/include" -o libother.so ../other.c \
		"$@" $libs &&
		alone -I. -rdynamic -o beside ../beside.c cpucycles.o \
			libother.so -Wl,-rpath-link,"$top_builddir/.libs" \
			$libs &&
		LD_LIBRARY_PATH=$tmp/two:$top_builddir/.libs \
			quietly "$tmp/two/beside"
	ok "$text"
}

# Also where a program exports its symbols.
twice() {
	with_sources -rdynamic -o twice "$top_srcdir/tests/live_twice.c" \
		"$(variable DL_LIBS)" && quietly "$tmp/two/twice"
	ok "beside a library that is loaded at run time"
}

if test -f "$shared"; then
	beside "a program's copy, and one in a shared library" cpucycles.o
	nm -D "$tmp/two/libother.so" >"$tmp/names" &&
		grep -q other_counter "$tmp/names" &&
		! grep -iE ' cpuc' "$tmp/names"
	ok "which exports nothing of it"
	beside "a program's copy, and a shared library that uses the library" \
		"$shared"
	twice
else
	skip "no shared library was built"
fi
done_testing
