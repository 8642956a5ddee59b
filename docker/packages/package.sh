#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# package.sh OUT [BUILD]: everything that people install, made from what is committed.
# package.sh --release OUT: the same in build/package; OUT, made anew, gets what is published and nothing else:
#   the files below, jviewd-V-notes.md (docs/CHANGELOG.md, what it says of V) and SHA256SUMS over all of them.
#
#   jviewd-V.tar.xz                  sources with the built UI: CMake builds it offline, without Node
#   jviewd-V-linux-ARCH.tar.xz       bin/ lib/ share/: unpack and run
#   jviewd-V-py3-none-manylinux_2_34_ARCH.whl
#   jviewd_V_ARCH.deb  jviewd-dbgsym_V_ARCH.deb
#   jviewd-V.cdx.json                what is inside (CycloneDX)
#
# The programs are built from the source archive itself. Equal sources make equal bytes: times are
# those of the last commit (SOURCE_DATE_EPOCH where it is set), paths of the build do not stay. BUILD is a
# finished build with JVIEWD_PORTABLE=ON to pack instead.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
published=""
if [ "${1:-}" = --release ]; then
  published=${2:-build/release-files}
  set -- build/package
fi
out=${1:?usage: package.sh OUT [BUILD]}
mkdir -p "$out"
out=$(cd "$out" && pwd)
version=$(sed -n 's/^project(jviewd VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
url=$(sed -n 's/^set(JVIEWD_URL "\([^"]*\)").*/\1/p' CMakeLists.txt)
arch=$(uname -m)
name=jviewd-$version
if [ -z "${SOURCE_DATE_EPOCH:-}" ]; then
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y CMakeLists.txt)
fi
export SOURCE_DATE_EPOCH LC_ALL=C TZ=UTC
umask 022

say() { printf '%s\n' "$*" >&2; }

# pack ARCHIVE DIR: DIR as it stands below its parent, owned by nobody in particular.
pack() {
  tar --sort=name --mtime="@$SOURCE_DATE_EPOCH" --clamp-mtime --owner=0 --group=0 --numeric-owner \
    --pax-option=exthdr.name=%d/PaxHeaders/%f,delete=atime,delete=ctime -C "$(dirname "$2")" -cf - "$(basename "$2")" |
    xz -6 -T1 >"$1"
}

source_archive() {
  rm -rf "$out/source"
  mkdir -p "$out/source/$name"
  if git rev-parse --git-dir >/dev/null 2>&1; then
    [ -z "$(git status --porcelain --untracked-files=no)" ] || say "What is not committed is not packed"
    git archive HEAD | tar -x -C "$out/source/$name"
  else
    tar -c --exclude=./build --exclude=./web/node_modules . | tar -x -C "$out/source/$name"
  fi
  if [ ! -f "$out/source/$name/web/dist/index.html" ]; then
    ln -s "$root/web/node_modules" "$out/source/$name/web/node_modules"
    (cd "$out/source/$name/web" && npm run --silent build >&2 && npm run --silent build-bundle >&2)
    rm "$out/source/$name/web/node_modules"
  fi
  find "$out/source" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
  pack "$out/$name.tar.xz" "$out/source/$name"
}

build() {
  local launcher=() source=$out/source/$name
  command -v ccache >/dev/null && launcher=(-DCMAKE_C_COMPILER_LAUNCHER=ccache)
  export CCACHE_BASEDIR="" CCACHE_HASHDIR=1 # else a machine's own settings change paths in what is compiled
  docker/packages/libzip.sh "$out/libzip"
  PKG_CONFIG_PATH=$out/libzip/lib/pkgconfig cmake --preset release -S "$source" -B "$out/build" "${launcher[@]}" \
    -DCMAKE_C_FLAGS="-ffile-prefix-map=$out/build=build -ffile-prefix-map=$source=. -ffile-prefix-map=$out/libzip=libzip" \
    -DCMAKE_INSTALL_PREFIX=/usr -DJVIEWD_TESTS=OFF -DJVIEWD_PORTABLE=ON >"$out/configure.log"
  cmake --build "$out/build" >&2
}

