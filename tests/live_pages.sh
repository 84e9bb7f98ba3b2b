#!/bin/sh
# SPDX-License-Identifier: 0BSD
# Runs the commands that the pages for users print, with an installed library. Each
# snippet of README.md and doc/building.md is pasted into an empty directory, built
# as its first line says, and must count its chain's cycles.
# shellcheck disable=SC2016 # what pages have between quotes is not the shell's
. "${top_srcdir:?is set by make check}/tests/tap.sh"

unset MAKEFLAGS MAKELEVEL MFLAGS LDFLAGS TESTS

# A command is run if it begins with one of these. Others change the machine, need
# a network or what make check builds, or are not there to be typed.
programs='cc|man|python3|rustc|cpucycles-(info|selftest|open|run)|make -C build'
programs="$programs|sudo cpucycles-open|/usr/sbin/cpucycles-open|valgrind|gnuplot"
programs="$programs|mkdir -p copy/run|echo 4"

# Joins lines that end in a backslash or a bar with the next one.
join() {
	awk '/[\\|]$/ { line = line $0; sub(/\\$/, "", line); next }
		{ print line $0; line = "" }' | tr -s ' \t' ' '
}

# The code in the sentences of README.md.
markdown() {
	sed '/^```/,/^```$/d; /^    /d' "$1" | tr -s '\n ' ' ' | tr '`' '\n' |
		sed -n 'n;p'
	sed '/^```/,/^```$/d' "$1" | sed -n 's/^    //p' | join
}

mdoc() {
	sed -e 's/ [.,:;]*$//' -e 's/\\-/-/g' "$1" |
		sed -n 's/^\.Dl //p; s/^\..*Li \([^ ]\)/\1/p'
}

help2man() {
	sed -n '/^\.EX/,/^\.EE/p' "$1" | grep -v '^\.E' | join
}

# The commands in the opening comment of an example.
example() {
	sed -nE '1,12s/^.*[/*:?"] ((cc|rustc|python3) [^ ].*)/\1/p' "$1" |
		sed -e 's/"*$//' -e 's/ \*\/$//'
}

# run COMMAND DIRECTORY: with what is installed, and a compiler that finds it.
run() {
	(
		cd "$2" && PATH=$tmp/bin:$P/bin:$P/sbin:$PATH sh -ec "$1"
	) >"$tmp/log" 2>&1 </dev/null
}

# A program of the command that does not work here, if there is one.
missing() {
	for name in gnuplot jq man pkg-config python3 rustc valgrind; do
		probe="$name --version"
		[ $name != valgrind ] || probe='valgrind --tool=none ./program'
		! echo "$1" | grep -qw -e "$name" || run "$probe" "$tmp/work" ||
			echo "$name"
	done
}

# As typed, but for what asks for root or takes long.
command_of() {
	echo "$1" | sed -E -e 's,^sudo |/usr/sbin/,,' \
		-e "s,cpucycles-open,& --root '$tmp/machine'," \
		-e 's,cpucycles-selftest,& --quick monotone,' \
		-e 's,--noise,& --help,' -e 's,^man ,man -w ,' \
		-e '/^cc/s/$/ \&\& if test -f a.out; then .\/a.out; fi/' \
		-e "/^valgrind/s/\$/ 2>\&1 | grep 'Collected : [1-9]'/" \
		-e "/^(python3|rustc)/s,\$, | grep -Exf '$tmp/timed',"
}

# check PAGE COMMAND: in the directory where the page has its reader.
check() {
	where=$tmp/work SEARCH="-I$P/include -L$P/lib"
	case $2 in
	'make -C '*) where=$tmp/checkout ;;
	'man -l '*) where=$top_srcdir ;;
	*cpucycles.[co]) where=$tmp/vendored SEARCH= ;;
	esac
	left_out=$(missing "$2" | head -n 1)
	test -z "$left_out" || {
		skip "$1: $2: $(needs "$left_out")"
		return
	}
	rm -f "$where/a.out"
	run "$(command_of "$2")" "$where"
	# From these tools, status 1 is a finding about the machine; xargs makes
	# 123 of it.
	case $?-$2 in
	0-* | 1-*--cpus* | 1-*--status | 1-*--dry-run | 1-*cpucycles-selftest* | \
		123-*xargs*) true ;;
	*) false ;;
	esac
	ok "$1: $2"
}

