#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bash, zsh and fish offer while a command line is typed: each shell itself is asked, on a terminal."""

import os
import pty
import re
import select
import shutil
import signal
import subprocess
import time

import common  # noqa: F401  (finds the harness)
import harness
from common import RUN

OWN = ["open", "collect", "capture", "index", "doctor", "prune", "export", "plan", "fleet"]
SECONDS = 30
LINE_AWAY = "\x15"


def offered(place, *words):
    """Candidates with their meanings, and whether files fit as well."""
    done = place.jviewd("complete", *words, cwd=place.dir)
    assert done.returncode == 0, (words, done)
    lines = done.stdout.splitlines()
    return {line.split("\t")[0]: line.partition("\t")[2] for line in lines if line != "/"}, "/" in lines


def flags_of(told):
    """The flags that a --help text explains."""
    return set(re.findall(r"--[a-z][a-z0-9-]*", "\n".join(
        line.split("  ")[1] if line.startswith("  -") else line[6:].split("  ")[0] if line.startswith("      --") else ", ".join(
            part for part in line.strip().split(", ") if part.startswith("--")) if line.startswith("  --") else ""
        for line in told.splitlines())))


def each_flag_of_help_is_offered(place):
    verbs = [word for word, _ in offered(place, "")[0].items()]
    assert set(OWN) < set(verbs) and "top" in verbs and "complete" not in verbs, verbs
    for verb in verbs:
        if verb == "help":
            continue
        told = place.jviewd(verb, "--help").stdout
        flags = {flag for flag in flags_of(told) if flag not in ("--index-store-dir",)}
        have = set(offered(place, verb, "--")[0])
        missing, odd = flags - have, have - set(re.findall(r"--[a-z][a-z0-9-]*", told)) - {"--help"}
        assert flags and not missing and not odd, (verb, "not offered:", missing, "not in --help:", odd)


def words_of_a_flag_and_runs_are_offered(place):
    place.sample(), place.sample("step_500")
    where = ["--profile-dir", str(place.profiles), "--cache-dir", str(place.cache)]
    assert offered(place, "to")[0]["top"] == "ops, kernels, scopes, ... by self time"
    assert set(offered(place, "top", "x", "--by", "s")[0]) == {"scope", "source", "stack"} & set(offered(place, "top", "x", "--by", "")[0])
    assert "--by=scope" in offered(place, "top", "x", "--by=sc")[0]
    assert set(offered(place, "extract", "x", "--format", "")[0]) == {"chrome", "perfetto", "csv", "xplane", "folded", "files"}
    assert set(offered(place, "--auth", "")[0]) == {"none", "token"}
    assert set(offered(place, "prune", "--compr")[0]) == {"--compress"}
    assert offered(place, "top", "x", "--cache-dir", "") == ({}, True)
    assert set(offered(place, "completion", "")[0]) == {"bash", "zsh", "fish"}
    assert "overview" in offered(place, "help", "over")[0]
    runs, files = offered(place, "top", *where, "")
    assert set(runs) == {RUN, "step_500", "latest"} and files, runs
    assert set(offered(place, "diff", *where, RUN, "step_5")[0]) == {"step_500"}
    assert offered(place, "diff", *where, RUN, "step_500", "") == ({}, False)
    assert set(offered(place, "check", *where, RUN, "--baseline", "step_5")[0]) == {"step_500"}
    assert set(offered(place, "baseline", *where, "set", "main", "step_5")[0]) == {"step_500"}
    assert set(offered(place, "note", "un")[0]) == {"untag"}
    assert not list(place.cache.rglob("*.seg")), "names are offered without reading the runs"


