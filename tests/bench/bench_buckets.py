#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a bucket costs beside the same file on disk: moto behind a proxy that adds 20 ms to each request and hands on 200 MB/s at most.

    tests/bench/bench_buckets.py [EVENTS]        name value unit, a line each; the store and the proxy share the processors with jviewd
    tests/bench/bench_buckets.py --beside FILE   beside xprof-rs (as first.py has it): from exec to the overview of this profile, in turn,
                                                 at 200 and at 25 MB/s; seconds, requests, bytes
"""

import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "buckets"))
import test_reads as buckets  # noqa: E402
import boto3  # noqa: E402
import first  # noqa: E402
import harness  # noqa: E402

DELAY_S, BYTES_PER_S = 0.02, 200e6


class Slow:
    """The store's answers, 20 ms late and no faster than 200 MB/s together, unless another rate is set."""

    def __init__(self, proxy):
        self.lock, self.free, self.rate, self.bytes = threading.Lock(), 0.0, BYTES_PER_S, 0
        forward = proxy.forward

        def late(handler, body):
            time.sleep(DELAY_S)
            reply = forward(handler, body)
            with self.lock:
                self.bytes += len(reply[2])
                self.free = max(self.free, time.monotonic()) + len(reply[2]) / self.rate
                until = self.free
            time.sleep(max(0, until - time.monotonic()))
            return reply
        proxy.forward = late


def timed(*words, **options):
    begin = time.monotonic()
    done = buckets.jviewd(*words, **options)
    took = time.monotonic() - begin
    assert done.returncode == 0, done
    return took


def bytes_alone(url, size):
    """Eight ranges of 8 MiB at a time, by curl."""
    ranges = [f"{at}-{min(at + buckets.RANGE, size) - 1}" for at in range(0, size, buckets.RANGE)]
    words = ["curl", "-sSf", "--parallel", "--parallel-immediate", "--parallel-max", "8"]
    for one in ranges:
        words += ([] if words[-1] == "8" else ["--next", "-sSf"]) + ["-r", one, "-o", "/dev/null", url]
    begin = time.monotonic()
    subprocess.run(words, check=True, stderr=subprocess.DEVNULL)
    return time.monotonic() - begin


def beside(profile):
    """Both tools in turn, three times; the best of each."""
    program = first.rival()
    if program is None:
        return
    place = harness.Place()
    s3 = buckets.store(place)
    slow = Slow(s3.proxy)
    logs = place.dir / "logs/plugins/profile/one"
    logs.mkdir(parents=True)
    shutil.copy(profile, logs / "host.xplane.pb")
    harness.age(logs / "host.xplane.pb")
    s3.bucket("bench")
    s3.put_tree("bench", place.dir / "logs")
    env = {**os.environ, **s3.env, "AWS_ALLOW_HTTP": "true", "AWS_REGION": "us-east-1"}
    print(f"file {pathlib.Path(profile).stat().st_size / 1e6:.1f} MB", flush=True)
    asks = (("jviewd", first.ask_jviewd), ("xprof-rs", lambda *words: first.ask_rival(program, *words)))
    for where, rate in (("directory", 0), ("s3://bench", 200e6), ("s3://bench", 25e6)):
        best = {}
        slow.rate = rate or BYTES_PER_S
        for _ in range(3):
            for name, ask in asks:
                s3.proxy.forget()
                slow.bytes = 0
                home = str(place.dir / "home")  # a new one each turn: xprof-rs keeps copies below it
                shutil.rmtree(home, ignore_errors=True)
                os.mkdir(home)
                fresh = {**env, "HOME": home, "XDG_CACHE_HOME": home, "TMPDIR": home}
                wall, cpu, peak = ask(place.dir, "overview", *((where, fresh) if rate else ()))
                best[name] = min(best.get(name, (wall + 1,)), (wall, cpu, peak, len(s3.proxy.asked), slow.bytes))
        for name, (wall, cpu, peak, requests, got) in best.items():
            print(f"{where}{f' at {rate / 1e6:.0f} MB/s' if rate else ''} {name} {wall:.2f} s, {cpu:.2f} s of processors, {peak / 2**20:.0f} MiB, "
                  f"{requests} requests, {got / 1e6:.1f} MB", flush=True)
    place.close()


def main():
    if sys.argv[1:2] == ["--beside"]:
        beside(sys.argv[2])
        return
    place = harness.Place()
    s3 = buckets.store(place)
    Slow(s3.proxy)
    path = place.dir / "big/run/plugins/profile/2026_11_21_09_30_00/host.xplane.pb"
    harness.make_profile(path, events=int(sys.argv[1]) if len(sys.argv) > 1 else 2_400_000)
    size = path.stat().st_size
    s3.bucket("bench")
    s3.put_tree("bench", place.dir / "big", "")
    print(f"file {size / 1e6:.1f} MB", flush=True)
    local = min(timed(place, "overview", place.dir / "big/run", cache=f"local{i}") for i in range(3))
    key = str(path.relative_to(place.dir / "big"))
    client = boto3.client("s3", endpoint_url=s3.proxy.url, aws_access_key_id=buckets.KEY, aws_secret_access_key=buckets.SECRET, region_name="us-east-1")
    signed = client.generate_presigned_url("get_object", Params={"Bucket": "bench", "Key": key})
    alone = min(bytes_alone(signed, size) for _ in range(3))
    s3.proxy.forget()
    there = min(timed(place, "overview", "s3://bench/run", env=s3.env, cache=f"there{i}") for i in range(3))
    print(f"local {local:.2f} s\nbytes_alone {alone:.2f} s\nbucket {there:.2f} s\nbucket/(local+bytes) {there / (local + alone):.2f}", flush=True)
    print(f"requests {len(s3.proxy.asked) / 3:.0f}", flush=True)
    s3.proxy.forget()
    again = min(timed(place, "overview", "s3://bench/run", env=s3.env, cache="there0") for _ in range(3))
    print(f"again {again:.2f} s, {len(s3.proxy.bytes_asked())} downloads", flush=True)
    s3.bucket("many")
    for i in range(10000):
        s3.put("many", f"run_{i:05}/plugins/profile/2026_11_21_13_08_50/host.xplane.pb", b"x")
    s3.proxy.forget()
    for name in ("first", "again"):
        took = timed(place, "list", "s3://many", "--limit", "100", env=s3.env, cache="many")
        print(f"list_10000_{name} {took:.2f} s, {len(s3.proxy.asked)} requests", flush=True)
        s3.proxy.forget()
    begin = time.monotonic()
    client.list_objects_v2(Bucket="many", MaxKeys=1000)
    print(f"one_page_by_boto3 {time.monotonic() - begin:.2f} s", flush=True)
    server = place.serve(root="s3://bench", env=s3.env)
    server.until_scanned()
    server.top("run", wait_ms=60000)
    memory = pathlib.Path(f"/proc/{server.process.pid}/smaps_rollup").read_text()
    private = sum(int(line.split()[1]) for line in memory.splitlines() if line.startswith(("Private_Clean", "Private_Dirty")))
    print(f"server_private {private / 1024:.0f} MiB", flush=True)
    server.stop()
    place.close()


if __name__ == "__main__":
    main()
