# SPDX-License-Identifier: Apache-2.0
# service.sh, a part of fresh.sh: the units of the Debian package in a system whose own systemd runs.
#
#   booted COMMAND...        in that system, as root
#   of_user NAME COMMAND...  systemctl of that user's own manager

booted() {
  nsenter -t "$systemd" -m -p -C -i -u -n env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin TERM=dumb "$@"
}

of_user() {
  booted systemctl --user -M "$1@" "${@:2}"
}

# Waits until COMMAND holds, a minute at most.
until_holds() {
  for _ in $(seq 1 120); do
    "$@" >/dev/null 2>&1 && return 0
    sleep 0.5
  done
  "$@"
}

service_end() {
  [ -z "${machine:-}" ] || { kill -KILL "$machine" && wait "$machine"; } 2>/dev/null || true
  machine=""
  until_holds sh -c "! grep -qs . $(findmnt -t cgroup2 -n -o TARGET | head -1)/jviewd-fresh/cgroup.procs" || true
  find "$(findmnt -t cgroup2 -n -o TARGET | head -1)" -depth -type d -path '*/jviewd-fresh*' -exec rmdir {} + 2>/dev/null || true
}

is_up() {
  systemd=$(pgrep -P "$machine" | head -1)
  [ -n "$systemd" ] && booted systemctl is-system-running | grep -qE 'running|degraded'
}

service_begin() {
  docker/packages/boot.sh "$at" >"$place/boot.log" 2>&1 &
  machine=$!
  trap 'service_end; unmount_all' EXIT
  until_holds is_up
}

# The server at ADDRESS of that system read a profile, shows its page, and takes a note.
reads_and_writes() { # ADDRESS [TOKEN]
  nsenter -t "$systemd" -n python3 - "$@" <<'PY'
import http.client, json, ssl, sys, urllib.parse
base = urllib.parse.urlsplit(sys.argv[1])
token = {"Authorization": f"Bearer {sys.argv[2]}"} if sys.argv[2:] else {}

def ask(path, body=None):
    """By the address that this machine knows, under the name that was asked for."""
    wire = http.client.HTTPConnection("127.0.0.1", base.port, timeout=60)
    if base.scheme == "https":
        wire = http.client.HTTPSConnection("127.0.0.1", 443, timeout=60, context=ssl._create_unverified_context())
    headers = {**token, "Host": base.netloc, "Content-Type": "application/json", "Origin": f"{base.scheme}://{base.netloc}"}
    wire.request("GET" if body is None else "POST", base.path + path, body and json.dumps(body), headers)
    reply = wire.getresponse()
    text = reply.read().decode()
    assert reply.status == 200, (path, reply.status, text)
    return text

assert "<script" in ask("")
assert json.loads(ask("api/overview?run=step_1000"))["sentence"].startswith("A step takes")
ask("api/notes", {"run": "step_1000", "text": "kept"})
assert "kept" in ask("api/notes?run=step_1000")
PY
}

# A user with profiles at home, a config and a manager of its own.
user_ready() { # NAME PORT WORD...: lines of the config
  inside useradd -m "$1"
  mkdir -p "$at/home/$1/runs" "$at/home/$1/.config/jviewd"
  cp -r "$at/profiles" "$at/home/$1/runs/profiles"
  printf '%s\n' "profile-dir = /home/$1/runs/profiles" "port = $2" "${@:3}" >"$at/home/$1/.config/jviewd/config"
  inside chown -R "$1:$1" "/home/$1"
  chmod 700 "$at/home/$1"
}

started() { # NAME: the user's unit, from nothing
  booted loginctl enable-linger "$1" && until_holds of_user "$1" is-active default.target && of_user "$1" start jviewd
}

main_of() { # [systemctl's words]: the number of the unit's process, 0 where it has none
  booted systemctl "$@" show -p MainPID --value jviewd
}

# What the unit's process can do: nothing as root, nothing in its home, and it knows no user but its own.
confined() { # NAME
  booted sh -euc 'grep -E "^Cap(Prm|Eff|Bnd):.0+$" /proc/$1/status | wc -l | grep -qx 3
    grep -c . /proc/$1/uid_map | grep -qx 1
    if nsenter -t "$1" -m touch "/home/$2/made"; then exit 1; fi
    if test -e "/home/$2/made"; then exit 1; fi' - "$(main_of --user -M "$1@")" "$1"
}

same_found() { # NAME PORT: a second start tells the first one's address
  booted setpriv --reuid "$1" --regid "$1" --clear-groups env HOME="/home/$1" XDG_RUNTIME_DIR="/run/user/$(inside id -u "$1")" \
    jviewd --profile-dir "/home/$1/runs/profiles" --port "$2" | grep 'shows this already'
}

refused_without_namespaces() {
  started "$1"
  of_user "$1" show -p ExecMainStatus --value jviewd | grep -x 217
}

