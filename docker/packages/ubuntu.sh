# SPDX-License-Identifier: Apache-2.0
# ubuntu.sh, a part of fresh.sh: the same package and archive in other bare systems. Ubuntu 22.04 is the oldest that is promised.

# other_ready SUITE MIRROR: a bare SUITE in $place/SUITE-base.
# Debian has no keys of Ubuntu: where none are here the mirror's certificate vouches for the base; inside, apt checks as ever.
other_ready() {
  local suite=$1 from=$2 keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg check=() script=""
  [ -f "$place/$suite-base/.ready" ] && return 0
  case $from in *ubuntu*) [ -f "$keys" ] && check=(--keyring=$keys) || check=(--no-check-gpg) ;; esac
  [ -e "/usr/share/debootstrap/scripts/$suite" ] || script=/usr/share/debootstrap/scripts/gutsy # those of all newer Ubuntus
  say "A bare $suite"
  rm -rf "$place/$suite-base"
  # shellcheck disable=SC2086 # no script: no word
  debootstrap --variant=minbase "${check[@]}" "$suite" "$place/$suite-base" "https://$from" $script >"$place/debootstrap.log" 2>&1 || return 1
  case $from in *ubuntu*) echo "deb http://$from $suite main universe" >"$place/$suite-base/etc/apt/sources.list" ;; esac
  touch "$place/$suite-base/.ready"
}

other() { # NAME SUITE MIRROR
  packages_ready
  other_ready "$2" "$3" || { say "not tried $1: $(tail -1 "$place/debootstrap.log")"; return 0; }
  base=$place/$2-base system "$2"
  cp build/package/jviewd_*.deb "$at/tmp/new.deb"
  mkdir -p "$at/opt"
  tar -xf "$(ls build/package/jviewd-*-linux-*.tar.xz)" -C "$at/opt"
  cp -r tests/samples "$at/profiles"
  check "$1: install" install_deb /tmp/new.deb
  check "$1: $(inside jviewd --version)" inside jviewd top step_1000 --profile-dir /profiles
  check "$1: serves" answers jviewd --profile-dir /profiles --port auto
  check "$1: records" inside jview-collect -q -o /tmp/recorded -- true
  check "$1: purge leaves nothing" purged
  check "$1: the archive serves" answers "/$(cd "$at" && ls -d opt/jviewd-*/bin)/jviewd" --profile-dir /profiles --port auto
}

part_ubuntu() {
  other "Ubuntu 22.04" jammy archive.ubuntu.com/ubuntu
  other "Ubuntu 24.04" noble archive.ubuntu.com/ubuntu
}

part_debian13() {
  other "Debian 13" trixie deb.debian.org/debian
}
