# SPDX-License-Identifier: 0BSD

# CPUC_COMPLETION(SHELL, DIRECTORY)
# ---------------------------------
# Sets SHELLcompletiondir, where completion for that shell is installed:
# DIRECTORY, unless the option --with-SHELL-completion-dir says something else.
# Empty if that is "no".
AC_DEFUN([CPUC_COMPLETION], [
	AC_ARG_WITH([$1-completion-dir],
		[AS_HELP_STRING([--with-$1-completion-dir=DIR],
			[where completion for $1 is installed; no: nowhere])],
		[], [with_$1_completion_dir=yes])
	AS_CASE([$with_$1_completion_dir],
		[yes], [$1completiondir="$2"],
		[no], [$1completiondir=],
		[$1completiondir=$with_$1_completion_dir])
	AC_SUBST([$1completiondir])
])

# CPUC_COMPLETIONS
# ----------------
# bash-completion's pkg-config file says where its files go below datadir. The
# datadir is ours, or an ordinary user could not install.
AC_DEFUN([CPUC_COMPLETIONS], [
	AC_PATH_PROG([PKG_CONFIG], [pkg-config])
	cpuc_dir=`test -z "$PKG_CONFIG" || $PKG_CONFIG \
		--define-variable=datadir=DATADIR \
		--variable=completionsdir bash-completion 2>/dev/null`
	AS_CASE([$cpuc_dir],
		[DATADIR/*], [cpuc_dir=${cpuc_dir@%:@DATADIR}],
		[cpuc_dir=/bash-completion/completions])
	CPUC_COMPLETION([bash], [\${datadir}$cpuc_dir])
	CPUC_COMPLETION([zsh], [\${datadir}/zsh/site-functions])
])
