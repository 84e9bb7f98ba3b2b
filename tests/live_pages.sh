#!/bin/sh
# SPDX-License-Identifier: 0BSD
# Runs each command of the pages as printed, with an installed library. A list
# has the commands that are not run, with the reasons. Each snippet is pasted
# into an empty directory, built as its first line says, and must count its
# chain's cycles.
# shellcheck disable=SC2016 # what pages have between quotes is not the shell's
. "${top_srcdir:?is set by make check}/tests/tap.sh"

unset MAKEFLAGS MAKELEVEL MFLAGS LDFLAGS TESTS

# The commands that are not run, below the reasons.
sed '/^#/d' >"$tmp/not_run" <<'TXT'
# tested below, or by the snippets' test
-I\$P/include .*
\./a\.out \| sort .*
# a result, a graph, parameters of the kernel, only mentioned
[0-9.]* cycles \(calibrated\)
cpucycles [a-z]* .*
.* -> .*
isolcpus=2 .*
perf stat .*
pkg-config --static
# changes the machine
cpupower .*
echo .* >/sys/.*
cd /sys/.*
echo 1 >no_turbo
ldconfig
# needs an engine for containers
docker run .*
podman run .*
# installs packages; live_bootstrap.sh has a pretended machine
\./bootstrap.*
# builds all, as make distcheck does, or changes the source
\./configure.*
autoreconf -fi.*
# needs a tarball, or the packages of make deb; tests/packages has them
rpmbuild -ta
cd build/deb
sudo apt install .*
# needs what make check builds
SIM_SEEDS=32 .*
# runs every check, and so this one; takes minutes
.*\.ci/run
# makes a release
\$EDITOR .*
dch .*
git .*
TXT

# In the middle of a sentence, a command begins with one of these.
programs='cc|make|man|sudo|apt|ldconfig|pkg-config|rpmbuild|autoreconf|git|docker'
programs="$programs|podman|perf stat|taskset|cpupower|numactl|setarch|valgrind|echo|cd"
programs="$programs|cpucycles-(info|selftest|open|run)|\./.*|\.ci/run|tests/.* .*"

# Joins lines that end in a backslash or a bar with the next one.
join() {
	awk '/[\\|]$/ { line = line $0; sub(/\\$/, "", line); next }
		{ print line $0; line = "" }' | tr -s ' \t' ' '
}

# Selects the commands from the code in sentences.
commands() {
	grep -E "^(([A-Z_]+=[^\" ]* )?($programs)( |\$)|[A-Z_]+=[^\" ]* [a-z])"
}

markdown() {
	sed '/^```/,/^```$/d' "$1" >"$tmp/text"
	sed -n 's/^    //p' "$tmp/text" | sed 's/  *# .*//' | join
	grep -v '^    ' "$tmp/text" | tr -s '\n ' ' ' | tr '`' '\n' |
		sed -n 'n;p' | commands
}

mdoc() {
	sed -e 's/ [.,:;]*$//' -e 's/\\-/-/g' "$1" >"$tmp/text"
	sed -n 's/^\.Dl //p' "$tmp/text"
	sed -n 's/^\..*Li \([^ ]\)/\1/p' "$tmp/text" | commands
}

help2man() {
	sed -n '/^\.EX/,/^\.EE/p' "$1" | grep -v '^\.E' | join
}

# The commands in the opening comment of an example.
example() {
	sed -nE '1,12s/^.*[/*:?"] ((cc|rustc|python3) [^ ].*)/\1/p' "$1" |
		sed -e 's/"*$//' -e 's/ \*\/$//'
}

# stand_in NAME: a script in the place of a program that takes long, depends on
# the machine or would change it.
stand_in() {
	{
		echo '#!/bin/sh'
		cat
	} >"$tmp/bin/$1" && chmod +x "$tmp/bin/$1"
}

# The directory of the installed file of that name.
directory() {
	file=$(find "$tmp/root" -path "*/$1" ! -type d)
	test -n "$file" && dirname "$file"
}

