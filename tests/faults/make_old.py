#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What an older version left: its cache and its notes of a sample, packed, for test_upgrade.py.

    python3 tests/faults/make_old.py JVIEWD NAME        of a commit, built elsewhere -> tests/faults/old/NAME.tar.xz

NAME is the versions of the index, as its directory is called: 6.10.11. Times are zero and owners are nobody's, so that the
same bytes come of the same files.
"""

import pathlib
import shutil
import subprocess
import sys
import tarfile

HERE = pathlib.Path(__file__).resolve().parent
PLACE = pathlib.Path("/tmp/jviewd-old")  # stands in the catalog
RUN = "step_250"
SESSION = (("top", RUN), ("note", "add", RUN, "written before"), ("note", "tag", RUN, "pinned"), ("baseline", "set", "main", RUN))


def plain(info):
    info.mtime, info.uid, info.gid, info.uname, info.gname = 0, 0, 0, "", ""
    return info


def main():
    program, name = sys.argv[1:]
    shutil.rmtree(PLACE, ignore_errors=True)
    shutil.copytree(HERE.parent / "samples" / RUN, PLACE / "profiles" / RUN)
    for words in SESSION:
        subprocess.run([program, *words, "--profile-dir", PLACE / "profiles", "--cache-dir", PLACE / "cache", "--data-dir", PLACE / "data"],
                       check=True, stdout=subprocess.DEVNULL)
    assert (PLACE / "cache" / f"segments-{name}").is_dir(), sorted(path.name for path in (PLACE / "cache").iterdir())
    (HERE / "old").mkdir(exist_ok=True)
    with tarfile.open(HERE / "old" / f"{name}.tar.xz", "w:xz", preset=9) as archive:
        for part in ("cache", "data"):
            archive.add(PLACE / part, part, filter=plain)
    shutil.rmtree(PLACE)


if __name__ == "__main__":
    main()
