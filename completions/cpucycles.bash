# SPDX-License-Identifier: 0BSD
# Completion of the cpucycles tools for bash. A tool's --help is what it
# offers: options, and by the capitals after an option what follows that. Where
# it takes a CHECK, --list has those.
# shellcheck shell=bash

_cpucycles()
{
	local command=${1/#\~/$HOME} word=$2 before=$3 help follows info offer
	local option='^ \{1,\}\(-[[:alpha:]], \)\{0,1\}'

	# bash makes three words of --root=DIR.
	if [[ $word == = ]]; then
		word=
	elif [[ $before == = ]]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	help=$("$command" --help 2>/dev/null)
	[[ $before == --+([a-z-]) ]] &&
		follows=$(sed -n "s/$option${before}[= ]\([A-Z]\{1,\}\).*/\2/p" \
			<<<"$help")
	case $follows in
	FILE)
		compopt -o filenames
		offer=$(compgen -f -- "$word")
		;;
	DIR)
		compopt -o filenames
		offer=$(compgen -d -- "$word")
		;;
	NAME)
		info=${command%"${command##*/}"}cpucycles-info
		offer=$("$info" 2>/dev/null |
			sed -n 's/^cpucycles tracesetup [0-9]* \([^ ]*\).*/\1/p')
		offer=$(compgen -W "$offer" -- "$word")
		;;
	'')
		offer=$(sed -n "s/$option\(--[a-z-]*\).*/\2/p" <<<"$help")
		[[ $help == *'[CHECK]'* ]] &&
			offer+=" $("$command" --list 2>/dev/null | sed 's/ .*//')"
		offer=$(compgen -W "$offer" -- "$word")
		;;
	esac
	# Not by <(), which needs /dev/fd.
	mapfile -t COMPREPLY <<<"$offer"
	[[ $offer ]] || COMPREPLY=()
}
complete -F _cpucycles cpucycles-info cpucycles-open cpucycles-selftest
