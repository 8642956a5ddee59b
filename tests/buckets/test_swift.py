#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second store that speaks S3, by other people than the first: OpenStack Swift, which checks each signature."""

import shutil
import sys

import test_reads as buckets
import test_shared as shared
import test_writes as writing
from test_reads import RANGE, Proxy, Skip, harness, jviewd

import boto3  # noqa: E402
import swift_store  # noqa: E402
from botocore.config import Config  # noqa: E402

STARTED = []


class Swift:
    """The store behind a proxy, and a client of somebody else's."""

    def __init__(self, place):
        ports = [buckets.free_port() for _ in range(4)]
        self.proxy = Proxy(ports[0])
        self.programs = swift_store.start(place.dir / "swift", ports)
        self.client = boto3.client("s3", endpoint_url=f"http://127.0.0.1:{ports[0]}", aws_access_key_id=swift_store.USER, region_name="us-east-1",
                                   aws_secret_access_key=swift_store.SECRET,
                                   config=Config(s3={"addressing_style": "path"}, request_checksum_calculation="when_required"))
        self.env = {"AWS_ACCESS_KEY_ID": swift_store.USER, "AWS_SECRET_ACCESS_KEY": swift_store.SECRET, "AWS_EC2_METADATA_DISABLED": "true",
                    "AWS_ENDPOINT_URL": self.proxy.url}
        harness.until("Swift to start", self.answers, 60)

    def answers(self):
        assert all(program.poll() is None for program in self.programs), "a program of Swift ended"
        try:
            return self.client.list_buckets()
        except Exception:
            return None

    def put(self, bucket, key, data):
        self.client.put_object(Bucket=bucket, Key=key, Body=data)

    def get(self, bucket, key):
        return self.client.get_object(Bucket=bucket, Key=key)["Body"].read()

    def keys(self, bucket):
        return [found["Key"] for found in self.client.list_objects_v2(Bucket=bucket).get("Contents", [])]

    def stop(self):
        for program in self.programs:
            program.terminate()
        for program in self.programs:
            program.wait(30)


def swift(place):
    """The one of this script, with nothing asked yet; it ends with the script."""
    if not swift_store.is_here():
        raise Skip("this Python has no swift: ./dev setup gets it where there is a network")
    if not STARTED:
        STARTED.append(Swift(KEEPER))
    STARTED[0].proxy.forget()
    return STARTED[0]


def every_verb_answers_as_for_a_directory(place):
    store = swift(place)
    store.client.create_bucket(Bucket="team")
    tree = buckets.samples(place)
    for path in tree.rglob("*"):
        if path.is_file():
            store.put("team", "runs/" + str(path.relative_to(tree)), path.read_bytes())
    buckets.same_as_directory(place, "s3://team/runs", store.env)
    wrong = jviewd(place, "list", "s3://team/runs", env={**store.env, "AWS_SECRET_ACCESS_KEY": "another"}, cache="wrong")
    assert wrong.returncode == 4 and "SignatureDoesNotMatch" in wrong.stderr and "another" not in wrong.stderr, wrong


def odd_names_and_more_than_a_page(place):
    store = swift(place)
    store.client.create_bucket(Bucket="odd")
    profile = next((harness.SAMPLES / "step_500").rglob("*.xplane.pb")).read_bytes()
    names = ["a b+c%20d/run ü.xplane.pb", "100%/x+y.xplane.pb", "plain/host.xplane.pb", "q?x=1&y#z/h.xplane.pb"]
    for key in names:
        store.put("odd", key, profile)
    for i in range(1005):
        store.put("odd", f"notes/{i:04}.txt", b"x")
    runs = buckets.json.loads(jviewd(place, "list", "s3://odd", "--format", "json", env=store.env, cache="odd").stdout)["runs"]
    assert len(runs) == len(names) and len(store.proxy.asked) == 2, (runs, store.proxy.asked)
    for run in runs:
        done = jviewd(place, "top", run["name"], "--profile-dir", "s3://odd", env=store.env, cache="odd")
        assert done.returncode == 0 and "fusion" in done.stdout, (run["name"], done)


def ranges_of_one_version(place):
    """Of a file of several ranges: all its bytes, or none where it was replaced between two of them."""
    store = swift(place)
    store.client.create_bucket(Bucket="big")
    data = buckets.large(place)
    store.put("big", "host.xplane.pb", data)
    good = jviewd(place, "top", place.dir / "big" / "host.xplane.pb", cache="local")
    done = jviewd(place, "top", "s3://big/host.xplane.pb", env=store.env, cache="big")
    assert done.returncode == 0 and done.stdout == good.stdout and len(store.proxy.bytes_asked()) == -(-len(data) // RANGE), done
    replaced = []

    def replace(handler, _):
        if "Range" in handler.headers and not handler.headers["Range"].startswith("bytes=0-") and not replaced:
            replaced.append(1)
            store.put("big", "host.xplane.pb", data[:-1000])
        return False

    store.proxy.fault = replace
    done = jviewd(place, "top", "s3://big/host.xplane.pb", env=store.env, cache="replaced")
    assert replaced and not list((place.dir / "replaced" / "downloads").rglob("*.pb")), done


def what_is_written(place):
    """Whole, in parts, captured, deleted; and an upload that breaks leaves nothing."""
    if shutil.which("node") is None:
        raise Skip("no node to play the profiler server")
    store = swift(place)
    store.client.create_bucket(Bucket="written")
    writing.writes(place, "s3://written", store.env, lambda key: store.get("written", key))
    assert store.keys("written") == ["slices/all of it.csv"], store.keys("written")

    def forbids(handler, _):
        if handler.command == "PUT" and "partNumber=2" in handler.path:
            handler.reply(403, [], b"<Error><Code>AccessDenied</Code></Error>")
            return True
        return False

    store.proxy.fault = forbids
    done = jviewd(place, "extract", writing.large(place), "--format", "csv", "-o", "s3://written/x.csv", env=store.env, cache="local")
    assert done.returncode == 4 and "s3:PutObject" in done.stderr, done
    assert store.keys("written") == ["slices/all of it.csv"] and not store.client.list_multipart_uploads(Bucket="written").get("Uploads"), "parts stay"


def indexes_and_tables_are_shared(place):
    """Names with `=` and a second opinion on "only where there is none": what this store does without that condition is told as what it is."""
    store = swift(place)
    for name in ("profiles", "shared", "ware"):
        store.client.create_bucket(Bucket=name)
    tree = buckets.samples(place)
    for path in tree.rglob("*"):
        if path.is_file():
            store.put("profiles", "runs/" + str(path.relative_to(tree)), path.read_bytes())
    shared.shares(place, "s3://profiles/runs", "s3://shared/index", store.env)
    shared.exported(place, "s3://ware/house", store.env, lambda: [key.removeprefix("house/") for key in store.keys("ware")],
                    lambda name: store.get("ware", "house/" + name))


if __name__ == "__main__":
    KEEPER = harness.Place()
    try:
        harness.main([every_verb_answers_as_for_a_directory, odd_names_and_more_than_a_page, ranges_of_one_version, what_is_written,
                      indexes_and_tables_are_shared])
    finally:
        for started in STARTED:
            started.stop()
        KEEPER.close()
