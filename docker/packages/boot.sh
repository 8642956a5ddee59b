#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# boot.sh ROOT: starts the systemd of a bare system as a machine of its own, until this process is killed.
#
#   cgroup   a new one below this machine's
#   network  loopback alone
#   root     ROOT by pivot_root: who was chrooted gets no user namespace, which units of users need
#   /sys, /proc/sys, /dev   read only; read only; a few harmless devices
#
# Nothing of it is left when it ends, but empty cgroups, which whoever started it removes.
set -euo pipefail
root=$1
groups=$(findmnt -t cgroup2 -n -o TARGET | head -1)
[ -n "$groups" ] || { echo "no cgroup2 is mounted here" >&2; exit 1; }
mkdir -p "$groups/jviewd-fresh"
echo $$ >"$groups/jviewd-fresh/cgroup.procs"

inside='
set -euo pipefail
cd "$1"
mount --bind . .
cd "$1"
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
for device in null zero full random urandom tty; do
  touch dev/$device
  mount --bind /dev/$device dev/$device
done
ln -s /proc/self/fd dev/fd
mkdir dev/pts dev/shm .before
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ln -s pts/ptmx dev/ptmx
pivot_root . .before
umount -l .before
rmdir .before
exec env -i container=chroot TERM=dumb PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  /lib/systemd/systemd --log-target=journal --unit=multi-user.target </dev/null
'
exec unshare --mount --pid --fork --cgroup --ipc --uts --net --kill-child --propagation private bash -c "$inside" - "$root"
