#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# fresh.sh [PART...]: does it work where nothing of ours has ever been?
#
# Each part begins with a copy of a bare Debian (debootstrap, kept in build/fresh/base), by the mirrors
# that this machine uses, and types what a stranger would:
#
#   readme   README's commands, word by word, until the server answers
#   tests    ./dev test in the same place (long; tests=PATTERN those whose name matches)
#   deb      install, run, upgrade over the version before, remove, purge
#   ubuntu   the same package and the archive in a bare Ubuntu 22.04 and 24.04
#   debian13 the same in a bare Debian 13
#   service  its units in a system whose own systemd runs: the machine's, and users' with and without namespaces
#   tarball  unpack, run
#   source   unpack the sources, cmake without Node or network
#   wheel    pip install; its module with the oldest and the newest Python at hand, JAX, a notebook's kernel
#   image    the steps of docker/Dockerfile
#   same     the packages made once more, from their own source archive in another place
#
# Needs root, the network and some GB below build/. What is heavy is kept: rm -rf build/fresh starts anew.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
place=$root/build/fresh
base=$place/base
suite=bookworm
failed=0

say() { printf '%s\n' "$*" >&2; }
[ "$(id -u)" -eq 0 ] || { say "fresh needs root: it makes whole systems in build/fresh"; exit 1; }
mkdir -p "$place"

