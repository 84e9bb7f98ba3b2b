#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The version that m4/version prints, in a pretended repository.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

mkdir -p "$tmp/repository/include" "$tmp/repository/m4"
cp "$top_srcdir/m4/version" "$tmp/repository/m4"
cd "$tmp/repository" || exit 99
echo '#define CPUCYCLES_VERSION "1.2.3"' >include/cpucycles.h

version_is() {
	version=$(sh m4/version)
	expr "X$version" : "X$1\$" >/dev/null
	ok "$2: $version"
}

version_is '1\.2\.3' "without git it is the header's"
have git || done_testing
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A \
	GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b

commit() {
	git commit -q --allow-empty -m "$1"
}

git init -q .
version_is '1\.2\.3+unknown' "a repository that git cannot read is no release"
commit one
commit two
version_is '1\.2\.3+2\.g[0-9a-f]\{10\}' "without a tag all commits count"
git tag v1.2.3
version_is '1\.2\.3' "a commit with the tag is the release"
commit three
version_is '1\.2\.3+1\.g[0-9a-f]\{10\}' "the next is not"
echo 1.2.3+7.gabc >.tarball-version
version_is '1\.2\.3+7\.gabc' "a tarball says itself what it is"
done_testing
