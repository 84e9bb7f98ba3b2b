#!/bin/sh
# SPDX-License-Identifier: 0BSD
# What the library exports and imports. And programs built with the original
# library run on this one, and the reverse: tests/dropin/standin.c stands in for
# the original.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

lib=$top_builddir/.libs/libcpucycles.so.1
archive=$top_builddir/.libs/libcpucycles.a
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
		grep -q '^cpucycles tracesetup 0 ' "$tmp/out"
}

if ! test -f "$lib"; then
	skip "no shared library was built"
elif have readelf; then
	# The end of a thread calls the library, whatever was unloaded.
	readelf -dW "$lib" | grep -q 'NODELETE'
	ok "the library is never unloaded"
	readelf --dyn-syms -W "$lib" | awk '$5 == "GLOBAL" && $7 != "UND" {
		print $8 }' | sort >"$tmp/exported"
	grep -oE '\bcpucycles[a-z_]*\)?\(' "$top_srcdir/include/cpucycles.h" |
		tr -d '()' | grep -vxF cpucycles_fence | sort -u |
		diff - "$tmp/exported" >"$tmp/log"
	ok "the symbols that the header declares are exported, and no more"
	# src/thread/guard.h says why.
	bytes=$(readelf -lW "$lib" | awk '$1 == "TLS" {print $6}')
	test "$((${bytes:-0}))" -le 160
	ok "at most 160 bytes are each thread's own: $((${bytes:-0}))"

	cp "$lib" "$tmp/ours"
	# shellcheck disable=SC2086 # several words
	quietly $CC $CFLAGS -I"$dropin" -fPIC -shared \
		-Wl,-soname,libcpucycles.so.1 "$dropin/standin.c" \
		-o "$tmp/standin/libcpucycles.so.1"
	ok "a library with the original's five symbols"
	for pair in standin-ours ours-standin; do
		built=${pair%-*} on=${pair#*-}
		library=$tmp/$built/libcpucycles.so.1
		program now "$built" "$library" -Wl,-z,now && runs_on now "$on"
		ok "built with $built: runs on $on"
		if ! program copy "$built" -fno-pie -no-pie "$library"; then
			skip "no position-dependent program can be built here"
			continue
		fi
		runs_on copy "$on" &&
			readelf -rW "$tmp/copy" | grep -q 'R_.*COPY.*cpucycles'
		ok "so does a program with a copy relocation"
	done
fi

# Without a shared library, each object of the archive has its own list. What is
# left out: arithmetic that the CPU lacks, thread-local storage, the stack's
# guard, position-independent code, the start and the end of a library.
case $(made host_os):$CFLAGS in
*-fsanitize* | *--coverage* | *-fprofile*) skip "the compiler adds calls" ;;
linux*)
	if test -f "$lib"; then
		$NM -D -u "$lib"
	else
		$NM -u "$archive" 2>/dev/null
	fi | awk 'NF == 2 {sub(/@.*/, "", $2); print $2}' | sort -u |
		grep -vxE 'cpucycles.*|cpuc_.*|_+tls_get_(addr|offset)' |
		grep -vxE '__stack_chk_.*|__aeabi_.*|__aarch64_(cas|ld|swp).*' |
		grep -vxE '__[a-z]+([sdt][if]){1,2}[234]?|__sync_.*_[1248]' |
		grep -vxE '_GLOBAL_OFFSET_TABLE_|[.]TOC[.]|_?_gp_disp|__gnu_.*' |
		grep -vxE '__x86[.].*|_(save|rest)[gf]pr_.*|[$][$].*|__riscv_.*' |
		grep -vxE '__(cxa_finalize|gmon_start__|getauxval)|_ITM_.*|_Unwind_.*' |
		sed 's/^__isoc23_//; s/^__\(.*\)_chk$/\1/; s/^__sigset/sigset/
			s/^__\(.*\)64$/\1/; s/64$//; s/_time$//' >"$tmp/used"
	sed '/^#/d' "$top_srcdir/tests/imports.txt" | tr -s ' ' '\n' >"$tmp/safe"
	grep -qx sigaction "$tmp/used" && ! grep -vxFf "$tmp/safe" "$tmp/used"
	ok "all that it calls is async-signal-safe, by tests/imports.txt"
	! grep -qx getenv "$tmp/used" ||
		! grep -q '^#define HAVE_SECURE_GETENV 1' "$top_builddir/config.h"
	ok "the environment is read by secure_getenv alone"
	;;
