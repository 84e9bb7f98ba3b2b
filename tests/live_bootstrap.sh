#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The messages of ./bootstrap where something is missing, and the directory of
# the build: in a pretended checkout, with pretended programs, which install
# nothing. And that of configure.
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
bootstrap 1 deb && says ' autoconf .*git .*make .*xz-utils'
ok "for packages, more is"
for manager in dnf pacman apk zypper brew; do
	program $manager 'echo it runs >&2'
	bootstrap 1 && says "run this again, by: $manager .*autoconf-archive" &&
		! says 'it runs'
	ok "with $manager, it says how to install them, and installs nothing"
	rm "$bin/$manager"
done
bootstrap 0 --help && says '^  apk add .* linux-headers'
ok "--help says it for all systems"
program apt-get "echo apt-get \"\$@\" >>'$tmp/installed'"
program id 'echo 1000'
bootstrap 1 && says 'apt-get update && apt-get install .*gcc'
ok "an ordinary user without sudo is told what root does"
CC="nonesuch -O2" bootstrap 1 && says 'CC=nonesuch -O2: nonesuch: not found$'
ok "a compiler that is missing is named"
test ! -e "$tmp/installed"
ok "so far, nothing was installed"

program id 'echo 0'
program env 'while [ "${1#*=}" != "$1" ]; do shift; done; "$@"'
bootstrap 1
grep -q '^apt-get install .*gcc' "$tmp/installed"
ok "root gets the packages"
for name in autoconf automake libtoolize aclocal help2man gcc g++ pkg-config \
	readelf; do
	program $name :
done
# As of a linker that replaces its output.
program gcc 'while [ "$1" != -o ]; do shift; done
	[ "$2" != /dev/null ] || exit 1
	rm "$2" && cat >"$2" && echo "$2" >>"${0%/*}/../compiled"'
program autoreconf '{
		printf "#!/bin/sh\nPACKAGE_VERSION='"'%s'"'\n" "$(sh m4/version)"
		echo "echo all: >Makefile"
	} >configure
	chmod +x configure'
program make 'echo "make $* in ${PWD##*/}"'
touch -t 200001010000 "$tmp/a checkout/configure.ac"
bootstrap 0 check && says '^make .*check in build$'
ok "it builds in build/"
test -s "$tmp/compiled" && ! xargs ls -d <"$tmp/compiled" 2>/dev/null
ok "no program that it compiles replaces /dev/null, or stays behind"
bootstrap 0 check && ! says 'making configure'
ok "the second time, configure is there"
echo 'echo 1.6' >"$tmp/a checkout/m4/version"
bootstrap 0 check && says 'making configure'
ok "of another commit, it makes configure again"
bootstrap 0 deb && says '^make .*deb in build$' && says 'two minutes'
ok "packages too, and it says how long that takes"
echo 'echo counts' >"$tmp/a checkout/build/cpucycles-info"
chmod +x "$tmp/a checkout/build/cpucycles-info"
bootstrap 0 info && says '^counts$' && says 'tools are in build/'
ok "after info, it says where the tools are"
: >"$tmp/a checkout/config.status"
: >"$tmp/a checkout/Makefile"
bootstrap 0 check && says '^make .*check in a checkout$'
ok "it builds in the source directory if that is configured"
bootstrap 2 nonsense && says '^Usage: ./bootstrap'
ok "an unknown word is status 2, with the usage"

# In the PATH from above, which has no Python.
make=$(command -v "${MAKE:-make}")
(cd "$top_builddir" && MAKEFLAGS='' PATH=$bin "$make" have-python) >"$tmp/out" 2>&1
test $? -ne 0 && says 'python3 is missing: install '
ok "make bench says what to install where there is no Python"

# With all that configure has found before, but for the header of perf events.
sed -n '/^## Cache variables/,/^## Output/p' "$top_builddir/config.log" |
	grep -E '^[a-zA-Z0-9_]+=' | grep -vE '^ac_cv_env_|_default_perfevent' >"$tmp/cache"
echo cpuc_cv_counter_default_perfevent=no >>"$tmp/cache"
if test "$(uname -s)" = Linux && mkdir "$tmp/build" && (
	cd "$tmp/build" && "$top_srcdir/configure" --no-create -q \
		--cache-file="$tmp/cache" >"$tmp/out" 2>&1
); then
	says 'WARNING: no usable <linux/perf_event.h>' &&
		says 'linux-headers \(Alpine\)'
	ok "configure warns where the header of perf events is missing"
else
	skip "configure does not run here, or this is not Linux"
fi
done_testing