# The mirror of $suite in the first of apt's own files that names one.
mirror() {
  cat /etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null |
    awk -v suite=$suite '$1 == "deb" { for (i = 2; i < NF; i++) if ($i ~ "^https?:" && $(i + 1) == suite) print $i }'
  cat /etc/apt/sources.list.d/*.sources 2>/dev/null |
    awk -v suite=$suite '/^URIs:/ { uri = $2 } /^Suites:/ && $2 == suite { print uri }'
}

base_ready() {
  [ -f "$base/.ready" ] && return 0
  local from
  from=$(mirror | head -1)
  [ -n "$from" ] || { say "apt here knows no mirror of Debian's $suite"; exit 1; }
  say "A bare Debian $suite"
  rm -rf "$base"
  debootstrap --variant=minbase "$suite" "$base" "$from" >"$place/debootstrap.log" ||
    { tail -5 "$place/debootstrap.log" >&2; exit 1; }
  rm -f "$base"/var/cache/apt/archives/*.deb
  find "$base/etc/apt/sources.list.d" -type f -delete
  cp -r /etc/apt/sources.list.d/. "$base/etc/apt/sources.list.d/"
  rm -f "$base/etc/apt/sources.list"
  [ ! -f /etc/apt/sources.list ] || cp /etc/apt/sources.list "$base/etc/apt/"
  [ ! -d /etc/apt/auth.conf.d ] || cp -r /etc/apt/auth.conf.d "$base/etc/apt/"
  cp -r /usr/share/keyrings/. "$base/usr/share/keyrings/"
  touch "$base/.ready"
}

mounts=() # undone in the end, the last first
unmount_all() {
  local i
  for ((i = ${#mounts[@]} - 1; i >= 0; i--)); do
    umount -l "${mounts[$i]}" 2>/dev/null || true
  done
  mounts=()
}
trap unmount_all EXIT

bind() { # FROM TO
  mkdir -p "$2"
  mount --bind "$1" "$2"
  mounts+=("$2")
}

# system NAME: a bare one at $at.
system() {
  at=$place/$1
  unmount_all
  rm -rf --one-file-system "$at"
  cp -a --reflink=auto "$base" "$at"
  cp /etc/resolv.conf "$at/etc/resolv.conf"
  cp /etc/hosts "$at/etc/hosts"
  mount -t proc proc "$at/proc"
  mounts+=("$at/proc")
  bind /dev "$at/dev"
  bind "$place/archives" "$at/var/cache/apt/archives"
  mkdir -p "$at/var/cache/apt/archives/partial"
  printf 'APT::Keep-Downloaded-Packages "true";\nBinary::apt::APT::Keep-Downloaded-Packages "true";\n' \
    >"$at/etc/apt/apt.conf.d/90keep"
  echo force-unsafe-io >"$at/etc/dpkg/dpkg.cfg.d/unsafe-io" # nobody misses it after a crash
  # Certificates of this machine, where a proxy signs with its own; Node looks at none but its own and these.
  mkdir -p "$at/etc/ssl/certs" "$at/tmp/home"
  cp -L /etc/ssl/certs/ca-certificates.crt "$at/etc/ssl/certs/" 2>/dev/null || true
  cp -L "${NODE_EXTRA_CA_CERTS:-/dev/null}" "$at/etc/ssl/machine.pem"
}

# inside COMMAND...: in the system, with nothing of this one but its way to the network.
inside() {
  local kept=(HOME=/tmp/home TERM=dumb LANG=C.UTF-8 NODE_EXTRA_CA_CERTS=/etc/ssl/machine.pem PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin) name
  [ ! -s "$at/etc/ssl/machine.pem" ] || kept+=(PIP_CERT=/etc/ssl/machine.pem)
  for name in http_proxy https_proxy no_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY npm_config_registry CMAKE_BUILD_PARALLEL_LEVEL; do
    [ -z "${!name:-}" ] || kept+=("$name=${!name}")
  done
  chroot "$at" /usr/bin/env -i "${kept[@]}" "$@"
}

# check WHAT COMMAND...: a line for each.
check() {
  local what=$1 log=$place/$part.log
  shift
  if "$@" >"$log" 2>&1 9>&-; then # what outlives it holds no lock
    say "ok $what"
  else
    failed=$((failed + 1))
    say "not ok $what"
    tail -15 "$log" | sed 's/^/  /' >&2
  fi
}

# The server that `inside "$@"` starts answers, and ends well when it is asked to.
answers() {
  local log=$place/server.log pid url=""
  rm -f "$log"
  inside "$@" >"$log" 2>&1 &
  pid=$!
  for _ in $(seq 1 3600); do # README's command builds everything first
    url=$(sed -n 's|^  open  *\(http://[^ ]*\)|\1|p' "$log")
    [ -n "$url" ] && break
    kill -0 "$pid" 2>/dev/null || break
    sleep 1
  done
  [ -n "$url" ] || { cat "$log"; return 1; }
  python3 - "$url" <<'PY'
import sys, urllib.parse, urllib.request
browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
browser.open(sys.argv[1], timeout=30).read() # a link that is good once leaves a cookie
base = urllib.parse.urljoin(sys.argv[1], "/")
page = browser.open(base, timeout=30).read()
assert b"<script" in page, page[:200]
runs = browser.open(base + "api/runs", timeout=30).read()
assert b'"runs"' in runs, runs[:200]
PY
  local answered=$?
  servers_here | xargs -r kill
  wait "$pid" || answered=1
  return $answered
}

# Processes of jviewd whose root is this system.
servers_here() {
  local process
  for process in /proc/[0-9]*; do
    [ "$(readlink "$process/root")" = "$at" ] || continue
    case $(readlink "$process/exe") in */jviewd) echo "${process#/proc/}" ;; esac
  done
}

# README's first command of that beginning, without its comment.
readme_command() { # BEGINNING
  sed -n '/^```/,/^```/p' README.md | grep "^$1" | head -1 | sed 's/ *#.*//'
}

sources_into() {
  mkdir -p "$at/src"
  git archive HEAD | tar -x -C "$at/src"
}

# Word by word; the port is of this machine's network, and may be somebody's.
part_readme() {
  local command
  system readme
  sources_into
  command=$(readme_command './dev run')
  check "README: $command" answers env JVIEWD_PORT=auto sh -c "cd /src && $command"
  mkdir -p "$at/src/runs"
  cp -r tests/samples "$at/src/runs/profiles" # the stranger's own
  command=$(readme_command 'build/release/jviewd --profile-dir')
  check "README: $command" answers env JVIEWD_PORT=auto sh -c "cd /src && $command"
  command=$(readme_command 'build/release/jviewd top')
  check "README: $command" inside sh -c "cd /src && $command"
}

part_tests() { # [PATTERN]
  [ -d "$place/readme/src" ] || part_readme
  at=$place/readme
  mountpoint -q "$at/proc" || { mount -t proc proc "$at/proc"; mounts+=("$at/proc"); }
  mountpoint -q "$at/dev" || bind /dev "$at/dev"
  check "./dev test $*" inside sh -c "cd /src && ./dev test $*"
  sed -n '/^skipped: /p; $p' "$place/$part.log" | sed 's/^/  /' >&2
}

