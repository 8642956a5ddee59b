#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Archives of directories instead of directories: they open as what they hold; hostile ones write nothing, and harm nobody."""

import io
import json
import os
import pathlib
import subprocess
import tarfile
import time
import zipfile

from harness import SAMPLES, age, main, program

FILES = sorted(path for name in ("step_500", "step_1000") for path in (SAMPLES / name).rglob("*") if path.is_file())
MODES = {"tar": "w", "tgz": "w:gz", "tar.gz": "w:gz", "tar.xz": "w:xz", "pax.tar": "w", "gnu.tar": "w", "ustar.tar": "w"}
FORMATS = {"pax.tar": tarfile.PAX_FORMAT, "gnu.tar": tarfile.GNU_FORMAT, "ustar.tar": tarfile.USTAR_FORMAT}


def tar_of(path, members, suffix="tar"):
    """Members: (name, bytes), or a TarInfo."""
    with tarfile.open(path, MODES[suffix], format=FORMATS.get(suffix, tarfile.PAX_FORMAT)) as archive:
        for member in members:
            info, content = (member, b"") if isinstance(member, tarfile.TarInfo) else (tarfile.TarInfo(member[0]), member[1])
            if content:
                info.size, info.mtime = len(content), 1_700_000_000
            archive.addfile(info, io.BytesIO(content))
    return path