mkdir "$tmp/bin" "$tmp/checkout" "$tmp/prefix" "$tmp/vendored" "$tmp/work"
ln -s "$top_builddir" "$tmp/checkout/build"
stand_in make <<TXT
PATH='$PATH' exec ${MAKE:-make} "\$@"
TXT
stand_in cc <<TXT
PATH='$PATH' exec $CC $CFLAGS \$SEARCH "\$@" -O0 -g0 $(made LIBS)
TXT
stand_in sudo <<'TXT'
test $# -gt 1 || set -- "$1" --apply
exec "$@"
TXT
stand_in cpucycles-open <<TXT
exec '$tmp/prefix/sbin/cpucycles-open' --root '$tmp/machine' "\$@"
TXT
# live_info.sh measures. Here the options are read.
stand_in cpucycles-info <<TXT
case "\$*" in *--noise*) set -- "\$@" --help ;; esac
exec '$tmp/prefix/bin/cpucycles-info' "\$@"
TXT
stand_in cpucycles-selftest <<TXT
exec '$tmp/prefix/bin/cpucycles-selftest' --quick "\$@" monotone
TXT
# It finds the page. Other checks look at how pages are set.
! man=$(command -v man) || stand_in man <<TXT
exec '$man' -w "\$@"
TXT
for name in numactl taskset watch; do
	stand_in $name <<-'TXT'
		while :; do
			case $1 in
			--*) shift ;;
			-?) shift 2 ;;
			*) exec "$@" ;;
			esac
		done
	TXT
done

# run COMMAND DIRECTORY
run() {
	(
		cd "$2" && PATH=$tmp/bin:$tmp/prefix/bin:$PATH sh -ec "$1"
	) >"$tmp/log" 2>&1 </dev/null
}

# Prints why this machine cannot run a command that has failed, if it cannot.
cannot() {
	echo "$1" | tr ' ' '\n' |
		grep -xE 'gnuplot|jq|man|pkg-config|python3|rustc|setarch|valgrind' |
		while read -r name; do
			run "command -v $name" . || echo "there is no $name"
		done
	case $1 in
	*' -shared '*) test -f "$top_builddir/.libs/libcpucycles.so" ||
		echo "no shared library was built" ;;
	rustc* | python3*)
		loads || echo "$why"
		run "${1%% *} --version" . || cat "$tmp/log"
		;;
	setarch*) run 'setarch -R true' . || cat "$tmp/log" ;;
	valgrind*) run 'valgrind --tool=none ./program' "$tmp/work" ||
		echo "valgrind does not run this program" ;;
	'man 1'*) test -d "$tmp/prefix/share/man/man1" ||
		echo "the tools' pages were not made" ;;
	esac
}

