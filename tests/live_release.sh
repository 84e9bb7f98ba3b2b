#!/bin/sh
# SPDX-License-Identifier: 0BSD
# The version that m4/version prints, and what `make release-check` says without
# building: in a pretended repository.
. "${top_srcdir:?is set by make check}/tests/tap.sh"

repository=$tmp/repository
mkdir -p "$repository/debian/upstream" "$repository/include" \
	"$repository/m4" "$repository/packaging" "$repository/tests"
for file in m4/version packaging/publish tests/release tests/tap.sh; do
	cp "$top_srcdir/$file" "$repository/$file"
done
cd "$repository" || exit 99
printf '#define CPUCYCLES_VERSION "%s"\n#define CPUCYCLES_VERSION_NUMBER %s\n' \
	1.2.3 10203 >include/cpucycles.h

version_is() {
	version=$(sh m4/version)
	expr "X$version" : "X$1\$" >/dev/null
	ok "$2: $version"
}

version_is '1\.2\.3' "without git it is the header's"
if ! command -v git >/dev/null; then
	skip "there is no git"
	done_testing
fi
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=A \
	GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=A GIT_COMMITTER_EMAIL=a@b

commit() {
	git add -A && git commit -q --allow-empty -m "$1"
}

git init -q .
version_is '1\.2\.3+unknown' "a repository that git cannot read is no release"
printf '%s\n' 'Source: s' 'Priority: optional' 'Standards-Version: 1' \
	>debian/control
echo 'Upstream-Name: s' >debian/copyright
echo 'Description: d' >libcpucycles.pc.in
echo 'License: l' >packaging/libcpucycles.spec.in
printf '%s\n' 'Maintainer: A <a@a.example>' 'Homepage:' 'Vcs-Git:' \
	'Releases:' >packaging/publisher
echo '* Not released yet' >NEWS
echo 'libcpucycles (1.2.2-1) unstable; urgency=low' >debian/changelog
commit one
commit two
version_is '1\.2\.3+2\.g[0-9a-f]\{10\}' "without a tag all commits count"
git tag v1.2.3
version_is '1\.2\.3' "a commit with the tag is the release"
commit three
version_is '1\.2\.3+1\.g[0-9a-f]\{10\}' "the next is not"
echo 1.2.3+7.gabc >.tarball-version
version_is '1\.2\.3+7\.gabc' "a tarball says itself what it is"
rm .tarball-version

check_release() {
	quietly tests/release --quick
}

touch new
! check_release && test "$(grep -cE '^not ok .*(clean\?\? new|: \* Not released|: libcpucycles \(1\.2\.2|no other commit|: Maintainer|(Homepage|Vcs-Git|Releases) is empty|run.*debian/control)' \
	"$tmp/log")" -eq 9
ok "release-check finds what has changed, is not written, or is not tagged"

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
echo "* Release 1.2.3 ($(date -u +%F))" >NEWS
echo 'libcpucycles (1.2.3-1) unstable; urgency=low' >debian/changelog
GIT_COMMITTER_DATE="$(date -u +%F) 12:00 +0000" commit four
git tag -f v1.2.3 >/dev/null
check_release && grep -q '^#  *git tag -s .* v1.2.3' "$tmp/log"
ok "a commit that can be released passes, and it says that signatures are left"
done_testing