loads || {
	skip "$why"
	done_testing
}
P=$tmp/prefix
mkdir -p "$tmp/bin" "$tmp/checkout" "$tmp/vendored" "$tmp/work" "$P" \
	"$tmp/machine/run" "$tmp/machine/proc/sys/kernel" \
	"$tmp/machine/etc/sysctl.d"
# The last line that the examples in Python and Rust print.
echo '-?[0-9.]+ cycles \([a-z0-9-]+, [a-z]+\), [0-9]+ of 2002 dropped' >"$tmp/timed"
echo 4 >"$tmp/machine/proc/sys/kernel/perf_event_paranoid"
ln -s "$top_builddir" "$tmp/checkout/build"
cat >"$tmp/bin/cc" <<TXT
#!/bin/sh
exec $CC $CFLAGS \$SEARCH "\$@" -O0 -g0 $(made LIBS)
TXT
chmod +x "$tmp/bin/cc"
cd "$top_srcdir" || exit 99
export DESTDIR="$tmp/root"
run 'make -C build install' "$tmp/checkout"
ok "README.md: make -C build install"
ln -s "$tmp/root$(made prefix)"/[!l]* "$P"
lib=$(find "$tmp/root" -name libcpucycles.la) lib=${lib%/*}
ln -s "$lib" "$P/lib"
export P SEARCH DESTDIR="$tmp/unused" LD_LIBRARY_PATH="$lib" \
	MANPATH="$P/share/man" PKG_CONFIG_SYSROOT_DIR="$tmp/root"
eval "export $(assignment pkg-config)"
cp "$top_builddir"/amalgamation/cpucycles.[ch] "$tmp/vendored"
cp examples/*.* "$tmp/work"
sed -n '/^```c$/,/^```$/{/^```/!p;}' README.md >"$tmp/work/program.c"
cp "$tmp/work/program.c" "$tmp/vendored"
SEARCH="-I$P/include -L$P/lib" run 'cc -O2 -o program program.c -lcpucycles' "$tmp/work"
ok "README.md: its program is compiled"
flags=$(sed -n 's/^| the compiler .*`\(-I.*\)` |$/\1/p' README.md)
(
	unset LD_LIBRARY_PATH SEARCH
	run "cc -O2 program.c $flags && ./a.out" "$tmp/work"
)
ok "README.md: the compiler, with a prefix"
mkdir "$tmp/made"
cp "$tmp/work/program.c" "$tmp/made"
sed -n '/^```make$/,/^```$/{/^```/!p;}' README.md >"$tmp/made/Makefile"
(
	eval "export $(assignment make)"
	unset LD_LIBRARY_PATH SEARCH
	run 'make && ./program' "$tmp/made"
)
ok "README.md: make, with a prefix"
grep -qxF ".Dl ${flags% -lcpucycles}" man/cpucycles.3
ok "man/cpucycles.3: the same flags"

for page in README.md man/*.[37] man/*.h2m examples/*.*; do
	case $page in
	*.md) markdown "$page" ;;
	*.h2m) help2man "$page" ;;
	man/*) mdoc "$page" ;;
	*) example "$page" ;;
	esac | grep -E "^($programs)( |\$)" | sed "s,^,$page|,"
done | awk '{ command = $0; sub(/[^|]*[|]/, "", command) }
	!seen[command]++' >"$tmp/commands"
while IFS='|' read -r page command; do
	check "$page" "$command"
done <"$tmp/commands"

# snippet PAGE: the file $tmp/block, whose first line is a comment "NAME: COMMAND",
# is pasted and built.
snippet() {
	name=$(sed -n '1s/^[^A-Za-z]*\([^ :]*\): .*/\1/p' "$tmp/block")
	command=$(sed -n '1s/^[^:]*: //; 1s, \*/$,,; 1p' "$tmp/block")
	snippets="$snippets$name "
	for tool in ${command%% *} $(echo "$command" | grep -ow ninja); do
		pasted "$tool --version || $tool version" "$tmp" || {
			skip "$1: $name: $(needs "$tool")"
			return
		}
	done
	here=$(mktemp -d "$tmp/snippet.XXXXXX")
	mkdir "$here/src"
	cp "$tmp/work/program.c" "$here"
	! grep -q 'cpucycles\.c' "$tmp/block" ||
		cp "$tmp/vendored"/cpucycles.[ch] "$here"
	cp "$tmp/block" "$here/$name"
	# Once more, it is only run.
	pasted "{ $command; } >first" "$here" &&
		tries 30 counts "${command##*&& }"
	ok "$1: $name: $command: $median for $cycles cycles"
}

