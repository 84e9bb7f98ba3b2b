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
printf '%s\n' 'Source: s' 'Priority: optional' 'Standards-Version: 1' '' \
	'Package: p' >debian/control
printf '%s\n' 'Upstream-Name: s' >debian/copyright
printf '%s\n' 'Description: d' >libcpucycles.pc.in
printf '%s\n' 'License: l' >packaging/libcpucycles.spec.in
printf '%s\n' 'Maintainer: A <a@a.example>' 'Homepage:' 'Vcs-Git:' \
	'Releases:' >packaging/publisher
printf '%s\n' '* Not released yet' '* Release 1.2.3 (2000-01-01)' >NEWS
printf '%s\n' 'libcpucycles (1.2.2-1) unstable; urgency=low' >debian/changelog
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

# RESULT TEXT: a line of what release-check prints.
finds() {
	grep -q "^$1 [0-9]* - .*$2" "$tmp/out" || ! sed 's/^/# /' "$tmp/out"
}

check_release() {
	# shellcheck disable=SC2015 # a condition
	tests/release --quick >"$tmp/out" 2>&1
}

touch new
! check_release && finds 'not ok' 'tree is clean?? new' &&
	finds 'not ok' 'NEWS begins with .* Not released yet' &&
	finds 'not ok' 'changelog is for 1.2.3: libcpucycles (1.2.2' &&
	finds 'not ok' 'no other commit has the tag v1.2.3'
ok "release-check finds a changed tree, NEWS, the package's version and the tag"
finds 'not ok' 'publisher: Maintainer' && finds 'not ok' 'Homepage is empty' &&
	finds 'not ok' 'Vcs-Git is empty' && finds 'not ok' 'Releases is empty'
ok "it names the publisher's fields that are empty"
finds 'not ok' 'publish has been run.*debian/control'
ok "and the files that lack what is there"

printf '%s\n' 'Maintainer: A <a@a.org>' 'Homepage: https://a.org/' \
	'Vcs-Git: https://a.org/git' 'Releases: https://a.org/r' \
	>packaging/publisher
packaging/publish && packaging/publish
test "$(grep -c . debian/control)" -eq 7 &&
	grep -qx 'Maintainer: A <a@a.org>' debian/control &&
	grep -qx 'Source: https://a.org/' debian/copyright &&
	grep -qx 'URL: https://a.org/' libcpucycles.pc.in &&
	grep -q '^https://a.org/r ' debian/watch &&
	grep -qx 'Repository: https://a.org/git' debian/upstream/metadata
ok "packaging/publish writes each field once"
echo "* Release 1.2.3 ($(date -u +%F))" >NEWS
sed -i.old s/1.2.2/1.2.3/ debian/changelog && rm debian/changelog.old
GIT_COMMITTER_DATE="$(date -u +%F) 12:00 +0000" commit four
git tag -f v1.2.3 >/dev/null
check_release || ! sed 's/^/# /' "$tmp/out"
ok "a commit that can be released passes"
grep -q '^#  *git tag -s .* v1.2.3' "$tmp/out"
ok "it says what is left: the signatures"
done_testing
