#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The two files of `make amalgamation`: they compile alone, have the library's
# counters, pass its self-test, and do not meet another copy of it. A program with
# them is also what can be given other privileges.
# shellcheck disable=SC2086 # compilers and their options are several words
. "${top_srcdir:?is set by make check}/tests/tap.sh"

warnings="$(made CPUC_CFLAGS) -Werror"
libs=$(made LIBS)
dl=$(made DL_LIBS)

# ARGUMENT...: the compiler, which may have arguments, in a directory that has
# the two files alone.
alone() {
	(cd "$tmp/two" && quietly $CC $CFLAGS "$@")
}

mkdir "$tmp/two"
cp "$top_builddir"/amalgamation/cpucycles.[ch] "$tmp/two"
quietly "$top_srcdir/tests/amalgamation/agree" "$top_builddir" $CC $CFLAGS
ok "hosts.h finds what configure found"
# -O2 takes twice as long and finds no more.
alone $warnings -std=gnu11 -fPIC -O1 -c cpucycles.c
ok "it compiles alone, with all warnings"
quietly "$top_srcdir/tests/amalgamation/strict" "$tmp/two" $CC $CFLAGS
ok "both compile where other projects' warnings are errors"
# As kernels and programs of theirs are compiled.
echo 'int none;' >"$tmp/two/none.c"
if alone -mno-sse -c none.c; then
	alone $warnings -mno-sse -O0 -S cpucycles.c
	ok "it compiles without SSE"
else
	skip "there is no SSE to do without"
fi

# As unity builds do. What other files leave in force must not matter, either.
printf '#include <stdio.h>\n#include "cpucycles.c"\n' >"$tmp/two/after.c"
printf '#include "cpucycles.c"\n#include <stdio.h>\n%s\n' \
	'int main(void) { return printf("%lld\n", cpucycles()) < 0; }' \
	>"$tmp/two/first.c"
if echo '#include <features.h>' | $CC $CFLAGS -E - >/dev/null 2>&1; then
	! alone -fsyntax-only after.c &&
		grep -q 'error.*compile it by itself' "$tmp/log"
	ok "after another file's headers, it says what to do"
	alone $warnings -D_GNU_SOURCE -fsyntax-only after.c
	ok "but with their extensions, it compiles"
else
	skip "extensions are no matter of order here"
fi
alone $warnings -o first first.c $libs && quietly "$tmp/two/first"
ok "before another file, it compiles and counts"

# Programs that the build has compiled, linked with this copy.
ln -s "$top_builddir" "$tmp/build"
counters_of() {
	"$1/counters" | sed 's/^. \([^ ]* *[^ ]*\).*/\1/'
}
alone -o counters ../build/examples/counters.o cpucycles.o $libs &&
	counters_of "$tmp/two" >"$tmp/ours" &&
	counters_of "$top_builddir/examples" | diff - "$tmp/ours" >"$tmp/log"
ok "the library's counters, in its order"
objects=$(cd "$top_srcdir/src/tools" &&
	printf '../build/src/tools/%s\n' selftest/*.c common/*.c | sed 's/c$/o/')
alone -o selftest $objects cpucycles.o $libs &&
	quietly "$tmp/two/selftest" --quick clock threads fork
ok "cpucycles-selftest finds nothing wrong"

# raised PROGRAM [ARGUMENT]...: runs a copy of it that has another user or group,
# as $other says; who is not root has a choice of groups only.
raised() {
	cp "$1" "$tmp/raised"
	shift
	if test $other = user; then
		chown 65534 "$tmp/raised" && chmod 4755 "$tmp/raised"
	elif test "$(id -u)" -eq 0; then
		chgrp 65534 "$tmp/raised" && chmod 2755 "$tmp/raised"
	else
		chgrp "$(id -G | tr ' ' '\n' | tail -n 1)" "$tmp/raised" &&
			chmod 2755 "$tmp/raised"
	fi
	"$tmp/raised" "$@"
}

# PROGRAM: whether it counts by the counter that is asked for, but not when raised.
unasked() {
	"$tmp/two/$1" | grep -q "^\* $named " &&
		raised "$tmp/two/$1" >"$tmp/log" && grep -q '^\* ' "$tmp/log" &&
		! grep "^\* $named " "$tmp/log"
}

# ids is as where the C library has no secure_getenv(3).
sed '/^#define HAVE_SECURE_GETENV/d' "$tmp/two/cpucycles.c" >"$tmp/two/ids.c"
alone -O0 -o ids ../build/examples/counters.o ids.c $libs
chmod 755 "$tmp"
id=$(command -v id)
others=group
test "$(id -u)" -ne 0 || others='user group'
for other in $others; do
	if test "$(raised "$id" -u)-$(raised "$id" -g)" = "$(id -u)-$(id -g)"; then
		skip "privileges of another $other cannot be had here"
		continue
	fi
	named=default-gettimeofday
	export cpucyclesimplementation=$named
	for program in counters ids; do
		unasked $program
		ok "a counter is not asked for with raised privileges, by $program ($other)"
	done
	unset cpucyclesimplementation
done

shared=$top_builddir/.libs/libcpucycles.so.1
if test -f "$shared"; then
	cat >"$tmp/two/plugin.c" <<-'C'
		#include "cpucycles.h"
		long long plugin(void);
		long long plugin(void)
		{
			return cpucycles() == 0 ? -1 : cpucycles_interruptions();
		}
	C
	alone -fPIC -shared -I. -o plugin.so plugin.c cpucycles.o $libs &&
		$NM -D "$tmp/two/plugin.so" >"$tmp/log" &&
		grep -q plugin "$tmp/log" && ! grep -iE ' cpuc' "$tmp/log"
	ok "a plug-in exports nothing of its copy"
else
	skip "no shared library was built"
fi

# A plug-in that ought to have been linked with -z nodelete.
unloaded() {
	alone -o unloaded "$top_srcdir/tests/amalgamation/unloaded.c" \
		$dl &&
		"$tmp/two/unloaded" "$tmp/two/plugin.so"
	status=$?
	if test $status -eq 77; then
		skip "a plug-in stays loaded, or nothing points into it"
	else
		test $status -eq 0
		ok "a thread goes on when a plug-in that counted is unloaded ($status)"
	fi
}

# TEXT ASSIGNMENT
fibre() {
	env "$2" "$tmp/two/fibre" >"$tmp/log"
	ok "a fibre that moves between threads, $1: $(cat "$tmp/log")"
}

# All compiled as one, so that the calls may be inlined into the fibre's loop;
# GCC holds on to a thread's address if it makes no copies of functions.
fibres() {
	flags=-O3
	echo 'int main(void) { return 0; }' >"$tmp/two/main.c"
	for flag in -flto -fno-ipa-cp; do
		alone -Werror $flags $flag -o main main.c &&
			flags="$flags $flag"
	done
	alone $warnings $flags -I. -o fibre cpucycles.c \
		"$top_srcdir/tests/amalgamation/fibre.c" $libs
	fibre "counts of time" cpucyclesimplementation=default-monotonic
	fibre "no restartable sequences" GLIBC_TUNABLES=glibc.pthread.rseq=0
}

if ! grep -q '^#define HAVE_RSEQ 1' "$top_builddir/config.h"; then
	skip "no restartable sequences: a fibre stores nothing in a thread"
elif test "$CFLAGS" != "${CFLAGS#*-fsanitize}"; then
	skip "a sanitizer knows neither dlclose nor fibres"
else
	test ! -f "$shared" || unloaded
	fibres
fi
done_testing