# edition_2024 PAGE FILE: it compiles as the pages say for that edition.
edition_2024() {
	if ! pasted 'echo "unsafe extern {}" >new.rs &&
		rustc --crate-type lib --edition 2024 new.rs' "$tmp"; then
		skip "$1: needs Rust 1.85"
		return
	fi
	sed 's/^extern/unsafe &/' "$2" >"$tmp/new.rs"
	pasted 'rustc -D warnings --edition 2024 new.rs' "$tmp"
	ok "$1: compiles in the edition of 2024"
}

# The page's commands, which build all for it.
another_cpu() (
	unset CC CXX CFLAGS CXXFLAGS CPPFLAGS NM SEARCH DESTDIR CONFIG_SITE \
		LD_LIBRARY_PATH PKG_CONFIG_SYSROOT_DIR PKG_CONFIG_PATH
	sed -n '/^## For another CPU/,$s/^    //p' doc/building.md |
		sed "s,^\.\./,'$top_srcdir'/,; s,~/,'$tmp/work'/," >"$tmp/cross"
	mkdir "$tmp/other"
	cd "$tmp/other" && P=$tmp/arm64 quietly sh -ec "$(cat "$tmp/cross")" &&
		test "$(grep -cx '[0-9][0-9]*' "$tmp/log")" -eq 1001
)

# counts COMMAND: the median of the 1001 counts that it prints is right, if x86
# multiplies in 3 cycles here, and cycles of the core are counted: but for what calls
# cost and for what overtakes them without a fence, and nothing like a nominal rate
# or a build without optimization. Python's is of something else, as its page says.
counts() {
	pasted "$1" "$here" || return
	median=$(grep -x '[0-9][0-9]*' "$tmp/log" | sort -n |
		awk 'NR == 501 { median = $1 } END { if (NR == 1001) print median }')
	case $1 in
	python3*) test -n "$median" ;;
	*) test -n "$median" && { test -z "$exact" ||
		awk "BEGIN { q = $median / $cycles; exit !(q > 0.98 && q < 1.03) }"; } ;;
	esac
}

# pasted COMMAND DIRECTORY: as with a library in the system's directories.
pasted() (
	unset CFLAGS CXXFLAGS CPPFLAGS SEARCH DESTDIR
	eval "export $(assignment CMake)"
	cd "$2" && env CPATH="$P/include" LIBRARY_PATH="$lib" \
		RUSTFLAGS="-L$lib" GOCACHE="$tmp/go" GOPATH="$tmp/gopath" \
		GOPROXY=off GOFLAGS= sh -ec "$1" >"$tmp/log" 2>&1 </dev/null
)

cycles=$(($(sed -n 's/.* i < \([0-9]*0\); .*/\1/p' README.md) * 6))
snippets='' exact='' median=''
"$P/bin/cpucycles-info" >"$tmp/info"
! uname -m | grep -qxE 'x86_64|i[3-6]86' ||
	! grep -qE '^cpucycles kind (core|calibrated)$' "$tmp/info" || exact=yes
for page in README.md doc/building.md; do
	for n in 1 2 3 4 5 6 7; do
		awk -v n=$n '/^```/ { count += inside = !inside; next }
			inside && count == n' "$page" >"$tmp/block"
		test ! -s "$tmp/block" || snippet "$page"
		! grep -q '^// src/main.rs' "$tmp/block" ||
			edition_2024 "$page" "$tmp/block"
	done
done
if test -n "${LIVE_LONG-}" && have aarch64-linux-gnu-gcc &&
	have qemu-aarch64; then
	another_cpu
	ok "doc/building.md: for another CPU"
fi
edition_2024 time-a-function.rs examples/time-a-function.rs
# Whether or not their tools are here.
test "$snippets" = "program.c Makefile CMakeLists.txt meson.build src/main.rs \
main.go CMakeLists.txt meson.build program.py "
ok "the pages have a snippet for each tool: $snippets"
done_testing
