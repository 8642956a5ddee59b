# SPDX-License-Identifier: Apache-2.0
"""OpenStack Swift with its S3 interface, which checks signatures: four programs, one ring, one disk, in a folder of the test."""

import ctypes
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys

PR_SET_PDEATHSIG = 1
SWIFT_CONF = "[swift-hash]\nswift_hash_path_suffix = of-this-test\n"
SERVER = """[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
swift_dir = {folder}
devices = {folder}/devices
mount_check = false
user = {user}
workers = 0
log_name = {name}
{log}
[pipeline:main]
pipeline = {pipeline}
[app:{name}-server]
use = egg:swift#{app}
{settings}"""
FILTERS = """allow_account_management = true
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:gatekeeper]
use = egg:swift#gatekeeper
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_{account}_{user} = {secret} .admin
[filter:slo]
use = egg:swift#slo
"""
PIPELINE = "catch_errors gatekeeper listing_formats s3api tempauth slo proxy-server"
RINGS = """
import sys
from swift.common.ring import RingBuilder
for name, port in (word.split("=") for word in sys.argv[2:]):
    builder = RingBuilder(4, 1, 0)
    builder.add_dev({"id": 0, "region": 1, "zone": 1, "ip": "127.0.0.1", "port": int(port), "device": "sda", "weight": 1.0})
    builder.rebalance()
    builder.get_ring().save(f"{sys.argv[1]}/{name}.ring.gz")
"""
USER, SECRET = "test:tester", "testing+/="


def is_here():
    """Swift, and a folder that keeps attributes of files."""
    return importlib.util.find_spec("swift") is not None and hasattr(os, "setxattr")


def end_with_parent():
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def start(folder, ports):
    """The four programs; ports of the proxy, the accounts, the containers and the objects."""
    folder.mkdir()
    (folder / "devices/sda").mkdir(parents=True)
    (folder / "swift.conf").write_text(SWIFT_CONF)
    account, user = USER.split(":")
    names = ("proxy", "account", "container", "object")
    subprocess.run([sys.executable, "-c", RINGS, str(folder), *(f"{name}={port}" for name, port in zip(names[1:], ports[1:]))], check=True)
    programs = []
    for name, port in zip(names, ports):
        is_proxy = name == "proxy"
        text = SERVER.format(name=name, port=port, folder=folder, user=subprocess.run(["id", "-un"], capture_output=True, text=True).stdout.strip(),
                             app=name, pipeline=PIPELINE if is_proxy else f"{name}-server", log="",
                             settings=FILTERS.format(account=account, user=user, secret=SECRET) if is_proxy else "")
        path = folder / f"{name}.conf"
        path.write_text(text)
        program = pathlib.Path(sys.executable).parent / f"swift-{name}-server"
        log = open(folder / f"{name}.log", "w")
        programs.append(subprocess.Popen([sys.executable, str(program), str(path), "-v"], stdout=log, stderr=log, cwd=folder, preexec_fn=end_with_parent))
    return programs
