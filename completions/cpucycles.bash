# SPDX-License-Identifier: 0BSD
# Completion for bash: what --help says.
# shellcheck shell=bash
complete -F _longopt cpucycles-info cpucycles-open cpucycles-run cpucycles-selftest
