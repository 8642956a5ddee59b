#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `cmake --install` leaves: it runs from where it was put, and its pages say what the programs say."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "faults"))
from harness import SAMPLES, main  # noqa: E402

BUILD = pathlib.Path(os.environ["JVIEWD_DEV"]).parent
PAGES = {"jviewd": "jviewd.1", "jview-collect": "jview-collect.1"}
SCORE_MAX = 20  # tenths: systemd calls 2.0 "OK"


def installed(place):
    """The tree, as below /; made once."""
    root = place.dir / "root"
    done = subprocess.run(["cmake", "--install", str(BUILD)], env={**os.environ, "DESTDIR": str(root)},
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = sorted(root.rglob("bin/jviewd"))
    assert len(found) == 1, found
    return root, found[0].parent.parent


def told(program, *arguments):
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True)
    assert done.returncode == 0, (program, arguments, done.stderr)
    return done.stdout


def everything_is_there(place):
    root, tree = installed(place)
    for path in ("bin/jviewd", "bin/jview-collect", "lib/jviewd/libjview-collector.so", "share/man/man1/jviewd.1",
                 "share/man/man1/jview-collect.1", "share/bash-completion/completions/jviewd",
                 "share/zsh/vendor-completions/_jviewd", "share/fish/vendor_completions.d/jviewd.fish",
                 "share/doc/jviewd/README.md", "share/doc/jviewd/no-namespaces.conf",
                 "lib/systemd/system/jviewd.service", "lib/systemd/user/jviewd.service"):
        assert (tree / path).is_file(), path
    assert len(list(root.rglob("jviewd/config"))) == 1


def runs_from_there(place):
    _, tree = installed(place)
    elsewhere = place.dir / "elsewhere"
    tree.rename(elsewhere)
    shown = told(elsewhere / "bin/jviewd", "top", "step_1000", "--profile-dir", str(SAMPLES), "--cache-dir",
                 str(place.cache), "--format", "csv")
    assert shown.count("\n") > 5, shown
    recorded = place.dir / "recorded"
    told(elsewhere / "bin/jviewd", "collect", "-q", "-o", str(recorded), "--", "true")
    assert recorded.is_dir(), "jview-collect left nothing"
    (elsewhere / "lib/jviewd/libjview-collector.so").unlink()
    lost = subprocess.run([str(elsewhere / "bin/jview-collect"), "-q", "-o", str(recorded), "--", "true"],
                          capture_output=True, text=True)
    assert lost.returncode == 0 and "libjview-collector.so" in lost.stderr and "without being recorded" in lost.stderr, lost


def pages_tell_every_option(place):
    _, tree = installed(place)
    for program, page in PAGES.items():
        text = (tree / "share/man/man1" / page).read_text().replace("\\-", "-").replace("\\e", "\\")
        assert "@" not in re.sub(r"%q\{\w+\}|\S+@\w+|@DOMAIN", "", text), "a place to fill was left"
        help_text = told(tree / "bin" / program, "--help")
        flags = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", help_text))
        assert len(flags) > 10, flags
        headed = text.split(".SH OPTIONS")[1].split(".SH VERBS")[0]
        missing = {flag for flag in flags - {"--bind_all"} if flag not in headed}
        assert not missing - set(re.findall(r"--[a-z-]+", text)), missing
        listed = re.findall(r"^\s+(--[a-z-]+)", help_text, re.M)
        terms = re.findall(r"^\.TP\n(.*)$", headed, re.M)
        assert all(any(flag in term for term in terms) for flag in listed), set(listed) - set(" ".join(terms).split())
    verbs = re.findall(r"^  ([a-z]+) +\S", told(tree / "bin/jviewd", "--help").split("Other verbs")[1], re.M)
    page = (tree / "share/man/man1/jviewd.1").read_text()
    assert len(verbs) > 20 and all(f".SS jviewd {verb}\n" in page for verb in verbs), verbs


def pages_are_well_formed(place):
    if shutil.which("man") is None or shutil.which("groff") is None:
        print("skipped: no man or groff here: pages were not set")
        return
    _, tree = installed(place)
    for page in PAGES.values():
        done = subprocess.run(["man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", str(tree / "share/man/man1" / page)],
                              capture_output=True, text=True, env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
        assert done.returncode == 0 and not done.stderr, done.stderr


def shells_take_the_completions(place):
    _, tree = installed(place)
    bash = tree / "share/bash-completion/completions/jviewd"
    offered = told("bash", "-c", f'. "{bash}"; COMP_WORDS=("{tree}/bin/jviewd" over); COMP_CWORD=1; _jviewd; echo "${{COMPREPLY[@]}}"')
    assert "overview" in offered, offered
    for shell, path in (("zsh", "share/zsh/vendor-completions/_jviewd"), ("fish", "share/fish/vendor_completions.d/jviewd.fish")):
        if shutil.which(shell):
            told(shell, "-n", str(tree / path))


def units_are_confined(place):
    if shutil.which("systemd-analyze") is None:
        print("skipped: no systemd-analyze here: units were not judged")
        return
    _, tree = installed(place)
    for scope in ("system", "user"):
        unit = tree / "lib/systemd" / scope / "jviewd.service"
        judged = subprocess.run(["systemd-analyze", "security", "--offline=true", "--no-pager",
                                 f"--threshold={SCORE_MAX}", str(unit)], capture_output=True, text=True)
        assert judged.returncode == 0, scope + judged.stdout[-200:] + judged.stderr
        print(f"# {scope}: {judged.stdout.strip().splitlines()[-1]}")


def units_are_filled_in(place):
    _, tree = installed(place)
    for scope in ("system", "user"):
        text = (tree / "lib/systemd" / scope / "jviewd.service").read_text()
        assert "Type=notify\n" in text and "@" not in text.replace("=@system-service", "").replace("=~@privileged", "")
    relaxed = (tree / "share/doc/jviewd/no-namespaces.conf").read_text()
    unit = (tree / "lib/systemd/user/jviewd.service").read_text()
    for line in relaxed.split("[Service]\n")[1].splitlines():  # it takes back what the unit says, and nothing else
        assert line.split("=")[0] + "=" in unit, line


if __name__ == "__main__":
    main([everything_is_there, runs_from_there, pages_tell_every_option, pages_are_well_formed,
          shells_take_the_completions, units_are_confined, units_are_filled_in])
