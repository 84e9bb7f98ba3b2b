#!/bin/sh
# SPDX-License-Identifier: 0BSD
# Each tool has completion, which offers the options of its --help.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

loader=/usr/share/bash-completion/bash_completion

# By a path without spaces, which _longopt does not quote.
files=$(cd "$top_srcdir/completions" && pwd) && cd "$top_builddir" || exit 1

# TOOL: what bash offers after TOOL --
in_bash() {
	bash -s "$loader" "$files/cpucycles.bash" "$1" <<'BASH' | sort -u
source "$1" && source "$2" || exit 1
COMP_WORDS=("$3" --)
COMP_CWORD=1
COMP_LINE="$3 --"
COMP_POINT=${#COMP_LINE}
compopt() { :; }
rule=$(complete -p "${3##*/}") || exit 1
[[ $rule =~ -F\ ([a-z_]+) ]] && "${BASH_REMATCH[1]}" "$3" -- "$3"
printf '%s\n' "${COMPREPLY[@]%=}"
BASH
}

for tool in ./cpucycles-*; do
	name=${tool##*/}
	test -f "completions/$name" &&
		grep -q "^#compdef.* $name" "$files/_cpucycles"
	ok "$name has completion for bash and zsh"
	have bash "$name" || continue
	if ! test -f "$loader"; then
		skip "$name: $(needs bash-completion)"
		continue
	fi
	"$tool" --help | grep -oE -- '--[a-z-]+' | sort -u >"$tmp/options"
	in_bash "$tool" >"$tmp/offered"
	quietly diff "$tmp/options" "$tmp/offered" &&
		grep -q -- '^--help$' "$tmp/offered"
	ok "bash, $name: all options"
done
done_testing
