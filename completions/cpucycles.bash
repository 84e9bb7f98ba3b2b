# SPDX-License-Identifier: 0BSD
# Completion for bash: options by --help, checks and counters as the tools list them,
# and after cpucycles-run and its options another command.
# shellcheck shell=bash

# Where in the line the command of cpucycles-run begins, if it does.
_cpucycles_command()
{
	local i
	for ((i = 1; i <= COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		-o | -r | -w | --output | --runs | --warmup)
			[[ ${COMP_WORDS[i + 1]-} == = ]] || ((i++))
			;;
		=)
			# --runs=5 is three words.
			((i++))
			;;
		-*) ;;
		*)
			echo "$i"
			return
			;;
		esac
	done
}

_cpucycles()
{
	local word=$2 last=$3 names='' command
	if [[ $last == = ]]; then
		last=${COMP_WORDS[COMP_CWORD - 2]}
	elif [[ $word == = ]]; then
		word=''
	fi
	case ${1##*/}:$last:$word in
	*:--counter:*)
		names=$("${1%cpucycles-*}cpucycles-info" --lines 2>/dev/null |
			awk '$2 == "tracesetup" { print $4 }')
		;;
	cpucycles-run:*)
		command=$(_cpucycles_command)
		if [[ -n $command ]]; then
			_command_offset "$command"
			return
		fi
		;;
	cpucycles-selftest:*:-*) ;;
	cpucycles-selftest:*)
		names=$("$1" --list 2>/dev/null | sed 's/ .*//')
		;;
	esac
	if [[ -n $names ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$names" -- "$word")
	else
		_longopt "$@"
	fi
}

complete -F _cpucycles cpucycles-info cpucycles-open cpucycles-run cpucycles-selftest
