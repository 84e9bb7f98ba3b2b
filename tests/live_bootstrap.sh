#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The messages of ./bootstrap: its steps, where something is missing or fails, and
# the directory of the build. In a pretended checkout, with pretended programs,
# which install nothing.
# shellcheck disable=SC2016 # what programs do is not this shell's
. "${top_srcdir:?is set by make check}/tests/tap.sh"

bin=$tmp/bin
mkdir -p "$bin" "$tmp/a checkout/m4"
for program in cat chmod dirname find grep mkdir mktemp rm sed sh sleep sort tail \
	tr; do
	ln -s "$(command -v $program)" "$bin"
done
cp "$top_srcdir/bootstrap" "$tmp/a checkout"
: >"$tmp/a checkout/configure.ac"
echo 'echo 1.5' >"$tmp/a checkout/m4/version"

# program NAME COMMANDS: what it does when it is called.
program() {
	printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
	chmod +x "$bin/$1"
}

# bootstrap STATUS ARGUMENT...: what it says is in out.
bootstrap() {
	wanted=$1
	shift
	PATH=$bin /bin/sh "$tmp/a checkout/bootstrap" "$@" >"$tmp/out" 2>&1
	test $? -eq "$wanted"
}

says() {
	grep -qE -- "$1" "$tmp/out"
}

program uname 'echo Linux'
unset CC
bootstrap 1 && says ' autoconf .*gcc .*make ' && ! says ' git '
ok "without apt-get, it names what is missing"
for manager in dnf pacman apk zypper brew; do
	program $manager 'echo it runs >&2'
	bootstrap 1 && says "run this again, by: $manager .*autoconf-archive" &&
		! says 'it runs'
	ok "with $manager, it says how to install them, and installs nothing"
	rm "$bin/$manager"
done
program apt-get "echo apt-get \"\$@\" >>'$tmp/installed'"
program id 'echo 1000'
bootstrap 1 && says 'apt-get update && apt-get install .*gcc' &&
	test ! -e "$tmp/installed"
ok "an ordinary user without sudo is told what root does"
program id 'echo 0'
program env 'while [ "${1#*=}" != "$1" ]; do shift; done; "$@"'
bootstrap 1 && grep -q '^apt-get install .*gcc' "$tmp/installed" &&
	says 'installing with apt-get \(.* minutes\): .* gcc '
ok "root gets the packages, and is told which, and how long this takes"
program apt-get 'echo "no space left"; exit 100'
bootstrap 1 && says '^no space left$' && says 'printed is in .*/build/bootstrap.log' &&
	grep -q '^apt-get update failed' "$tmp/a checkout/build/bootstrap.log" &&
	! says 'making configure'
ok "a step that fails ends it, with what it printed, and where that is"
for name in autoconf automake libtoolize aclocal help2man gcc g++ pkg-config \
	readelf; do
	program $name :
done
program autoreconf '{
		printf "#!/bin/sh\nPACKAGE_VERSION='"'%s'"'\n" "$(sh m4/version)"
		echo "echo all: >Makefile"
	} >configure
	chmod +x configure
	echo "autoreconf: how it works"'
program make 'case $*:$SHOWN_DIR in
	*" check:"?*)
		printf "make %s, shown as %s\n" "$*" "$SHOWN_DIR"
		[ ! -f fails ] || {
			printf "%s\n" "FAIL: tests/a.sh" "FAIL: tests/a.sh 1 - b" \
				"ERROR: tests/b" "ERROR: tests/b - c" \
				>"$4/test-suite.log"
			exit 2
		} ;;
	*) echo "make $* is quiet" ;;
	esac'
touch -t 200001010000 "$tmp/a checkout/configure.ac"
bootstrap 0 check && ! says 'how it works|is quiet' && cat >"$tmp/log" <<'TXT' &&
making configure (half a minute)
configuring in PATH/build/ (half a minute)
building (a minute or less)
building the tests (a minute or two)
running the tests (two to five minutes)
TXT
	sed -n "s|$tmp/a checkout|PATH|; s/^bootstrap: //p" "$tmp/out" |
	diff "$tmp/log" - >"$tmp/err"
ok "a line for each step, and how long it takes; not what programs print"
says "^make -s -j[0-9]* -C build check, shown as $tmp/a checkout/build/\$"
ok "it builds in build/; tests know where that is from where the user stands"
bootstrap 0 check && ! says 'making configure' &&
	echo 'echo 1.6' >"$tmp/a checkout/m4/version" &&
	bootstrap 0 check && says 'making configure'
ok "it makes configure once, and again of another commit"
: >"$tmp/a checkout/fails"
bootstrap 1 check && [ "$(tail -n 1 "$tmp/out")" = \
	"bootstrap: failed: tests/a.sh tests/b" ]
ok "its last line names the tests that failed"
rm "$tmp/a checkout/fails"
printf '#!/bin/sh\necho tsc\n' >"$tmp/a checkout/build/cpucycles-info"
chmod +x "$tmp/a checkout/build/cpucycles-info"
(cd "$tmp/a checkout" && PATH=$bin /bin/sh ./bootstrap) >"$tmp/out" 2>"$tmp/err" &&
	[ "$(cat "$tmp/out")" = tsc ] &&
	grep -q 'the tools are in build/; as root, make -C build install' "$tmp/err"
ok "on standard output is what cpucycles-info prints, alone"
program make 'sleep 3'
if TERM=xterm script -eqc true /dev/null </dev/null >"$tmp/out" 2>&1; then
	script=$(command -v script)
	TERM=xterm PATH=$bin SHELL=/bin/sh "$script" -eqc \
		"sh '$tmp/a checkout/bootstrap'" /dev/null </dev/null >"$tmp/out" &&
		grep -q "$(printf '\r\033')\[K *1 s: " "$tmp/out" && says tsc
	ok "a terminal is told for how long a step has been working"
else
	skip "no program here pretends a terminal: install bsdutils"
fi
! grep -q "$(printf '\r')" "$tmp/err"
ok "a file is not"
: >"$tmp/a checkout/config.status"
: >"$tmp/a checkout/Makefile"
program make 'echo "make $*, shown as $SHOWN_DIR"'
bootstrap 0 check && says "^make .*-C \. check, shown as $tmp/a checkout/\$"
ok "it builds in the source directory if that is configured"
bootstrap 2 nonsense && says '^Usage: ./bootstrap'
ok "an unknown word is status 2, with the usage"
done_testing
