#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The program as docs/install.md's `docker run --read-only --tmpfs` starts it: the Dockerfile's own user, ENV, ENTRYPOINT and
HEALTHCHECK, in a root that is read-only but for one tmpfs, a network of its own. No engine is needed, root is."""

import fcntl
import http.client
import json
import os
import pathlib
import re
import socket
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
from harness import SAMPLES, Skip, main, program  # noqa: E402

DOCKERFILE = pathlib.Path(__file__).resolve().parent.parent.parent / "docker/packages/dockerfile.py"
STATE = "var/cache/jviewd"
SIOCSIFFLAGS, IFF_UP = 0x8914, 1


def of_image(what):
    done = subprocess.run([sys.executable, str(DOCKERFILE), "final", what], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()


def mount(*words):
    subprocess.run(["mount", *map(str, words)], check=True)


def bound(source, target):
    if pathlib.Path(source).is_dir():
        target.mkdir(parents=True)
    else:
        target.parent.mkdir(parents=True, exist_ok=True)
        target.touch()
    mount("--bind", source, target)
    mount("-o", "remount,bind,ro", target)


def image(root):
    """The system's own libraries, the program, the profiles; nothing may be written but below STATE."""
    mount("--make-rprivate", "/")
    mount("-t", "tmpfs", "tmpfs", root)
    for name in ("usr", "etc", "bin", "lib", "lib64"):
        there = pathlib.Path("/", name)
        if there.is_symlink():
            (root / name).symlink_to(os.readlink(there))
        elif there.exists():
            bound(there, root / name)
    bound(program(), root / "opt/bin/jviewd")
    bound(SAMPLES, root / "profiles")
    for name in ("proc", "dev", "tmp", STATE):
        (root / name).mkdir(parents=True)
    for name in ("proc", "dev"):
        mount("--rbind", f"/{name}", root / name)
    mount("-o", "remount,ro", root)
    mount("-t", "tmpfs", "-o", f"noexec,nosuid,nodev,mode=1777,uid={of_image('user')[0]}", "tmpfs", root / STATE)


def loopback():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sH14x", b"lo", IFF_UP))


def asked(path, **headers):
    wire = http.client.HTTPConnection("127.0.0.1", 8080, timeout=60)
    wire.request("GET", path, headers={"Host": "localhost:8080", **headers})
    reply = wire.getresponse()
    return reply.status, reply.headers, reply.read().decode()


def inside(root):
    """In namespaces of its own: prints "it serves" in the end."""
    image(root)
    loopback()
    user = of_image("user")[0]
    within = ["chroot", str(root), "env", "-i", "PATH=/opt/bin:/usr/bin:/bin", f"HOME=/{STATE}", *of_image("env"),
              "setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--no-new-privs"]
    server = subprocess.Popen([*within, *of_image("entry")], stdout=subprocess.PIPE, text=True)
    try:
        code, said = None, ""
        for line in server.stdout:
            said += line
            code = code or re.search(r"/launch/[0-9a-f]+", line)
            if line.strip().startswith("cache "):
                break
        assert code, f"it printed no link: {said}"
        assert asked("/api/runs")[0] == 401
        status, headers, _ = asked(code[0])
        assert status in (302, 303), status
        status, _, body = asked("/api/overview?run=step_1000&wait_ms=60000", Cookie=headers["Set-Cookie"].split(";")[0])
        assert status == 200 and json.loads(body)["sentence"].startswith("A step takes"), (status, body)
        token = next((root / STATE).rglob("token-8080")).read_text()
        assert asked("/api/runs", Authorization=f"Bearer {token}")[0] == 200
        health = subprocess.run([*within, *of_image("health")], capture_output=True, text=True)
        assert health.returncode == 0, health
    finally:
        server.terminate()
        assert server.wait(60) == 0, "it did not end well"
    print("it serves")


def starts_from_a_root_that_is_read_only(place):
    if os.geteuid() != 0:
        raise Skip("needs root")
    if subprocess.run(["unshare", "-m", "-n", "true"], capture_output=True).returncode != 0:
        raise Skip("no namespaces here")
    root = place.dir / "root"
    root.mkdir()
    done = subprocess.run(["unshare", "-m", "-n", sys.executable, __file__, "--inside", str(root)], capture_output=True, text=True,
                          timeout=240)
    assert done.returncode == 0 and "it serves" in done.stdout, done.stdout + done.stderr


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        inside(pathlib.Path(sys.argv[2]))
    else:
        main([starts_from_a_root_that_is_read_only])