class Terminal:
    """A shell on a terminal of its own, with nothing of the user's."""

    def __init__(self, place, *words):
        home = place.dir / f"home-{words[0]}"
        home.mkdir(exist_ok=True)
        pid, self.fd = pty.fork()
        if pid == 0:
            path = f"{os.path.dirname(harness.program())}:{os.environ['PATH']}"
            os.chdir(place.dir)
            os.execvpe(words[0], words, {"HOME": str(home), "PATH": path, "TERM": "dumb", "LC_ALL": "C.UTF-8", "PS1": "> ",
                                         "JVIEWD_CACHE_DIR": str(place.cache)})
        self.pid, self.seen = pid, ""

    def type(self, text, wanted):
        """Everything that came until all of the wanted did."""
        self.seen = ""
        os.write(self.fd, text.encode())
        until = time.monotonic() + SECONDS
        while not all(word in self.seen for word in wanted):
            assert time.monotonic() < until, (text, "wanted", wanted, "but came", self.seen)
            if select.select([self.fd], [], [], 0.2)[0]:
                self.seen += os.read(self.fd, 65536).decode("utf-8", "replace").replace("\a", "")
        return self.seen

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)


def on_a_terminal(place, shell, script, *words):
    """Types what a person would, and looks at what the shell makes of it."""
    terminal = Terminal(place, *words)
    try:
        terminal.type(f"{script}; echo rea''dy\n", ["ready"])
        terminal.type("jviewd overvie\t", ["overview "])
        terminal.type(LINE_AWAY, [])
        terminal.type("jviewd extract x --format perf\t", ["perfetto"])
        terminal.type(LINE_AWAY, [])
        terminal.type("jviewd extract x --format=fold\t", ["--format=folded"])
        terminal.type(LINE_AWAY, [])
        terminal.type(f"jviewd top --profile-dir {place.profiles} step_5\t", ["step_500"])
        terminal.type(LINE_AWAY, [])
        terminal.type("jviewd note un\t", ["untag"])
        terminal.type(LINE_AWAY, [])
        terminal.type("jviewd top plain_fi\t", ["plain_file.pb"])
    finally:
        terminal.close()


def prepared(place, shell):
    place.sample(), place.sample("step_500")
    (place.dir / "plain_file.pb").write_bytes(b"")
    script = place.dir / f"completion.{shell}"
    script.write_text(place.jviewd("completion", shell).stdout)
    return script


def bash_completes(place):
    script = prepared(place, "bash")
    on_a_terminal(place, "bash", f"bind 'set enable-bracketed-paste off'; source {script}", "bash", "--norc", "--noprofile", "-i")


def zsh_completes(place):
    script = prepared(place, "zsh")
    on_a_terminal(place, "zsh", f"autoload -U compinit && compinit -u -D && source {script}", "zsh", "-f", "-i")
    # And as a file of $fpath, which is how packages install it.
    folder = place.dir / "fpath"
    folder.mkdir()
    shutil.copy(script, folder / "_jviewd")
    on_a_terminal(place, "zsh", f"fpath=({folder} $fpath); autoload -U compinit && compinit -u -D", "zsh", "-f", "-i")


def fish_completes(place):
    script = prepared(place, "fish")

    def says(line):
        env = {**os.environ, "HOME": str(place.dir), "PATH": f"{os.path.dirname(harness.program())}:{os.environ['PATH']}",
               "JVIEWD_CACHE_DIR": str(place.cache)}
        done = subprocess.run(["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"], cwd=place.dir, env=env,
                              capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == 0, done
        return [candidate.split("\t")[0] for candidate in done.stdout.splitlines()]

    assert says("jviewd overvie") == ["overview"]
    assert says("jviewd extract x --format perf") == ["perfetto"]
    assert says("jviewd extract x --format=fold") == ["--format=folded"]
    assert says(f"jviewd top --profile-dir {place.profiles} step_5") == ["step_500"]
    assert RUN in says(f"jviewd top --profile-dir {place.profiles} ")
    assert says("jviewd note un") == ["untag"]
    assert says("jviewd top plain_fi") == ["plain_file.pb"]


if __name__ == "__main__":
    harness.main([each_flag_of_help_is_offered, words_of_a_flag_and_runs_are_offered, bash_completes, zsh_completes, fish_completes])
