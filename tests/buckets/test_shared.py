#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What many machines share by a bucket: indexes that one made and others open by range, and the tables of a warehouse. Two writers, a store that
forbids, objects that are damaged, uploads that break; and the commands of the documentation, word by word."""

import json
import os
import re
import shutil
import subprocess
import threading
import urllib.parse
import urllib.request

import test_reads as buckets
import test_writes as writing
from test_reads import RANGE, SECRET, Skip, harness, jviewd, store
from test_writes import keys

TOP = harness.TESTS.parent


def command(place, *words, env=None, cache="cache"):
    """A verb that has no directory of data."""
    return subprocess.run([harness.program(), *map(str, words), "--cache-dir", str(place.dir / cache)], capture_output=True, text=True, timeout=120,
                          env={**os.environ, "HOME": str(place.dir / "home"), **(env or {})})


def index(place, profiles, shared, env, cache="worker", code=0):
    done = command(place, "index", profiles, "--index-store", shared, env=env, cache=cache)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


def overview(place, profiles, shared, env, cache, run="step_1000"):
    words = ["--index-store", shared] if shared else []
    done = jviewd(place, "overview", run, "--profile-dir", profiles, "--format", "json", *words, env=env, cache=cache)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done


NO_CHILDREN = "#include <errno.h>\nint posix_spawn(void) { return EPERM; }\nint posix_spawnp(void) { return EPERM; }\n"


def without_children(place):
    """An environment in which no program is started: the indexer is one."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise Skip("there is no compiler")
    (place.dir / "none.c").write_text(NO_CHILDREN)
    subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", place.dir / "none.so", place.dir / "none.c"], check=True)
    return {"LD_PRELOAD": str(place.dir / "none.so"), "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}


def shares(place, profiles, shared, env):
    """A worker indexes; another machine opens that, with no decoder, and without a byte of the profile."""
    wanted = overview(place, profiles, None, env, "alone").stdout
    told = index(place, profiles, shared, env).stderr
    assert f"2 runs are indexed in {shared}" in told, told
    there = overview(place, profiles, shared, {**env, **without_children(place)}, "reader")
    assert there.stdout == wanted and there.stderr == "", there
    assert not list((place.dir / "reader" / "downloads").rglob("*.pb")), "the profile was downloaded"
    again = index(place, profiles, shared, env, cache="second")
    assert "2 runs are indexed" in again.stderr, again


def indexes_that_a_bucket_shares(place):
    s3 = store(place)
    s3.bucket("shared")
    shares(place, "s3://team/runs", "s3://shared/index", s3.env)
    puts = [(path, headers) for method, path, headers in s3.proxy.asked if method == "PUT"]
    assert puts and all(headers.get("If-None-Match") == "*" for _, headers in puts), puts
    lists = [path for method, path, _ in s3.proxy.asked if "list-type" in path and "prefix=index%2F" in path]
    print(f"# {len(lists)} lists and {len(puts)} objects for two indexes that were written, asked for again, and opened once")
    names = keys(s3, "shared")
    kinds = sorted(re.sub(r"[0-9a-f]{32}", "X", re.sub(r"/[0-9a-f]{2}/", "/xx/", re.sub(r"/\d+\.\d+\.\d+/", "/V/", name))) for name in names)
    assert kinds == sorted(["index/V/xx/X.X.seg", "index/V/xx/X.X.attr", "index/V/xx/X.known", "index/seen/xx/X.X"] * 2), kinds
    s3.proxy.forget()
    overview(place, "s3://team/runs", "s3://shared/index", s3.env, "counted")
    asked = [path.split("?")[0] for _, path, _ in s3.proxy.asked]
    assert len(asked) == 6 and not any("/team/runs/" in path for path in asked), asked  # three lists, what is known, two files


def a_directory_of_profiles_and_a_bucket_of_indexes(place):
    s3 = store(place)
    s3.bucket("mixed")
    tree = buckets.samples(place)
    index(place, tree, "s3://mixed/index", s3.env)
    s3.proxy.forget()
    wanted = overview(place, tree, None, s3.env, "alone").stdout
    assert overview(place, tree, "s3://mixed/index", {**s3.env, **without_children(place)}, "reader").stdout == wanted
    assert not any("/seen/" in key for key in keys(s3, "mixed")), keys(s3, "mixed")
    elsewhere = overview(place, "s3://team/runs", None, s3.env, "alone").stdout
    both = index(place, "s3://team/runs", place.dir / "folder", s3.env, cache="into-folder")  # and the other way round
    assert "2 runs are indexed" in both.stderr and len(list((place.dir / "folder/seen").rglob("*.*"))) == 2, both
    assert overview(place, "s3://team/runs", place.dir / "folder", {**s3.env, **without_children(place)}, "reader2").stdout == elsewhere


def two_writers_of_one_content(place):
    s3 = store(place)
    s3.bucket("two")
    meet = threading.Barrier(2)
    waited = []

    def together(handler, _):  # the first put of each waits for that of the other
        if handler.command == "PUT" and len(waited) < 2:
            waited.append(1)
            meet.wait(60)
        return False

    s3.proxy.fault = together
    workers = [threading.Thread(target=index, args=(place, "s3://team/runs", "s3://two/index", s3.env, f"writer-{number}")) for number in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(waited) == 2 and len([key for key in keys(s3, "two") if key.endswith(".known")]) == 2, keys(s3, "two")
    refused = len(keys(s3, "two")) < len([path for method, path, _ in s3.proxy.asked if method == "PUT"])
    assert refused, "no name was asked for twice"
    s3.proxy.forget()
    overview(place, "s3://team/runs", "s3://two/index", {**s3.env, **without_children(place)}, "reader")


def what_is_damaged_is_not_used(place):
    s3 = store(place)
    s3.bucket("damaged")
    index(place, "s3://team/runs", "s3://damaged/index", s3.env)
    wanted = overview(place, "s3://team/runs", None, s3.env, "alone").stdout
    for suffix in (".seg", ".attr", ".known"):
        for key in [key for key in keys(s3, "damaged") if key.endswith(suffix)]:
            whole = s3.backend.get_object("damaged", key).value
            for number, broken in enumerate((whole[: len(whole) // 2], whole[:60] + bytes([whole[60] ^ 1]) + whole[61:], b"")):
                s3.put("damaged", key, broken)
                for run in ("step_1000", "step_500"):
                    done = overview(place, "s3://team/runs", "s3://damaged/index", s3.env, f"cache{suffix}{number}{key[-40:-36]}", run=run)
                    assert run != "step_1000" or done.stdout == wanted, (key, done)
            s3.put("damaged", key, whole)
    key = next(key for key in keys(s3, "damaged") if "/seen/" in key)
    s3.put("damaged", key[:-32] + "0" * 32, b"")  # who says that another content is there
    assert overview(place, "s3://team/runs", "s3://damaged/index", s3.env, "another").stdout == wanted


def a_store_that_forbids_writing(place):
    s3 = store(place)
    s3.bucket("locked")

    def locked(handler, _):
        if handler.command in ("PUT", "POST"):
            handler.reply(403, [], b"<Error><Code>AccessDenied</Code></Error>")
        return handler.command in ("PUT", "POST")

    s3.proxy.fault = locked
    done = index(place, "s3://team/runs", "s3://locked/index", s3.env, code=4)
    assert "0 runs are indexed in s3://locked/index; the indexes of 2 could not be written there" in done.stderr, done
    assert done.stderr.count("s3:PutObject") == 1 and SECRET not in done.stderr, done
    done = overview(place, "s3://team/runs", "s3://locked/index", s3.env, "reader")
    assert "are not shared" in done.stderr and len(done.stderr.strip().splitlines()) == 1, done
    assert not keys(s3, "locked")
    s3.proxy.fault = None  # the same worker, when it may: nothing is decoded again
    index(place, "s3://team/runs", "s3://locked/index", {**s3.env, **without_children(place)})
    assert len([key for key in keys(s3, "locked") if key.endswith(".known")]) == 2


def a_store_that_does_not_answer(place):
    """Runs are read all the same; the store is asked once a minute."""
    s3 = store(place)
    tree = buckets.samples(place)
    tried = []

    def silent(handler, _):
        if "/quiet" in handler.path:
            tried.append(handler.path)
            handler.reply(403, [], b"<Error><Code>AccessDenied</Code></Error>")
        return "/quiet" in handler.path

    s3.proxy.fault = silent
    server = place.serve("--index-store", "s3://quiet/index", root=tree, env={**s3.env, "HOME": str(place.dir)})
    server.until_settled()
    assert {run["state"] for run in server.runs().values()} == {"ready"}
    assert len(tried) == 1, tried
    assert "indexed on this machine instead" in server.words() and SECRET not in server.words(), server.words()
    assert server.stop() == 0
    for shared, code, part in (("s3://none/index", 0, 'no bucket "none"'), ("ftp://x/y", 2, "neither"), ("https://host.example/x", 2, "web address")):
        done = jviewd(place, "top", tree / "step_500", "--index-store", shared, env=s3.env, cache=f"refused-{code}-{shared[:3]}")
        assert done.returncode == code and part in done.stderr and len(done.stderr.strip().splitlines()) == 1, (shared, done)


def an_upload_that_breaks(place):
    """Of an index of several parts: nothing says that it is there, and the next worker brings it."""
    s3 = store(place)
    s3.bucket("broken")
    s3.bucket("wide")
    s3.put("wide", "run/host.xplane.pb", writing.large(place).read_bytes())

    def forbids(handler, _):
        if handler.command == "PUT" and "partNumber=2" in handler.path:
            handler.reply(403, [], b"<Error><Code>AccessDenied</Code></Error>")
            return True
        return False

    s3.proxy.fault = forbids
    done = index(place, "s3://wide", "s3://broken/index", s3.env, code=4)
    assert "the index of 1 could not be written there" in done.stderr, done
    assert not keys(s3, "broken") and not s3.backend.buckets["broken"].multiparts, "something of it stays in the store"
    s3.proxy.forget()
    index(place, "s3://wide", "s3://broken/index", s3.env, cache="next")
    segment = [key for key in keys(s3, "broken") if key.endswith(".seg")]
    assert len(segment) == 1 and len(s3.backend.get_object("broken", segment[0]).value) > RANGE
    s3.proxy.forget()
    overview(place, "s3://wide", "s3://broken/index", {**s3.env, **without_children(place)}, "reader", run="run")
    ranges = [path for path in s3.proxy.bytes_asked() if path.split("?")[0].endswith(".seg")]
    assert len(ranges) == -(-len(s3.backend.get_object("broken", segment[0]).value) // RANGE) > 1, s3.proxy.asked


def prune_tells_what_no_run_needs(place):
    s3 = store(place)
    s3.bucket("prune")
    tree = place.dir / "pruned"
    shutil.copytree(buckets.samples(place), tree)
    s3.put_tree("prune", tree, "runs/")
    index(place, "s3://prune/runs", "s3://prune/index", s3.env)
    index(place, tree, "s3://prune/index", s3.env)
    s3.put("prune", "index/1.1.1/ab/" + "ab" * 16 + ".known", b"x")
    said = jviewd(place, "prune", tree, "--index-store", "s3://prune/index", env=s3.env, cache="worker")
    assert said.returncode == 0 and "1 of 3 indexes" in said.stdout and "1 of other versions" in said.stdout, said
    shutil.rmtree(tree / "step_500")
    done = jviewd(place, "prune", tree, "--index-store", "s3://prune/index", "--delete", env=s3.env, cache="worker")
    assert done.returncode == 0 and "2 of 3 indexes" in done.stdout and "deleted" in done.stdout, done
    kept = [key for key in keys(s3, "prune") if key.startswith("index/")]
    assert len(kept) == 4 and sum("/seen/" in key for key in kept) == 1, kept


def export(place, profiles, to, env, *words, cache="export", code=0):
    done = command(place, "export", profiles, "--to", to, "--format", "jsonl", *words, env=env, cache=cache)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


def files_below(directory):
    return {str(path.relative_to(directory)): path.read_bytes() for path in directory.rglob("*") if path.is_file()}


def exported(place, to, env, names, read):
    """The tables in a bucket are those of a directory; again, nothing is written."""
    tree = buckets.samples(place)
    if not (place.dir / "house").exists():
        export(place, tree, place.dir / "house", env)
    wanted = files_below(place.dir / "house")
    done = export(place, tree, to, env)
    assert re.search(rf"\d+ files of 2 runs written to {to}", done.stderr), done
    assert sorted(names()) == sorted(wanted) and len(wanted) > 20, (sorted(names()), sorted(wanted))
    for name, data in wanted.items():
        assert read(name) == data, name
    done = export(place, tree, to, env)
    assert "0 files of 0 runs" in done.stderr and "2 runs were there already" in done.stderr, done


def tables_in_a_bucket(place):
    s3 = store(place)
    s3.bucket("ware")
    exported(place, "s3://ware/house", s3.env, lambda: [key.removeprefix("house/") for key in keys(s3, "ware")],
             lambda name: s3.backend.get_object("ware", "house/" + name).value)
    asked = [(method, path) for method, path, _ in s3.proxy.asked]
    assert len(asked) - max(i for i, (method, _) in enumerate(asked) if method == "PUT") - 1 == 4, asked[-8:]  # a list, the version, two notes
    tables = [headers for method, path, headers in s3.proxy.asked if method == "PUT" and "day=" in path.replace("%3D", "=")]
    assert tables and all(headers.get("If-None-Match") == "*" for headers in tables), tables
    assert not [path for path in (place.dir / "export").rglob("*") if path.is_file() and "jviewd-" in path.name], "a file stays in the cache"
    done = export(place, buckets.samples(place), "s3://ware/house", s3.env, "--replace")
    assert "files of 2 runs written" in done.stderr and " 0 files" not in done.stderr, done
    s3.put("ware", "house/_jviewd.json", b'{"version": 99}\n')
    done = export(place, buckets.samples(place), "s3://ware/house", s3.env, code=2)
    assert "version 99" in done.stderr, done


def two_exports_at_once(place):
    """Each takes a part, or both take all: nothing is doubled."""
    s3 = store(place)
    tree = buckets.samples(place)
    export(place, tree, place.dir / "alone", s3.env)
    for bucket, words in (("parts", (["--part", "1/2"], ["--part", "2/2"])), ("same", ([], []))):
        s3.bucket(bucket)
        both = [threading.Thread(target=export, args=(place, "s3://team/runs", f"s3://{bucket}/x", s3.env, *part), kwargs={"cache": f"{bucket}-{number}"})
                for number, part in enumerate(words)]
        for one in both:
            one.start()
        for one in both:
            one.join()
        there = {key.removeprefix("x/"): s3.backend.get_object(bucket, key).value for key in keys(s3, bucket)}
        assert sorted(there) == sorted(files_below(place.dir / "alone")), (bucket, sorted(there))


def an_export_that_breaks(place):
    """A refusal in the middle is one sentence; what was written is whole, and the next export goes on."""
    s3 = store(place)
    s3.bucket("half")
    tree = buckets.samples(place)
    export(place, tree, place.dir / "good", s3.env)
    count = []

    def forbids(handler, _):
        if handler.command == "PUT":
            count.append(1)
        if handler.command == "PUT" and len(count) > 9:
            handler.reply(403, [], b"<Error><Code>AccessDenied</Code></Error>")
            return True
        return False

    s3.proxy.fault = forbids
    done = export(place, tree, "s3://half/x", s3.env, code=4)
    assert "s3:PutObject" in done.stderr and len(done.stderr.strip().splitlines()) == 1 and SECRET not in done.stderr, done
    wanted = files_below(place.dir / "good")
    there = {key.removeprefix("x/"): s3.backend.get_object("half", key).value for key in keys(s3, "half")}
    assert 0 < len(there) < len(wanted) and all(wanted[name] == data for name, data in there.items()), sorted(there)
    assert not any("_jviewd/" in name for name in there), "a note of what is not there"
    s3.proxy.forget()
    export(place, tree, "s3://half/x", s3.env)
    assert {key.removeprefix("x/"): s3.backend.get_object("half", key).value for key in keys(s3, "half")} == wanted
    for to, code, part in (("s3://nobucket/x", 3, 'no bucket "nobucket"'), ("https://host.example/x", 2, "only read"), ("ftp://x/y", 2, "neither")):
        done = export(place, tree, to, s3.env, code=code)
        assert part in done.stderr and len(done.stderr.strip().splitlines()) == 1, (to, done)


def fleets_of_buckets(place):
    """fleet and plan: as of a directory."""
    s3 = store(place)
    tree = buckets.samples(place)
    for words in (["fleet", "--format", "json"], ["plan", "--parts", "2"]):
        local = command(place, *words[:1], tree, *words[1:], cache="fleet-local")
        there = command(place, *words[:1], "s3://team/runs", *words[1:], env=s3.env, cache="fleet-there")
        assert local.returncode == there.returncode == 0 and local.stdout, (local, there)
        left, right = (re.sub(r"\br[0-9a-f]{16}\b", "ID", done.stdout) for done in (local, there))
        assert left == right, (words, left, right)


def examples():
    """The commands of the documentation for a bucket of profiles, in its order."""
    text = (TOP / "docs/fleet.md").read_text()
    found = [line for line in text.splitlines() if line.startswith("jviewd ") and "gs://bucket" in line]
    assert sorted(line.split()[1] for line in found) == ["--profile-dir", "export", "export", "fleet", "index"], found
    return sorted(found, key=lambda line: line.split()[1] != "index")


def the_examples_of_the_documentation(place):
    """Word by word, against a store of Google: a worker, a server, tables, and the three tables that people ask first."""
    address, post, read = buckets.google(place)
    post("/storage/v1/b?project=p", json.dumps({"name": "bucket"}), "application/json")
    tree = buckets.samples(place)
    for path in tree.rglob("*"):
        if path.is_file():
            part = (b'--x\r\nContent-Type: application/json\r\n\r\n' + json.dumps({"name": f"maxtext/{path.relative_to(tree)}"}).encode() +
                    b'\r\n--x\r\nContent-Type: application/octet-stream\r\n\r\n' + path.read_bytes() + b'\r\n--x--')
            post("/upload/storage/v1/b/bucket/o?uploadType=multipart", part, 'multipart/related; boundary="x"')
    (place.dir / "bin").mkdir()
    (place.dir / "bin" / "jviewd").symlink_to(harness.program())
    env = {**os.environ, "HOME": str(place.dir / "home"), "PATH": f"{place.dir / 'bin'}:{os.environ['PATH']}", "STORAGE_EMULATOR_HOST": address}
    wanted = overview(place, tree, None, {}, "alone").stdout
    done = {}
    for line in examples():
        verb = line.split()[1]
        fresh = {**env, "XDG_CACHE_HOME": str(place.dir / f"xdg-{verb}")}  # each on another machine
        if verb == "--profile-dir":
            fresh.update(without_children(place))
            line += f" --port auto --data-dir {place.dir / 'data'}"
            server = subprocess.Popen(["sh", "-c", f"exec {line}"], cwd=place.dir, env=fresh, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            place.undo.append(lambda: (server.kill(), server.wait()))
            url = next(found.group(0) for found in (re.search(r"http://[^\s/]+", said) for said in server.stdout) if found)
            answer = json.load(urllib.request.urlopen(f"{url}/api/overview?run=step_1000&wait_ms=60000", timeout=90))
            assert answer["sentence"] == json.loads(wanted)["sentence"] and answer["top"] == json.loads(wanted)["top"], answer
            server.terminate()
            assert server.wait(30) == 0
            done[verb] = True
            continue
        if "parquet" in line or verb == "export" and "--format" not in line:
            line += " --format jsonl"  # with pyarrow: tests/fleet
        told = subprocess.run(["sh", "-c", line], cwd=place.dir, env=fresh, capture_output=True, text=True, timeout=120)
        assert told.returncode == 0, (line, told)
        done[verb] = told
    assert {"index", "--profile-dir", "export", "fleet"} <= set(done), done
    assert "fusion" in done["fleet"].stdout or "step" in done["fleet"].stdout, done["fleet"]
    export(place, tree, place.dir / "mine", {})
    assert sorted(files_below(place.dir / "mine")) == sorted(files_below(place.dir / "warehouse"))


def by_azure(place):
    connection, client = buckets.azurite(place)
    for name in ("team", "shared", "ware"):
        client.create_container(name)
    tree = buckets.samples(place)
    for path in tree.rglob("*"):
        if path.is_file():
            client.get_blob_client("team", "runs/" + str(path.relative_to(tree))).upload_blob(path.read_bytes())
    env = {"AZURE_STORAGE_CONNECTION_STRING": connection}
    shares(place, "az://team/runs", "az://shared/index", env)
    exported(place, "az://ware/house", env, lambda: [blob.name.removeprefix("house/") for blob in client.get_container_client("ware").list_blobs()],
             lambda name: client.get_blob_client("ware", "house/" + name).download_blob().readall())


def by_google(place):
    address, post, read = buckets.google(place)
    tree = buckets.samples(place)
    for path in tree.rglob("*"):
        if path.is_file():
            part = (b'--x\r\nContent-Type: application/json\r\n\r\n' + json.dumps({"name": f"runs/{path.relative_to(tree)}"}).encode() +
                    b'\r\n--x\r\nContent-Type: application/octet-stream\r\n\r\n' + path.read_bytes() + b'\r\n--x--')
            post("/upload/storage/v1/b/team/o?uploadType=multipart", part, 'multipart/related; boundary="x"')
    env = {"STORAGE_EMULATOR_HOST": address}
    shares(place, "gs://team/runs", "gs://team/index", env)
    post("/storage/v1/b?project=p", json.dumps({"name": "ware"}), "application/json")

    def names():
        with urllib.request.urlopen(f"http://{address}/storage/v1/b/ware/o", timeout=30) as reply:
            return [item["name"].removeprefix("house/") for item in json.load(reply)["items"]]

    def read_ware(name):
        with urllib.request.urlopen(f"http://{address}/storage/v1/b/ware/o/{urllib.parse.quote('house/' + name, safe='')}?alt=media",
                                            timeout=30) as reply:
            return reply.read()
    exported(place, "gs://ware/house", env, names, read_ware)


if __name__ == "__main__":
    harness.main([indexes_that_a_bucket_shares, a_directory_of_profiles_and_a_bucket_of_indexes, two_writers_of_one_content, what_is_damaged_is_not_used,
                  a_store_that_forbids_writing, a_store_that_does_not_answer, an_upload_that_breaks, prune_tells_what_no_run_needs, tables_in_a_bucket,
                  two_exports_at_once, an_export_that_breaks, fleets_of_buckets, the_examples_of_the_documentation, by_azure, by_google])