# check PAGE COMMAND: in the directory where the page has its reader.
check() {
	where=$tmp/work SEARCH="-I$include -L$lib" command=$2
	case $2 in
	'make -C '*) where=$tmp/checkout ;;
	'man -l '*) where=$top_srcdir ;;
	*cpucycles.[co]) where=$tmp/vendored SEARCH= ;;
	tests/*)
		where=$top_builddir
		test -f "$where/${2%% *}" || where=$top_srcdir
		;;
	# These take long. .ci/run calls most of them.
	'make '*)
		target=$(echo "$2" | cut -d ' ' -f 2)
		grep -qE "^([^:=]* )?$target( [^:=]*)?:" \
			"$top_builddir/Makefile"
		ok "$1: $2: there is such a target"
		return
		;;
	esac
	case $2 in
	cc*) command="$2 && if test -f a.out; then ./a.out; fi" ;;
	valgrind*) command="$2 2>&1 | grep 'Collected : [1-9]'" ;;
	rustc*)
		command="rustc -D warnings ${2#rustc} | grep -E '$timed'"
		command="$command && rustc --edition $edition ${2#rustc}"
		;;
	python3*) command="$2 | grep -E '$timed'" ;;
	esac
	# The command of README.md, which is the first, makes the same object.
	test ! -f "$tmp/vendored/cpucycles.o" || command=$(echo "$command" |
		sed 's/\(prog\.c cpucycles\)\.c/\1.o/')
	command=$(echo "$command" | sed -e 's/ NAME/ default-monotonic/' \
		-e 's,^\./cpu,cpu,' -e 's,/usr/sbin/,,g')
	rm -f "$where/a.out"
	run "$command" "$where"
	# From these tools, status 1 is a finding about the machine; xargs makes
	# 123 of it.
	case $?-$2 in
	0-* | 1-*--cpus* | 1-*--status | 1-*--dry-run | 1-*cpucycles-selftest* | \
		123-*xargs*)
		ok "$1: $2"
		return
		;;
	esac
	mv "$tmp/log" "$tmp/out"
	why=$(cannot "$2" | head -n 1)
	if test -n "$why"; then
		skip "$1: $2: $why"
	else
		false
		ok "$1: $2"
	fi
}

# The last line that the examples in Python and Rust print.
timed="^-?[0-9.]+ cycles \\([a-z0-9-]+, [a-z]+\\), [0-9]+ of 2002 dropped\$"
cd "$top_srcdir" || exit 99
DESTDIR=$tmp/root
export DESTDIR SEARCH
installs='make -C build install'
run "$installs" "$tmp/checkout"
ok "README.md: $installs"
DESTDIR=$tmp/unused
include=$(directory cpucycles.h) lib=$(directory libcpucycles.la)
P=$tmp/prefix
ln -s "$include" "$P/include"
ln -s "$lib" "$P/lib"
ln -s "$(directory bin/cpucycles-info)" "$P/bin"
ln -s "$(directory sbin/cpucycles-open)" "$P/sbin"
ln -s "$(directory cpucycles.3)/../.." "$P/share"
LD_LIBRARY_PATH=$lib MANPATH=$P/share/man
PKG_CONFIG_SYSROOT_DIR=$tmp/root
export P LD_LIBRARY_PATH MANPATH PKG_CONFIG_SYSROOT_DIR
eval "export $(assignment pkg-config)"
mkdir -p "$tmp/machine/run" "$tmp/machine/proc/sys/kernel" \
	"$tmp/machine/etc/sysctl.d"
echo 4 >"$tmp/machine/proc/sys/kernel/perf_event_paranoid"
cp "$top_builddir"/amalgamation/cpucycles.[ch] "$tmp/vendored"
cp "$top_srcdir"/examples/*.* "$tmp/work"
# As the example says.
edition=2024 older=
echo 'unsafe extern "C" {}' >"$tmp/words.rs"
run "rustc --edition $edition --crate-type lib words.rs" "$tmp" ||
	edition=2021 older='s/^unsafe extern/extern/'
sed "$older" examples/time-a-function.rs >"$tmp/work/time-a-function.rs"
for name in work/program.c work/prog.c vendored/program.c vendored/prog.c; do
	sed -n '/^```c$/,/^```$/{/^```/!p;}' README.md >"$tmp/$name"
done
SEARCH="-I$include -L$lib" run 'cc -O2 -o program program.c -lcpucycles &&
	cp program benchmark' "$tmp/work"
ok "README.md: its program is compiled"

for page in README.md HACKING.md doc/building.md man/*.[37] man/*.h2m examples/*.*; do
	case $page in
	*.md) markdown "$page" ;;
	*.h2m) help2man "$page" ;;
	man/*) mdoc "$page" ;;
	*) example "$page" ;;
	esac | sed "s,^,$page|,"
done | awk -v "before=$installs" 'BEGIN { seen[before] = 1 }
	{ command = $0; sub(/[^|]*[|]/, "", command) }
	!seen[command]++' >"$tmp/commands"
while IFS='|' read -r page command; do
	echo "$command" | grep -qxEf "$tmp/not_run" || check "$page" "$command"
done <"$tmp/commands"
cut -d '|' -f 2- "$tmp/commands" >"$tmp/out"
while read -r pattern; do
	grep -qxE -e "$pattern" "$tmp/out" || echo "# $pattern"
done <"$tmp/not_run" | grep .
test $? -eq 1
ok "each entry of the list is a command of some page"

flags=$(sed -n 's/^| the compiler .*`\(-I.*\)` |$/\1/p' README.md)
(
	unset LD_LIBRARY_PATH SEARCH
	run "cc -O2 program.c $flags && ./a.out" "$tmp/work"
)
ok "README.md: the compiler, with a prefix"

# snippet PAGE: the file $tmp/block, whose first line is a comment "NAME: COMMAND",
# is pasted and built.
snippet() {
	name=$(sed -n '1s/^[^A-Za-z]*\([^ :]*\): .*/\1/p' "$tmp/block")
	command=$(sed -n '1s/^[^:]*: //; 1s, \*/$,,; 1p' "$tmp/block")
	for tool in ${command%% *} $(echo "$command" | grep -ow ninja); do
		pasted "$tool --version || $tool version" "$tmp" || {
			skip "$1: $name: there is no $tool"
			return
		}
	done
	here=$tmp/snippets/$((snippets += 1))
	mkdir -p "$here/src"
	cp "$tmp/work/program.c" "$here"
	! grep -q 'cpucycles\.c' "$tmp/block" ||
		cp "$tmp/vendored"/cpucycles.[ch] "$here"
	case $name in
	# It calls a chain. Calls from Python take thousands of cycles, as the
	# page says, so an empty function's are subtracted.
	*.py)
		echo 'void nothing(void) {}' >"$here/nothing.c"
		pasted 'cc -O2 -fPIC -shared -o chain.so *.c -lcpucycles' "$here"
		for function in nothing function; do
			sed -e 's,^lib = .*,&; chain = ctypes.CDLL("./chain.so"),' -e \
				"s/^    sum.*/    chain.$function()/" "$tmp/block" \
				>"$here/$function.py"
		done
		mv "$here/function.py" "$here/$name"
		;;
	*.rs) sed "$older" "$tmp/block" >"$here/$name" ;; # as the page says
	*) cp "$tmp/block" "$here/$name" ;;
	esac
	# Once more, it is only run.
	pasted "{ $command; } >first" "$here" &&
		tries 30 counts "${command##*&& }"
	ok "$1: $name: $command: $median for $cycles cycles"
}

