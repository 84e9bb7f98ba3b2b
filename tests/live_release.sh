#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The version that m4/version prints, and what packaging/publish writes: in a
# pretended repository.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

repository=$tmp/repository
mkdir -p "$repository/debian/upstream" "$repository/include" "$repository/m4" \
	"$repository/packaging"
for file in m4/version packaging/publish; do
	cp "$top_srcdir/$file" "$repository/$file"
done
cd "$repository" || exit 99
echo '#define CPUCYCLES_VERSION "1.2.3"' >include/cpucycles.h

version_is() {
	version=$(sh m4/version)
	expr "X$version" : "X$1\$" >/dev/null
	ok "$2: $version"
}

printf '%s\n' 'Source: s' 'Priority: optional' 'Standards-Version: 1' \
	>debian/control
echo 'Upstream-Name: s' >debian/copyright
echo 'Description: d' >libcpucycles.pc.in
echo 'License: l' >packaging/libcpucycles.spec.in
printf '%s\n' 'Maintainer: A <a@a.org>' 'Homepage: https://a.org/' \
	'Vcs-Git: https://a.org/git' 'Releases: https://a.org/r' \
	>packaging/publisher
packaging/publish && packaging/publish
test "$(grep -c . debian/control)" -eq 6 &&
	grep -qx 'Maintainer: A <a@a.org>' debian/control &&
	grep -qx 'Source: https://a.org/' debian/copyright &&
	grep -qx 'URL: https://a.org/' libcpucycles.pc.in &&
	grep -q '^https://a.org/r ' debian/watch &&
	grep -qx 'Repository: https://a.org/git' debian/upstream/metadata
ok "packaging/publish writes each field once"

version_is '1\.2\.3' "without git it is the header's"
if ! command -v git >/dev/null; then
	skip "there is no git"
	done_testing
fi
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
