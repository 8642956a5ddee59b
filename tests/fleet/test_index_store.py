#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`--index-store`: what one machine indexed another one opens without a decoder, whatever is damaged, forbidden or done twice."""

import os
import shutil
import stat
import subprocess
import time

from common import harness


def index(place, *arguments, cache="worker", store="store", code=0):
    done = place.jviewd("index", place.profiles, "--index-store", place.dir / store, "--cache-dir", place.dir / cache, *arguments)
    assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
    return done


def overview(place, cache, *arguments, run="step_1000", env=None):
    return place.jviewd("overview", run, "--profile-dir", place.profiles, "--cache-dir", place.dir / cache, "--index-store", place.dir / "store",
                        "--data-dir", place.dir / "data", "--format", "json", *arguments, env=env)


def stored(place, suffix=""):
    return sorted(path for path in (place.dir / "store").rglob(f"*{suffix}") if path.is_file())


NO_CHILDREN = """
#include <errno.h>
int posix_spawn(void) { return EPERM; }
int posix_spawnp(void) { return EPERM; }
"""


def without_children(place):
    """An environment in which no program is started: the indexer is one."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise harness.Skip("there is no compiler")
    (place.dir / "none.c").write_text(NO_CHILDREN)
    subprocess.run([compiler, "-shared", "-fPIC", "-w", "-o", place.dir / "none.so", place.dir / "none.c"], check=True)
    return {**os.environ, "LD_PRELOAD": str(place.dir / "none.so"), "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}


def test_what_others_indexed_is_opened_without_a_decoder(place):
    place.sample("step_1000")
    wanted = overview(place, "own").stdout
    shutil.rmtree(place.dir / "store")
    alone = without_children(place)
    done = overview(place, "none", env=alone)
    assert done.returncode != 0 and "cannot be started" in done.stderr, (done.returncode, done.stderr)
    index(place)
    done = overview(place, "other", env=alone)
    assert done.returncode == 0 and done.stdout == wanted, done.stderr


def test_two_writers_harm_nobody(place):
    for number in range(6):
        harness.make_profile(place.session(f"run_{number}"), shape="gpu", events=5000, seed=number + 1)
    both = [subprocess.Popen([harness.program(), "index", str(place.profiles), "--index-store", str(place.dir / "store"), "--cache-dir",
                              str(place.dir / f"cache-{number}")], stderr=subprocess.DEVNULL) for number in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert len(stored(place, ".known")) == 6, stored(place)
    assert not [path for path in stored(place) if path.suffix == ".tmp"], stored(place)
    for number in range(6):
        done = overview(place, "reader", run=f"run_{number}")
        assert done.returncode == 0, done.stderr
    before = [path.stat().st_mtime_ns for path in stored(place)]
    index(place, cache="third")
    assert [path.stat().st_mtime_ns for path in stored(place)] == before


def test_what_does_not_fit_its_sum_is_not_used(place):
    place.sample("step_1000")
    index(place)
    wanted = overview(place, "first").stdout
    for suffix in (".seg", ".attr", ".known"):
        for path in stored(place, suffix):
            whole = path.read_bytes()
            os.chmod(path, 0o644)
            for broken in (whole[: len(whole) // 2], whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], b""):
                path.write_bytes(broken)
                done = overview(place, f"cache{suffix}-{len(broken)}")
                assert done.returncode == 0 and done.stdout == wanted, (path, done.stderr)
            path.write_bytes(whole)


def test_another_content_is_another_index(place):
    path = place.sample("step_1000")
    index(place)
    before = len(stored(place, ".known"))
    path.write_bytes(place.sample("step_500", to="other").read_bytes())
    harness.age(path, 30)
    index(place, cache="again")
    assert len(stored(place, ".known")) > before
    one, two = (overview(place, "reader", run=run).stdout for run in ("step_1000", "other"))
    assert one and two and one[one.index('"step"'):][:200] == two[two.index('"step"'):][:200]


def test_a_store_that_forbids_writing(place):
    place.sample("step_1000")
    index(place)
    harness.make_profile(place.session("late"), shape="gpu", events=2000)
    if os.geteuid() == 0:
        mounted = subprocess.run(["mount", "--bind", "-o", "ro", place.dir / "store", place.dir / "store"], capture_output=True)
        if mounted.returncode != 0 or os.access(place.dir / "store", os.W_OK):
            raise harness.Skip("root writes wherever it likes, and nothing can be mounted read-only")
        place.undo.append(lambda: subprocess.run(["umount", place.dir / "store"]))
    else:
        for path in [place.dir / "store", *(place.dir / "store").rglob("*")]:
            path.chmod(stat.S_IRUSR | stat.S_IXUSR if path.is_dir() else stat.S_IRUSR)
    for run in ("step_1000", "late"):
        done = overview(place, "reader", run=run)
        assert done.returncode == 0, (run, done.stderr)
    done = overview(place, "reader2", run="late")
    assert "are not shared" in done.stderr, done.stderr


def test_an_index_from_before_the_store_is_shared(place):
    place.sample("step_1000")
    assert place.jviewd("overview", "step_1000", "--profile-dir", place.profiles, "--cache-dir", place.dir / "worker").returncode == 0
    index(place)
    assert stored(place, ".known")


def test_prune_tells_what_no_run_needs(place):
    def prune(*arguments, code=0):
        done = place.jviewd("prune", place.profiles, "--index-store", place.dir / "store", "--cache-dir", place.dir / "worker", "--data-dir",
                            place.dir / "data", *arguments)
        assert done.returncode == code, (done.returncode, done.stdout, done.stderr)
        return done.stdout + done.stderr

    path = place.sample("step_1000")
    place.sample("step_500")
    place.sample("step_1500")
    index(place)
    shutil.rmtree(place.profiles / "step_1500")  # a run that is gone whole
    old = place.dir / "store/1.1.1/ab"
    old.mkdir(parents=True)
    (old / ("ab" * 16 + ".known")).write_text("x")
    count = len(stored(place, ".known"))
    assert f"2 of {count} indexes" in prune(), prune()
    path.unlink()
    told = prune()
    assert f"3 of {count} indexes" in told and "--delete removes them" in told and "1 of other versions" in told, told
    place.sample("step_250")
    assert "not read yet" in prune("--delete", code=4)
    index(place)
    assert "deleted" in prune("--delete")
    assert not (old / ("ab" * 16 + ".known")).exists()
    assert overview(place, "reader", run="step_500").returncode == 0
    assert "0 of " in prune()
    assert "goes with --delete alone" in prune("--keep", "3", code=2)


def test_what_is_refused(place):
    place.sample("step_1000")
    done = place.jviewd("index", place.profiles, "--index-store", "ftp://bucket/x", "--cache-dir", place.cache)
    assert done.returncode == 2 and "ftp://bucket/x is neither" in done.stderr, done.stderr
    (place.dir / "file").write_text("")
    assert "file" in index(place, store="file/below", code=4).stderr


def test_figures(place):
    """The first open of a large run that was indexed elsewhere; printed, and judged by ./dev bench's clock alone."""
    harness.make_profile(place.session("large"), shape="gpu", events=300000)
    began = time.monotonic()
    index(place)
    took = time.monotonic() - began
    began = time.monotonic()
    assert overview(place, "reader", run="large").returncode == 0
    print(f"# 300,000 events: indexed in {took:.2f} s, opened out of the store and answered in {time.monotonic() - began:.2f} s")


harness.main([test for name, test in list(globals().items()) if name.startswith("test_")])
