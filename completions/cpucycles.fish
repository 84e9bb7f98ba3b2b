# SPDX-License-Identifier: 0BSD
# Completion of the cpucycles tools for fish. A tool's --help is what it offers:
# options, and by the capitals after an option what follows that. Where it takes
# a CHECK, --list has those.

function __cpucycles
	set -l words (commandline -opc)
	set -l before (string escape --style=regex -- $words[-1])
	set -l help ($words[1] --help 2>/dev/null)
	set -l option '^ +(?:-\w, )?'

	switch (string replace -rf -- "$option$before"'[= ]([A-Z]+)\b.*' '$1' $help; or echo)
	case FILE
		__fish_complete_path (commandline -ct)
	case DIR
		__fish_complete_directories (commandline -ct)
	case NAME
		cpucycles-info 2>/dev/null |
			string replace -rf '^cpucycles tracesetup \d+ (\S+).*' '$1'
	case ''
		string replace -rf -- $option'(--[a-z-]+)(?:[= ][A-Z]+)?(?: +(.*))?$' \
			'$1\t$2' $help
		string match -q '*[CHECK]*' -- $help[1]; and $words[1] --list 2>/dev/null |
			string replace -r '^(\S+) +' '$1\t'
	end
end

for tool in cpucycles-info cpucycles-open cpucycles-selftest
	complete -c $tool -f -a '(__cpucycles)'
end
