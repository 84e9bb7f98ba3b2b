#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The messages of ./bootstrap where something is missing, and the directory of
# the build: in a pretended checkout, with pretended programs, which install
# nothing.
# shellcheck disable=SC2016 # what programs do is not this shell's
. "${top_srcdir:?is set by make check}/tests/tap.sh"

bin=$tmp/bin
mkdir -p "$bin" "$tmp/a checkout/m4"
for program in cat chmod dirname find grep mkdir mktemp rm sed sh sort tr; do
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
bootstrap 1
grep -q '^apt-get install .*gcc' "$tmp/installed"
ok "root gets the packages"
for name in autoconf automake libtoolize aclocal help2man gcc g++ pkg-config \
	readelf; do
	program $name :
done
program autoreconf '{
		printf "#!/bin/sh\nPACKAGE_VERSION='"'%s'"'\n" "$(sh m4/version)"
		echo "echo all: >Makefile"
	} >configure
	chmod +x configure'
program make 'echo "make $* in ${PWD##*/}"'
touch -t 200001010000 "$tmp/a checkout/configure.ac"
bootstrap 0 check && says '^make .*check in build$'
ok "it builds in build/"
bootstrap 0 check && ! says 'making configure' &&
	echo 'echo 1.6' >"$tmp/a checkout/m4/version" &&
	bootstrap 0 check && says 'making configure'
ok "it makes configure once, and again of another commit"
: >"$tmp/a checkout/config.status"
: >"$tmp/a checkout/Makefile"
bootstrap 0 check && says '^make .*check in a checkout$'
ok "it builds in the source directory if that is configured"
bootstrap 2 nonsense && says '^Usage: ./bootstrap'
ok "an unknown word is status 2, with the usage"
done_testing