packages_ready() {
  [ -n "$(ls build/package/jviewd_*.deb 2>/dev/null)" ] || ./dev package
}

source_archive() {
  ls build/package/jviewd-*.tar.xz | grep -v -- -linux-
}

# earlier DEB: the same as version 0.0.1, as if it had been published before.
earlier() {
  local work
  work=$(mktemp -d)
  dpkg-deb -R "$1" "$work/deb"
  sed -i 's/^Version: .*/Version: 0.0.1/' "$work/deb/DEBIAN/control"
  dpkg-deb --root-owner-group --build "$work/deb" "$2" >/dev/null
  rm -rf "$work"
}

install_deb() {
  inside sh -c "apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $1"
}

purged() {
  inside sh -c 'DEBIAN_FRONTEND=noninteractive apt-get purge -y -qq jviewd' &&
    ! inside sh -c 'command -v jviewd || ls -d /etc/jviewd /usr/lib/jviewd /usr/share/doc/jviewd 2>/dev/null'
}

changed_config_stays() {
  grep -q 'profile-dir = /mine' "$at/etc/jviewd/config"
}

# Each program's symbols lie where debuggers look for its build.
symbols_fit() {
  local program id
  inside dpkg -i /tmp/symbols.deb || return 1
  for program in bin/jviewd bin/jview-collect lib/jviewd/libjview-collector.so; do
    id=$(readelf -n "$at/usr/$program" | sed -n 's/.*Build ID: //p')
    readelf -S "$at/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug" | grep -q '\.debug_info' || { echo "$program"; return 1; }
  done
  inside dpkg --purge jviewd-dbgsym
}