*) skip "tests/imports.txt is Linux's" ;;
esac

if test -f "$archive"; then
	$NM -g --defined-only "$archive" 2>/dev/null |
		awk 'NF == 3 {print $3}' >"$tmp/globals"
	grep -vE '^(cpucycles|cpuc_|__)' "$tmp/globals" >"$tmp/foreign"
	grep -qx cpucycles_version "$tmp/globals" && ! test -s "$tmp/foreign"
	ok "every global of the static library begins with cpuc_ or is public"
	case $CFLAGS in
	*-fsanitize*) skip "a sanitizer cannot be linked statically" ;;
	*)
		# shellcheck disable=SC2046 # several words
		program static standin -static "$archive" $(made LIBS) &&
			runs_on static ours
		ok "the original's header, linked statically with this library"
		;;
	esac
else
	skip "no static library was built"
fi

# cxx NAME.cc [ARGUMENT]...: standard input compiles, as C++.
cxx() {
	cat >"$tmp/$1"
	(
		cd "$tmp" || exit
		# shellcheck disable=SC2086 # several words
		quietly $CXX $CFLAGS -I"$top_srcdir/include" "$@"
	)
}

# C++20's modules take no function that each translation unit has for itself, and
# compilers before GCC 15 do not say so.
if test -n "$CXX"; then
	cxx one.cc -c <<-'C'
		#include <cpucycles.h>
		void (*one(void))(void) { return cpucycles_fence; }
	C
	cxx two.cc one.o -o two <<-'C' && "$tmp/two"
		#include <cpucycles.h>
		void (*one(void))(void);
		int main(void) { return one() != cpucycles_fence; }
	C
	ok "in C++, cpucycles_fence() is one function for all files"
	if cxx none.cc -std=c++20 -fmodules-ts -c <<-'C'; then
		export module none;
	C
		cxx module.cc -std=c++20 -fmodules-ts -c <<-'C'
			module;
			#include <cpucycles.h>
			export module fence;
			export inline void fence() { cpucycles_fence(); }
		C
		ok "a module can export a function that calls it"
	else
		skip "needs a compiler with modules, by -fmodules-ts"
	fi
else
	skip "no C++ compiler that links what $CC compiles"
fi

# The header's one function, as other compilers and CPUs see it.
cat >"$tmp/fence.c" <<'C'
#include <cpucycles.h>
extern int shared;
void changed(void);
void look(void);
void look(void)
{
	int before = shared;
	cpucycles_fence();
	if (shared != before)
		changed();
}
C
# FLAG...: the fence's assembly.
fence() {
	# shellcheck disable=SC2086 # several words
	$CC $CFLAGS -I"$top_srcdir/include" $without "$@" -E -P "$tmp/fence.c" |
		sed -n 's/.*__volatile__("\([^"]*\)".*/\1/p'
}
without=$(printf ' -U%s' __x86_64__ __i386__ __SSE2__ __aarch64__ __ARM_ARCH \
	__powerpc__ __riscv __loongarch__ __s390__ __sparc__ __arch64__ __alpha__)
while IFS='|' read -r assembly host more; do
	test "$(fence -D"$host" ${more:+-D"$more"})" = "$assembly"
	ok "cpucycles_fence is ${assembly:-empty} where $host is${more:+, and $more}"
done <<'TXT'
lfence|__x86_64__
lfence|__i386__|__SSE2__
lock; addl $0, (%%esp)|__i386__
isb|__aarch64__
isb|__ARM_ARCH=7
isync|__powerpc__
fence iorw, iorw|__riscv
ibar 0|__loongarch__
bcr 15, 0|__s390__
membar #Sync|__sparc__|__arch64__
mb|__alpha__
|__ARM_ARCH=6
TXT
test -z "$(fence -U__GNUC__ -D__x86_64__)"
ok "without GNU extensions it is empty"
# shellcheck disable=SC2086 # several words
quietly $CC $CFLAGS -I"$top_srcdir/include" -O2 -fno-lto -c -o "$tmp/fence.o" \
	"$tmp/fence.c" && $NM -u "$tmp/fence.o" | grep -q 'changed$'
ok "the compiler moves no memory access across it"
done_testing
