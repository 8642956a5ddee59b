#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# libzip.sh DIR: libzip of this distribution's own source package as an archive without OpenSSL, in
# DIR. jviewd reads no encrypted entries, and OpenSSL alone is larger than jviewd with all the rest.
# The source comes by apt from the mirrors that this machine uses, checked as apt checks.
set -euo pipefail
out=$1
[ -f "$out/lib/libzip.a" ] && exit 0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/sources" "$work/lists/partial" "$work/from"
for file in /etc/apt/sources.list.d/*.sources; do
  [ -f "$file" ] && sed 's/^Types:.*/Types: deb-src/' "$file" >"$work/sources/${file##*/}"
done
for file in /etc/apt/sources.list /etc/apt/sources.list.d/*.list; do
  [ -f "$file" ] && sed -n 's/^deb /deb-src /p' "$file" >"$work/sources/$(basename "$file" .list)-src.list"
done
apt=(apt-get -qq -o Dir::Etc::sourcelist=- -o "Dir::Etc::sourceparts=$work/sources"
  -o "Dir::State::Lists=$work/lists" -o APT::Sandbox::User=root)
"${apt[@]}" update
(cd "$work/from" && "${apt[@]}" source libzip >/dev/null)
source=$(find "$work/from" -mindepth 1 -maxdepth 1 -type d)
cmake -S "$source" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$work/out" \
  -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON -DBUILD_SHARED_LIBS=OFF \
  -DCMAKE_C_FLAGS="-ffile-prefix-map=$work=. -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fcf-protection" \
  -DHAVE_ARC4RANDOM=OFF -DENABLE_COMMONCRYPTO=OFF -DENABLE_GNUTLS=OFF -DENABLE_MBEDTLS=OFF -DENABLE_OPENSSL=OFF \
  -DENABLE_LZMA=OFF -DBUILD_TOOLS=OFF -DBUILD_REGRESS=OFF -DBUILD_EXAMPLES=OFF -DBUILD_DOC=OFF >"$work/log"
cmake --build "$work/build" --target install >>"$work/log" || { cat "$work/log" >&2; exit 1; }
mkdir -p "$out"
cp -r "$work/out/." "$out"
# Whoever moves it finds it all the same.
sed -i 's|^prefix=.*|prefix=${pcfiledir}/../..|' "$out/lib/pkgconfig/libzip.pc"