# What is made of a finished build; $tree holds bin/ lib/ share/.
split_symbols() {
  local file id
  for file in "$tree/bin/jviewd" "$tree/bin/jview-collect" "$tree/lib/jviewd/libjview-collector.so"; do
    id=$(readelf -n "$file" | sed -n 's/.*Build ID: //p')
    mkdir -p "$symbols/usr/lib/debug/.build-id/${id:0:2}"
    objcopy --only-keep-debug --compress-debug-sections "$file" "$symbols/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"
    strip --strip-unneeded --remove-section=.comment --remove-section=.note "$file"
  done
}

install_tree() {
  tree=$out/$name-linux-$arch symbols=$out/symbols staging=$out/staging
  rm -rf "$tree" "$symbols" "$staging"
  DESTDIR=$staging cmake --install "$build" >/dev/null
  mkdir -p "$tree"
  cp -a "$staging/usr/bin" "$staging/usr/lib" "$staging/usr/share" "$tree/"
  split_symbols
  python3 docker/packages/sbom.py "$tree" "$version" "$url" "$out/source/$name/web/package-lock.json" "$root/web/node_modules" \
    "$out/$name.cdx.json" "$tree/share/doc/jviewd/licences"
  cp "$out/$name.cdx.json" "$tree/share/doc/jviewd/sbom.cdx.json"
  rm -rf "$tree.deb"
  cp -a "$tree" "$tree.deb"
  rm -r "$tree/lib/systemd" "$tree/share/doc/jviewd/no-namespaces.conf"
  pack "$out/$name-linux-$arch.tar.xz" "$tree"
}

# Of the installed tree, by the Python that Debian's hatchling belongs to.
wheel() {
  rm -f "$out"/jviewd-*.whl
  /usr/bin/python3 "$out/source/$name/api/python/wheel.py" "$tree" "$out" >"$out/wheel.log" 2>&1 ||
    { cat "$out/wheel.log" >&2; exit 1; }
  chmod 644 "$out"/jviewd-*.whl
}

publish() {
  if [ -n "$(ls -A "$published" 2>/dev/null)" ] && [ ! -f "$published/SHA256SUMS" ]; then
    say "$published holds something else: name an empty directory"
    exit 1
  fi
  rm -rf "$published"
  mkdir -p "$published"
  cp "$out/$name.tar.xz" "$out/$name-linux-$arch.tar.xz" "$out/$name.cdx.json" "$out/jviewd-$version"-*.whl \
    "$out/jviewd_${version}_"*.deb "$out/jviewd-dbgsym_${version}_"*.deb "$published"
  awk -v title="## $version" '/^## / { inside = $0 == title } inside' docs/CHANGELOG.md >"$published/$name-notes.md"
  [ -s "$published/$name-notes.md" ] || { say "docs/CHANGELOG.md says nothing of $version"; exit 1; }
  find "$published" -exec touch -d "@$SOURCE_DATE_EPOCH" {} +
  (cd "$published" && sha256sum -- * >SHA256SUMS)
  say "In $published, what is published:"
  ls -l "$published" >&2
}

source_archive
build=${2:-$out/build}
[ $# -gt 1 ] || build
install_tree
wheel
docker/packages/debian/make.sh "$tree.deb" "$staging/etc" "$symbols" "$version" "$url" "$out"
rm -rf "$tree.deb" "$symbols" "$staging"
(cd "$out" && sha256sum ./*.tar.xz ./*.whl ./*.deb ./*.cdx.json | sed 's| \./| |' >SHA256SUMS)
ls -l "$out"/*.tar.xz "$out"/*.whl "$out"/*.deb "$out"/*.cdx.json >&2
[ -z "$published" ] || publish
