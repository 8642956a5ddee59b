# SPDX-License-Identifier: Apache-2.0
# ubuntu.sh, a part of fresh.sh: the same package and archive in a bare Ubuntu 22.04, the oldest that is promised.

ubuntu_from=archive.ubuntu.com/ubuntu

# Debian has no keys of Ubuntu: where none are here the mirror's certificate vouches for the base; inside, apt checks as ever.
ubuntu_ready() {
  local keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg check=--no-check-gpg
  [ -f "$place/ubuntu-base/.ready" ] && return 0
  [ ! -f "$keys" ] || check=--keyring=$keys
  say "A bare Ubuntu jammy"
  rm -rf "$place/ubuntu-base"
  debootstrap --variant=minbase "$check" jammy "$place/ubuntu-base" "https://$ubuntu_from" >"$place/debootstrap.log" 2>&1 || return 1
  echo "deb http://$ubuntu_from jammy main universe" >"$place/ubuntu-base/etc/apt/sources.list"
  touch "$place/ubuntu-base/.ready"
}

part_ubuntu() {
  packages_ready
  ubuntu_ready || { say "not tried ubuntu: $(tail -1 "$place/debootstrap.log")"; return 0; }
  base=$place/ubuntu-base system ubuntu
  cp build/package/jviewd_*.deb "$at/tmp/new.deb"
  mkdir -p "$at/opt"
  tar -xf "$(ls build/package/jviewd-*-linux-*.tar.xz)" -C "$at/opt"
  cp -r tests/samples "$at/profiles"
  check "ubuntu: install" install_deb /tmp/new.deb
  check "ubuntu: $(inside jviewd --version)" inside jviewd top step_1000 --profile-dir /profiles
  check "ubuntu: serves" answers jviewd --profile-dir /profiles --port auto
  check "ubuntu: records" inside jview-collect -q -o /tmp/recorded -- true
  check "ubuntu: purge leaves nothing" purged
  check "ubuntu: the archive serves" answers "/$(cd "$at" && ls -d opt/jviewd-*/bin)/jviewd" --profile-dir /profiles --port auto
}