relaxed() { # NAME: by the lines that the file shows
  local conf=/usr/share/doc/jviewd/no-namespaces.conf
  booted setpriv --reuid "$1" --regid "$1" --clear-groups env HOME="/home/$1" sh -ec \
    "$(sed -n 's/^#   \(mkdir\|cp\)/\1/p' "$at$conf")"
  of_user "$1" daemon-reload && of_user "$1" restart jviewd
}

ended() { # NAME...
  local name
  for name in "$@"; do
    of_user "$name" stop jviewd
    of_user "$name" show -p Result --value jviewd | grep -x success || return 1
  done
}

upgrade_restarts() {
  local before
  before=$(main_of)
  booted env DEBIAN_FRONTEND=noninteractive dpkg -i --force-confold /srv/new.deb && until_holds booted systemctl is-active jviewd &&
    [ -n "$before" ] && [ "$before" != "$(main_of)" ]
}

purge_stops() {
  booted env DEBIAN_FRONTEND=noninteractive dpkg --purge jviewd && ! booted systemctl is-active jviewd &&
    ! booted ls -d /var/cache/private/jviewd /var/lib/private/jviewd /var/cache/jviewd /var/lib/jviewd 2>/dev/null
}

# docker/compose.yaml without its engine: the same words to jviewd, docker/nginx.conf in front. The names are
# those of compose's network; Debian's nginx is older than nginx:stable, and knows no "http2 on".
proxied() {
  printf '127.0.0.1 localhost jviewd box.example\n' >"$at/etc/hosts"
  mkdir -p "$at/etc/nginx/tls"
  rm -f "$at/etc/nginx/sites-enabled/default"
  sed '/http2 on/d' docker/nginx.conf >"$at/etc/nginx/conf.d/default.conf"
  inside openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=box.example \
    -keyout /etc/nginx/tls/privkey.pem -out /etc/nginx/tls/fullchain.pem
}

behind_nginx() {
  local words
  words=$(sed -n 's/^ENTRYPOINT \["jviewd", \(.*\)\]/\1/p' docker/Dockerfile | tr -d '",')
  # shellcheck disable=SC2086,SC2046 # words of a command line
  booted systemd-run --unit behind --setenv HOME=/root --setenv XDG_RUNTIME_DIR=/run jviewd ${words/--profile-dir \/profiles/} --profile-dir /profiles --port 8080 \
    $(sed -n 's/^ *command: \[\(.*\)\]/\1/p' docker/compose.yaml | tr -d '",' | sed 's/\${HOST[^}]*}/box.example/') &&
    booted systemctl restart nginx && until_holds test -s "$at/run/jviewd/token-8080" -o -s "/proc/$systemd/root/run/jviewd/token-8080" &&
    until_holds reads_and_writes https://box.example/jviewd/ "$(cat "/proc/$systemd/root/run/jviewd/token-8080")"
}

part_service() {
  packages_ready
  local deb
  deb=$(ls build/package/jviewd_*.deb)
  system service
  mkdir -p "$at/srv"
  cp "$deb" "$at/srv/new.deb"
  earlier "$deb" "$at/srv/old.deb"
  cp -r tests/samples "$at/profiles"
  cp -r tests/samples "$at/srv/profiles"
  check "service: systemd, and the package" install_deb "systemd systemd-sysv libpam-systemd dbus dbus-user-session nginx-light openssl /srv/old.deb"
  user_ready ann 8090
  user_ready bob 8091 "auth = token"
  mkdir -p "$at/etc/systemd/system/user@$(inside id -u bob).service.d"
  printf '[Service]\nRestrictNamespaces=~user\n' >"$at/etc/systemd/system/user@$(inside id -u bob).service.d/none.conf"
  check "service: a certificate" proxied
  unmount_all
  if ! service_begin; then
    say "not tried service: no systemd could be started here: $(tail -1 "$place/boot.log")"
    service_end
    return 0
  fi
  check "service: the machine's unit starts" booted systemctl start jviewd
  check "service: it reads and writes" reads_and_writes http://localhost:8080/
  check "service: an upgrade restarts it" upgrade_restarts
  check "service: a user's unit starts" started ann
  check "service: it reads and writes" reads_and_writes http://localhost:8090/
  check "service: it is confined" confined ann
  check "service: who starts a second one is told of it" same_found ann 8090
  check "service: where users get no namespaces it says 217/USER" refused_without_namespaces bob
  check "service: and no-namespaces.conf lets it start" relaxed bob
  check "service: with a token" reads_and_writes http://localhost:8091/ "$(cat "/proc/$systemd/root/run/user/$(inside id -u bob)/jviewd/token-8091")"
  check "service: both end when told" ended ann bob
  booted systemctl stop jviewd
  check "service: as docker/compose.yaml starts it, behind docker/nginx.conf" behind_nginx
  booted systemctl stop behind
  booted systemctl start jviewd
  check "service: purge stops it and leaves nothing" purge_stops
  service_end
}
