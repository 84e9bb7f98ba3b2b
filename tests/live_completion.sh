#!/bin/sh
# SPDX-License-Identifier: 0BSD
# Each tool has completion, which offers the options of its --help, checks, counters
# and commands.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

loader=/usr/share/bash-completion/bash_completion

# By a path without spaces, which _longopt does not quote.
files=$(cd "$top_srcdir/completions" && pwd) && cd "$top_builddir" || exit 1

# TOOL WORD...: what bash offers for the last word.
in_bash() {
	bash -s "$loader" "$files/cpucycles.bash" "$@" <<'BASH' | sort -u
source "$1" && source "$2" || exit 1
shift 2
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
COMP_LINE="$*"
COMP_POINT=${#COMP_LINE}
compopt() { :; }
rule=$(complete -p "${1##*/}") || exit 1
[[ $rule =~ -F\ ([a-z_]+) ]] && "${BASH_REMATCH[1]}" "$1" "${!#}" "${@: -2:1}"
printf '%s\n' "${COMPREPLY[@]%=}"
BASH
}

# offers TEXT WORD...: the lines of $tmp/expected, and no others.
offers() {
	text=$1
	shift
	in_bash "$@" >"$tmp/offered"
	test -s "$tmp/expected" && quietly diff "$tmp/expected" "$tmp/offered"
	ok "$text"
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
	mv "$tmp/options" "$tmp/expected"
	offers "bash, $name: all options" "$tool" --
done
if have bash complete && test -f "$loader"; then
	./cpucycles-selftest --list | sed 's/ .*//' | sort >"$tmp/expected"
	offers "bash: the checks of cpucycles-selftest" ./cpucycles-selftest ''
	offers "bash: checks after an option" ./cpucycles-selftest --quick ''
	./cpucycles-info --lines | awk '$2 == "tracesetup" { print $4 }' |
		sort >"$tmp/expected"
	offers "bash: counters" ./cpucycles-selftest --counter ''
	offers "bash: counters after =" ./cpucycles-info --counter = ''
	echo default-monotonic >"$tmp/expected"
	offers "bash: a counter that is begun" ./cpucycles-info --counter = default-mono
	mkdir "$tmp/bin"
	echo : >"$tmp/bin/nameless-tool"
	chmod +x "$tmp/bin/nameless-tool"
	echo nameless-tool >"$tmp/expected"
	PATH=$tmp/bin:$PATH
	offers "bash: a command of cpucycles-run" ./cpucycles-run --runs = 5 nameless-t
	./cpucycles-selftest --list | sed 's/ .*//' | sort >"$tmp/expected"
	offers "bash: a command's arguments" ./cpucycles-run --json -r 5 \
		./cpucycles-selftest ''
	echo --quick >"$tmp/expected"
	offers "bash: a command's options" ./cpucycles-run --json \
		./cpucycles-selftest --qui
fi
done_testing