def zip_of(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members:
            archive.writestr(name, content)
    return path


def samples(above=""):
    return [(above + str(path.relative_to(SAMPLES)), path.read_bytes()) for path in FILES]


def asked(place, verb, *operands):
    done = place.jviewd(verb, *operands, "--cache-dir", place.cache, "--format", "json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def facts(place, path):
    return [(run["name"], run["started_at"], run["slice_count"], run["hosts"]) for run in asked(place, "list", path)["runs"]]


def directory(place):
    for name in ("step_500", "step_1000"):
        place.sample(name)
    return place.profiles


def they_open_as_the_directory(place):
    wanted = facts(place, directory(place))
    assert [one[0] for one in wanted] == ["step_1000", "step_500"], wanted
    for suffix in MODES:
        got = facts(place, tar_of(place.dir / f"logs.{suffix}", samples("./"), suffix))
        assert got == wanted, (suffix, got, wanted)
    assert facts(place, zip_of(place.dir / "logs.zip", samples())) == wanted
    table = asked(place, "diff", f"{place.dir}/logs.zip/step_500", f"{place.dir}/logs.tgz/step_1000")
    assert (table["a"]["name"], table["b"]["name"]) == ("step_500", "step_1000"), table["a"]
    assert asked(place, "top", "step_500", "--profile-dir", place.dir / "logs.zip")["rows"]


def a_session_is_named_as_the_archive(place):
    below = [(name.split("/", 1)[1], content) for name, content in samples() if name.startswith("step_500")]
    for path in (tar_of(place.dir / "prof.tar.gz", below, "tar.gz"), zip_of(place.dir / "prof.zip", below)):
        assert [one[0] for one in facts(place, path)] == ["prof"], path


def long_names_are_kept(place):
    above = "/".join("d" * 60 + str(at) for at in range(4)) + "/"
    for suffix in ("pax.tar", "gnu.tar", "tgz"):
        got = facts(place, tar_of(place.dir / f"long.{suffix}", samples(above), suffix))
        assert [one[0] for one in got] == [f"{above}step_1000", f"{above}step_500"], got


def it_is_unpacked_once_and_anew_when_it_changed(place):
    path = zip_of(place.dir / "logs.zip", samples())
    facts(place, path)
    made = next((place.cache / "unpacked").glob("*/logs"))
    before = made.stat().st_ino
    facts(place, path)
    assert made.stat().st_ino == before
    zip_of(path, samples()[-2:])
    os.utime(path, (time.time() - 60,) * 2)
    got = {run["name"]: run["state"] for run in asked(place, "list", path)["runs"]}
    assert got == {"step_500": "ready", "step_1000": "gone"}, got
    assert len(list((place.cache / "unpacked").iterdir())) == 1


def link(name, to, kind=tarfile.SYMTYPE):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, to
    return info


def refused(place, path, words):
    done = place.jviewd("list", path, "--cache-dir", place.cache)
    assert done.returncode == 6 and words in done.stderr, (path.name, done.returncode, done.stderr)
    assert not list((place.cache / "unpacked").glob("*")) if (place.cache / "unpacked").exists() else True


def hostile_names_are_refused(place):
    outside = place.dir / "outside"
    outside.mkdir()
    for at, name in enumerate(("../evil.pb", f"{outside}/evil.pb", "a/../../evil.pb", "a//evil.pb", "a/./evil.pb", "a\\evil.pb", "a/\x01.pb")):
        refused(place, tar_of(place.dir / f"n{at}.tar", samples() + [(name, b"x")]), "is outside the archive")
        refused(place, zip_of(place.dir / f"n{at}.zip", samples() + [(name, b"x")]), "is outside the archive")
    twice = [("a/b", b"1"), ("a/b", b"2")]
    refused(place, tar_of(place.dir / "twice.tar", samples() + twice), "twice")
    assert not list(place.dir.rglob("evil*")), "something was written"


def links_and_devices_are_left_out(place):
    outside = place.dir / "outside"
    outside.mkdir()
    odd = [link("way", str(outside)), ("way/evil.pb", b"x"), link("hard", "/etc/passwd", tarfile.LNKTYPE), link("fifo", "", tarfile.FIFOTYPE),
           link("device", "", tarfile.CHRTYPE)]
    got = facts(place, tar_of(place.dir / "links.tar", odd + samples()))
    assert [one[0] for one in got] == ["step_1000", "step_500"], got
    made = next((place.cache / "unpacked").glob("*/links"))
    assert not list(outside.iterdir()) and not (made / "hard").exists() and not (made / "fifo").exists()
    assert not any(path.is_symlink() for path in made.rglob("*"))


def bombs_are_refused(place):
    zeros = bytes(1 << 20)
    info = tarfile.TarInfo("zeros.xplane.pb")
    info.size = 1 << 30

    class Zeros:
        left = info.size

        def read(self, count=-1):
            count = min(self.left, count, len(zeros))
            self.left -= count
            return zeros[:count]

    with tarfile.open(place.dir / "bomb.tgz", "w:gz") as archive:
        archive.addfile(info, Zeros())
    refused(place, place.dir / "bomb.tgz", "more than")
    refused(place, zip_of(place.dir / "bomb.zip", [("a.xplane.pb", bytes(400 << 20)), ("b.xplane.pb", b"")]), "more than")
    many = [(f"{at}.xplane.pb", b"") for at in range(10_001)]
    refused(place, tar_of(place.dir / "many.tar", many), "too many files")


def damaged_ones_are_told(place):
    whole = tar_of(place.dir / "whole.tar", samples()).read_bytes()
    for at, cut in enumerate((513, 5000, len(whole) // 2)):
        path = place.dir / f"cut{at}.tar"
        path.write_bytes(whole[:cut])
        refused(place, path, "ends inside")
    flipped = bytearray(whole)
    flipped[10] ^= 1
    (place.dir / "flipped.tar").write_bytes(flipped)
    refused(place, place.dir / "flipped.tar", "damaged entry")


def whoever_unpacks_is_confined(place):
    """As the kernel says of that process: no new privileges, and a filter of system calls where no sanitizer needs them all."""
    with tarfile.open(place.dir / "large.tar", "w") as archive:
        for number in range(40):
            info = tarfile.TarInfo(f"part{number}.xplane.pb")
            info.size = 8 << 20
            archive.addfile(info, io.BytesIO(bytes(8 << 20)))
    process = subprocess.Popen([program(), "list", str(place.dir / "large.tar"), "--cache-dir", str(place.cache), "--data-dir",
                                str(place.dir / "data")], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    said = []
    while process.poll() is None and not (said and list(place.cache.glob("unpacked/*/.stamp"))):
        for child in (pathlib.Path(f"/proc/{process.pid}/task/{process.pid}") / "children").read_text().split():
            try:
                if (pathlib.Path("/proc") / child / "cmdline").read_bytes().split(b"\0")[1] == b"list":
                    said.append((pathlib.Path("/proc") / child / "status").read_text())
            except (OSError, IndexError):
                pass
    process.kill()
    process.wait()
    assert said, "no such process was seen"
    assert "NoNewPrivs:\t1" in said[-1], said[-1]
    if b"__asan_init" not in pathlib.Path(program()).read_bytes():
        assert "Seccomp:\t2" in said[-1], said[-1]


def what_nobody_opens_goes(place):
    for name in ("old", "new"):
        asked(place, "list", tar_of(place.dir / f"{name}.tar", samples()))
    old, new = (next(path.parent for path in place.cache.glob(f"unpacked/*/{name}")) for name in ("old", "new"))
    left = place.cache / "unpacked/0123.77"
    left.mkdir()
    for path in (old / ".stamp", left):
        age(path, 31 * 24 * 3600)
    asked(place, "list", place.dir / "new.tar")
    assert not old.exists() and not left.exists() and new.exists()


def other_files_stay_as_they_are(place):
    one = zip_of(place.dir / "one.zip", [(FILES[0].name, FILES[0].read_bytes())])
    assert len(facts(place, one)) == 1
    assert not list(place.cache.glob("unpacked/*"))
    done = place.jviewd("bundle", "step_500", "--profile-dir", directory(place), "-o", place.dir / "b.jvz", "--cache-dir", place.cache)
    assert done.returncode == 0, done.stderr
    assert len(facts(place, place.dir / "b.jvz")) == 1
    assert not list(place.cache.glob("unpacked/*"))


if __name__ == "__main__":
    main([they_open_as_the_directory, a_session_is_named_as_the_archive, long_names_are_kept, it_is_unpacked_once_and_anew_when_it_changed,
          hostile_names_are_refused, links_and_devices_are_left_out, bombs_are_refused, damaged_ones_are_told,
          whoever_unpacks_is_confined, what_nobody_opens_goes, other_files_stay_as_they_are])
