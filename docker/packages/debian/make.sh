#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# make.sh TREE ETC SYMBOLS VERSION URL OUT: the Debian package and that of its debug symbols.
#
# TREE is bin/ lib/ share/ as for any distribution; CivetWeb, ISA-L and libseccomp come from Debian and
# Ubuntu, so only these three, libc and libgcc are asked for, and one package serves Debian 12 and Ubuntu 22.04 on.
set -euo pipefail
tree=$1 etc=$2 symbols=$3 version=$4 url=$5 out=$6
here=$(cd "$(dirname "$0")" && pwd)
arch=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
maintainer="the jviewd authors <noreply@jviewd.invalid>"
doc=$work/main/usr/share/doc/jviewd

mkdir -p "$work/main/DEBIAN" "$work/main/usr" "$work/debian"
cp -a "$tree/." "$work/main/usr/"
cp -a "$etc" "$work/main/etc"
find "$work/main/usr/lib/jviewd" -type f ! -name libjview-collector.so -delete
chmod 644 "$work/main/usr/lib/jviewd/libjview-collector.so"

changelog() {
  printf 'jviewd (%s) stable; urgency=medium\n\n  * Version %s.\n\n -- %s  %s\n' \
    "$version" "$version" "$maintainer" "$(date -Ru -d "@$SOURCE_DATE_EPOCH")"
}
changelog | gzip -9n >"$doc/changelog.gz"
cp "$here/copyright" "$doc/copyright"
rm "$doc/LICENSE" # copyright names Debian's own copy
gzip -9n "$work/main/usr/share/man/man1/"*.1
mkdir -p "$work/main/usr/share/lintian/overrides"
cp "$here/lintian-overrides" "$work/main/usr/share/lintian/overrides/jviewd"

printf 'Source: jviewd\n\nPackage: jviewd\nArchitecture: any\n' >"$work/debian/control"
depends=$(cd "$work" && dpkg-shlibdeps -O --ignore-missing-info main/usr/bin/jviewd main/usr/bin/jview-collect \
  main/usr/lib/jviewd/libjview-collector.so 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
size=$(du -sk --apparent-size "$work/main/usr" | cut -f1)
sed -e "s/@VERSION@/$version/" -e "s/@ARCH@/$arch/" -e "s/@DEPENDS@/$depends/" -e "s/@SIZE@/$size/" \
  -e "s/@MAINTAINER@/$maintainer/" -e "s|@HOMEPAGE@|${url:+Homepage: $url\\n}|" "$here/control.in" >"$work/main/DEBIAN/control"
echo /etc/jviewd/config >"$work/main/DEBIAN/conffiles"
for script in postinst prerm postrm; do
  install -m 755 "$here/$script" "$work/main/DEBIAN/$script"
done
(cd "$work/main" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)

mkdir -p "$work/symbols/DEBIAN" "$work/symbols/usr/share/doc"
cp -a "$symbols/usr" "$work/symbols/"
ln -s jviewd "$work/symbols/usr/share/doc/jviewd-dbgsym"
ids=$(cd "$symbols/usr/lib/debug/.build-id" && for file in */*.debug; do printf '%s ' "${file%.debug}" | tr -d /; done)
cat >"$work/symbols/DEBIAN/control" <<CONTROL
Package: jviewd-dbgsym
Source: jviewd
Version: $version
Auto-Built-Package: debug-symbols
Architecture: $arch
Maintainer: $maintainer
Installed-Size: $(du -sk --apparent-size "$work/symbols/usr" | cut -f1)
Depends: jviewd (= $version)
Section: debug
Priority: optional
Description: debug symbols for jviewd
Build-Ids: ${ids% }
CONTROL
(cd "$work/symbols" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)

for part in main symbols; do
  find "$work/$part" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  find "$work/$part" -type d -exec chmod 755 {} +
done
dpkg-deb --root-owner-group -Zxz --build "$work/main" "$out/jviewd_${version}_$arch.deb" >/dev/null
dpkg-deb --root-owner-group -Zxz --build "$work/symbols" "$out/jviewd-dbgsym_${version}_$arch.deb" >/dev/null
