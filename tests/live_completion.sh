#!/bin/sh
# SPDX-License-Identifier: 0BSD
# Completion offers what --help says, for each tool that was built and for a
# pretended one that has options of every form.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

files=$top_srcdir/completions
mkdir -p "$tmp/bin/directory"
: >"$tmp/bin/direct file"
cat >"$tmp/bin/cpucycles-selftest" <<'SH'
#!/bin/sh
test "$1" = --list && echo 'direct     a check
long-term  another' && exit
echo 'Usage: cpucycles-selftest [OPTION] [CHECK]... --not-this
  -c, --counter NAME  like --that
      --file=FILE     a file
      --dir DIR       a directory
      --number N      a number
  -h, --help          print this'
SH
cat >"$tmp/bin/cpucycles-info" <<'SH'
#!/bin/sh
echo 'cpucycles version 1
cpucycles tracesetup 0 default-one precision 0 scaling 0.000000 only32 0
cpucycles tracesetup 1 default-two precision 0 scaling 0.000000 only32 0
cpucycles tracesetup 2 other precision 0 scaling 0.000000 only32 0'
SH
chmod +x "$tmp"/bin/cpucycles-*

# The options of a tool, in its own words; one a line.
options() {
	"$1" --help | grep -oE '^ +(-[a-zA-Z], )?--[a-z-]+' |
		sed 's/.*--/--/' | sort
}

# in_bash WORD...: the completions of the last word.
in_bash() {
	cat >"$tmp/complete" <<'BASH'
source "$1/cpucycles.bash" || exit 1
shift
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
compopt() { :; }
rule=$(complete -p "${1##*/}") || exit 1
[[ $rule == *"-F _cpucycles "* ]] || exit 1
_cpucycles "$1" "${!#}" "${COMP_WORDS[COMP_CWORD - 1]}"
printf '%s\n' "${COMPREPLY[@]}"
BASH
	(cd "$tmp/bin" && bash "$tmp/complete" "$files" "$@" 2>&1) | sort
}

# shellcheck disable=SC2317 # offers calls it
in_fish() {
	(cd "$tmp/bin" && HOME=$tmp PATH=$tmp/bin:$PATH fish --no-config -c \
		"source '$files/cpucycles.fish'; complete -C \"\$argv\"" "$@" \
		2>&1) | cut -f 1 | sort
}

# offers WORD... -- IN_SHELL TYPED...: for what is typed these words, and no
# others.
offers() {
	wanted=
	until test "$1" = --; do
		wanted="$wanted$1 "
		shift
	done
	shift
	offered=$("$@" | grep . | tr '\n' ' ')
	test "$offered" = "$wanted" || ! echo "# offered: $offered"
	ok "$* -> $wanted"
}

if command -v bash >/dev/null; then
	for tool in "$top_builddir"/cpucycles-*; do
		name=${tool##*/}
		options "$tool" >"$tmp/options"
		in_bash "$tool" -- >"$tmp/out"
		grep -q -- '^--help$' "$tmp/out" &&
			cmp -s "$tmp/options" "$tmp/out"
		ok "bash, $name: all options"
	done
	tool=./cpucycles-selftest
	offers --counter --dir --file --help --number -- in_bash $tool --
	offers --help -- in_bash $tool --h
	offers direct -- in_bash $tool --help dir
	offers default-one default-two other -- in_bash $tool --counter ''
	offers default-one default-two other -- in_bash $tool --counter =
	offers default-one default-two -- in_bash $tool --counter = def
	offers direct file directory -- in_bash $tool --file = dir
	offers directory -- in_bash $tool --dir dir
	offers -- in_bash $tool --number ''
	PATH=$tmp/bin:$PATH
	offers other -- in_bash cpucycles-selftest --counter oth
else
	skip "there is no bash"
fi

if command -v fish >/dev/null; then
	tool=cpucycles-selftest
	offers --counter --dir --file --help --number -- in_fish "$tool --"
	offers direct -- in_fish "$tool --help dir"
	offers default-one default-two -- in_fish "$tool --counter def"
	offers directory/ -- in_fish "$tool --dir dir"
	offers -- in_fish "$tool --number "
else
	skip "there is no fish"
fi

if command -v zsh >/dev/null; then
	zsh -n "$files/_cpucycles"
	ok "zsh: the file is well-formed"
else
	skip "there is no zsh"
fi

# Each tool is named where the shells look.
for tool in "$top_builddir"/cpucycles-*; do
	name=${tool##*/}
	test -f "$top_builddir/completions/$name" &&
		test -f "$top_builddir/completions/$name.fish" &&
		grep -q "^#compdef.* $name" "$files/_cpucycles"
	ok "$name has completion for each shell"
done
done_testing