# median COMMAND: of the 1001 counts that it prints.
median() {
	pasted "$1" "$here"
	grep -x '[0-9][0-9]*' "$tmp/log" | sort -n |
		awk 'NR == 501 { median = $1 } END { if (NR == 1001) print median
			else exit 1 }'
}

# counts COMMAND: it does, and their median is right, if x86 multiplies in 3
# cycles here, and cycles of the core are counted.
counts() {
	empty=0
	test ! -f "$here/nothing.py" || empty=$(median 'python3 nothing.py')
	median=$(median "$1") && median=$((median - empty)) &&
		{ test -z "$exact" || awk "BEGIN { q = $median / $cycles
			exit !(q > 0.99 && q < 1.01) }"; }
}

# pasted COMMAND DIRECTORY: as with a library in the system's directories.
pasted() (
	unset CFLAGS CXXFLAGS CPPFLAGS SEARCH DESTDIR
	eval "export $(assignment CMake)"
	cd "$2" && env CC=cc CPATH="$include" LIBRARY_PATH="$lib" \
		RUSTFLAGS="-L$lib" GOCACHE="$tmp/go" GOPATH="$tmp/gopath" \
		GOPROXY=off GOFLAGS= PATH="$tmp/plain:$PATH" sh -ec "$1" \
		>"$tmp/log" 2>&1 </dev/null
)

mkdir "$tmp/plain"
cp "$tmp/bin/make" "$tmp/plain"
stand_in ../plain/cc <<TXT
exec $CC "\$@"
TXT
cycles=$(($(sed -n 's/.* i < \([0-9]*0\); .*/\1/p' README.md) * 6))
snippets=0 exact='' median=''
"$tmp/prefix/bin/cpucycles-info" >"$tmp/info"
! uname -m | grep -qxE 'x86_64|i[3-6]86' ||
	! grep -qE '^cpucycles kind (core|calibrated)$' "$tmp/info" || exact=yes
if loads; then
	for page in README.md doc/building.md; do
		for n in 1 2 3 4 5 6 7; do
			awk -v n=$n '/^```/ { count += inside = !inside; next }
				inside && count == n' "$page" >"$tmp/block"
			test ! -s "$tmp/block" || snippet "$page"
		done
	done
	test $snippets -ge 3
	ok "the pages have snippets: $snippets"
else
	skip "the snippets: $why"
fi
grep -q "^$cycles cycles" README.md
ok "README.md says how long its chain is"
done_testing