# Without libcurl a bucket says what to install; with it the store is asked.
bucket_without_libcurl() {
  local list=(inside env AWS_ENDPOINT_URL=http://127.0.0.1:1 AWS_SKIP_SIGNATURE=true jviewd list s3://bucket/run) said
  said=$("${list[@]}" 2>&1) || true
  grep 'apt install libcurl4' <<<"$said" || { echo "$said"; return 1; }
  install_deb libcurl4 || return 1
  said=$("${list[@]}" 2>&1) || true
  grep '127.0.0.1:1 does not answer' <<<"$said" || { echo "$said"; return 1; }
}

part_deb() {
  packages_ready
  local deb
  deb=$(ls build/package/jviewd_*.deb)
  check "lintian" lintian --allow-root --fail-on error,warning "$deb" build/package/jviewd-dbgsym_*.deb
  system deb
  cp "$deb" "$at/tmp/new.deb"
  cp build/package/jviewd-dbgsym_*.deb "$at/tmp/symbols.deb"
  earlier "$deb" "$at/tmp/old.deb"
  cp -r tests/samples "$at/profiles"
  check "deb: install" install_deb /tmp/old.deb
  echo 'profile-dir = /mine' >>"$at/etc/jviewd/config"
  check "deb: upgrade" install_deb /tmp/new.deb
  check "deb: a changed config stays" changed_config_stays
  check "deb: $(inside jviewd --version)" inside jviewd top step_1000 --profile-dir /profiles
  check "deb: serves" answers jviewd --profile-dir /profiles --port auto
  check "deb: a bucket, without libcurl and with it" bucket_without_libcurl
  check "deb: records" inside jview-collect -q -o /tmp/recorded -- true
  check "deb: debug symbols" symbols_fit
  check "deb: purge leaves nothing" purged
}

below() { # TREE BYTES
  local bytes
  bytes=$(du -cb "$1"/bin/* "$1"/lib/jviewd/* | tail -1 | cut -f1)
  say "  $bytes bytes"
  [ "$bytes" -lt "$2" ]
}

old_glibc() {
  local newest
  newest=$(objdump -T "$1"/bin/* "$1"/lib/jviewd/* | grep -o 'GLIBC_2\.[0-9]*' | sort -Vu | tail -1)
  [ "$(printf '%s\nGLIBC_2.34\n' "$newest" | sort -V | tail -1)" = GLIBC_2.34 ] || { echo "$newest"; return 1; }
}

# What the archive says is inside: each with its licence and that licence's text.
told_inside() {
  python3 - "$1/share/doc/jviewd" <<'PY'
import json, pathlib, sys
doc = pathlib.Path(sys.argv[1])
bom = json.loads((doc / "sbom.cdx.json").read_text())
assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.5"), bom
names = {part["name"] for part in bom["components"]}
assert {"CivetWeb", "SQLite", "preact"} <= names and all(part["licenses"] and part["purl"] for part in bom["components"]), names
listed = (doc / "licences" / "LIST").read_text().splitlines()
texts = [path for path in (doc / "licences").glob("*.txt") if path.stat().st_size > 200]
assert len(listed) == len(names) == len(texts), (len(listed), len(names), texts)
PY
}

part_tarball() {
  packages_ready
  system tarball
  mkdir -p "$at/opt"
  tar -xf "$(ls build/package/jviewd-*-linux-*.tar.xz)" -C "$at/opt"
  cp -r tests/samples "$at/profiles"
  local bin
  bin=$(cd "$at" && ls -d opt/jviewd-*/bin)
  check "tarball: $(inside "/$bin/jviewd" --version)" inside "/$bin/jviewd" top step_1000 --profile-dir /profiles
  check "tarball: programs and libraries below 10 MB" below "$at/$bin/.." 10000000
  check "tarball: needs no newer glibc than 2.34" old_glibc "$at/$bin/.."
  check "tarball: says what is inside" told_inside "$at/$bin/.."
  check "tarball: serves" answers "/$bin/jviewd" --profile-dir /profiles --port auto
  check "tarball: records" inside "/$bin/jview-collect" -q -o /tmp/recorded -- true
}

part_source() {
  packages_ready
  system source
  tar -xf "$(source_archive)" -C "$at/opt"
  cp -r tests/samples "$at/profiles"
  local packages
  packages=$(sed -n '/^packages_build=(/,/)/p' dev | tr -d '()' | sed 's/packages_build=//' | tr '\n' ' ' | sed 's/ python3-venv / /')
  check "source: its packages, without Node" install_deb "$packages"
  cp "$at/etc/resolv.conf" "$at/etc/resolv.conf.kept" && : >"$at/etc/resolv.conf"
  check "source: cmake, offline, without Node" inside unshare -n sh -c \
    'cd /opt/jviewd-* && cmake -S . -B build -G Ninja -DJVIEWD_TESTS=OFF && cmake --build build && cmake --install build --prefix /usr/local'
  check "source: serves" answers jviewd --profile-dir /profiles --port auto
}

# Pythons of this machine that make environments, PATH's and pyenv's: "3.09 PROGRAM", the oldest first.
pythons() {
  local program
  {
    compgen -c python3 | sort -u | xargs which || true
    ! command -v pyenv >/dev/null || ls "$(pyenv root)"/versions/*/bin/python3
  } | grep -E '/python3(\.[0-9]+)?$' | while read -r program; do
    "$program" -c 'import ensurepip, sys; print("%d.%02d" % sys.version_info[:2], sys.executable)' 2>/dev/null || true
  done | awk '$1 >= "3.09"' | sort -u
}

tested() { # TEST: of tests/python, against the wheel of the environment
  env -u JVIEWD -u JVIEWD_DEV -u JVIEWD_BIN -u JVIEWD_JAX_PYTHON -u PYTHONPATH "$environment/bin/python" "tests/python/test_$1.py"
}

pip_install() {
  "$environment/bin/pip" install -q --disable-pip-version-check "$@"
}

with_python() { # VERSION PROGRAM WHEEL PACKAGE...: what the notebook has besides
  environment=$place/python-$1
  rm -rf "$environment"
  check "wheel: Python $1: pip install" sh -c \
    "'$2' -m venv '$environment' && '$environment/bin/pip' install -q --disable-pip-version-check --no-index '$3'"
  check "wheel: Python $1: its calls" tested module
  check "wheel: Python $1: pip install jax" pip_install jax
  check "wheel: Python $1: what JAX $("$environment/bin/python" -c 'import jax; print(jax.__version__)') records" tested capture
  check "wheel: Python $1: pip install nbclient" pip_install nbclient ipykernel "${@:4}"
  check "wheel: Python $1: the last line of a cell" tested notebook
}

part_wheel() {
  packages_ready
  local wheel oldest newest
  wheel=$(ls build/package/jviewd-*.whl)
  system wheel
  cp "$wheel" "$at/tmp/"
  cp -r tests/samples "$at/profiles"
  check "wheel: python" install_deb "python3-venv"
  check "wheel: pip install" inside sh -c "python3 -m venv /venv && /venv/bin/pip install -q --no-index /tmp/$(basename "$wheel")"
  check "wheel: runs" inside /venv/bin/jviewd top step_1000 --profile-dir /profiles
  check "wheel: serves" answers /venv/bin/jviewd --profile-dir /profiles --port auto
  check "wheel: records" inside /venv/bin/jview-collect -q -o /tmp/recorded -- true
  pythons >"$place/pythons"
  oldest=$(head -1 "$place/pythons") newest=$(tail -1 "$place/pythons")
  [ -n "$oldest" ] || { say "skipped wheel: no Python from 3.9 on here makes environments"; return 0; }
  # shellcheck disable=SC2086 # two words each
  with_python $oldest "$wheel"
  [ "${oldest% *}" = "${newest% *}" ] || with_python $newest "$wheel" jupyter-server-proxy
}

# No engine runs here: the Dockerfile's own steps are taken by hand, each stage a system of its own.
part_image() {
  system image-build
  sources_into
  check "image: the build stage's RUN" inside sh -c "cd /src && $(docker/packages/dockerfile.py build run)"
  local built=$at
  system image
  check "image: the last stage's RUN" inside sh -c "$(docker/packages/dockerfile.py final run)"
  docker/packages/dockerfile.py final copy | while read -r from to; do
    mkdir -p "$at$to"
    cp -r "$built$from/." "$at$to/"
  done
  cp -r tests/samples "$at/profiles"
  check "image: its health check's program" inside sh -c "command -v jviewd && jviewd --version --verbose"
  mkdir -p "$at/var/cache/jviewd"
  mount --rbind "$at" "$at" && mounts+=("$at")
  mount --make-rprivate "$at"
  mount -o remount,bind,ro "$at"
  mount -t tmpfs -o uid=10001 tmpfs "$at/var/cache/jviewd" && mounts+=("$at/var/cache/jviewd")
  # shellcheck disable=SC2046 # words of the Dockerfile
  check "image: serves as its user, from a root that is read-only" answers \
    setpriv --reuid "$(docker/packages/dockerfile.py final user)" --regid "$(docker/packages/dockerfile.py final user)" --clear-groups \
    env $(docker/packages/dockerfile.py final env) $(docker/packages/dockerfile.py final entry) --port auto
}

# What is packed, packed once more from its own source archive in another place, by the compiler itself: equal bytes.
part_same() {
  packages_ready
  local again=$place/elsewhere
  rm -rf "$again"
  mkdir -p "$again"
  tar -xf "$(source_archive)" -C "$again"
  again=$(ls -d "$again"/jviewd-*)
  ln -s "$root/web/node_modules" "$again/web/node_modules"
  check "same: packed again elsewhere" env CCACHE_DISABLE=1 GIT_CEILING_DIRECTORIES="$place" "$again/docker/packages/package.sh" "$again/build/package"
  check "same: equal bytes" diff build/package/SHA256SUMS "$again/build/package/SHA256SUMS"
}

. docker/packages/service.sh
. docker/packages/ubuntu.sh

mkdir -p "$place/archives"
exec 9>"$place/lock" # apt's archives and the systems are one's own
flock -n 9 || { say "another fresh is at work in $place"; exit 1; }
base_ready
[ $# -gt 0 ] || set -- readme deb ubuntu debian13 service tarball source wheel image same tests
for part in "$@"; do
  case $part in
    readme | tests | deb | ubuntu | debian13 | service | tarball | source | wheel | image | same) "part_$part" ;;
    tests=*) part=tests part_tests "'${part#tests=}'" ;;
    *) say "fresh knows readme tests deb ubuntu debian13 service tarball source wheel image same, not $part"; exit 2 ;;
  esac
done
unmount_all
[ "$failed" -eq 0 ] || { say "$failed failed"; exit 1; }
say "all is well"
