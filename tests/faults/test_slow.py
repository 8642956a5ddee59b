#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A mount on which each stat takes 200 ms: the list is there all the same, and fills as it is looked at."""

import os
import shutil
import subprocess
import time

from harness import Skip, age, main, until

RUNS = 25
STAT_MS = 200
QUICK_S = 1.5  # an answer that waited for no stat, on a machine that does other things too
SHIM = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int fstatat(int directory, const char *restrict path, struct stat *restrict ret, int flags)
{
    static int (*next)(int, const char *, struct stat *, int);

    if (next == NULL)
        next = (int (*)(int, const char *, struct stat *, int))dlsym(RTLD_NEXT, "fstatat");
    if (strstr(path, ".pb") != NULL)
        usleep(%d * 1000);
    return next(directory, path, ret, flags);
}
""" % STAT_MS


def shim(place):
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if not compiler:
        raise Skip("no compiler")
    source, library = place.dir / "slow.c", place.dir / "slow.so"
    source.write_text(SHIM)
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
    return {"LD_PRELOAD": str(library), "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}


def timed(server, **query):
    start = time.monotonic()
    status, _, body = server.fetch("/api/runs", limit=100, **query)
    assert status == 200, body
    return time.monotonic() - start, body


def slow_stats_do_not_block_the_list(place):
    env = shim(place)
    whole = place.sample("step_500", to="run_00").read_bytes()
    for number in range(1, RUNS):
        path = place.session(f"run_{number:02}")
        path.write_bytes(whole)
        age(path)
    server = place.serve(env=env)
    took, body = timed(server)
    until("the scan to begin", lambda: timed(server)[1]["scan"]["state"] == "scanning")
    longest = took
    while server.fetch("/readyz")[0] != 200:
        longest = max(longest, timed(server)[0])
    assert longest < QUICK_S, longest
    until("all runs", lambda: len(timed(server)[1]["runs"]) == RUNS)
    server.until_settled()
    server.stop()
    again = place.serve(env=env)
    took, body = timed(again)
    assert took < QUICK_S and len(body["runs"]) == RUNS, (took, len(body["runs"]))
    assert again.fetch("/readyz")[0] != 200, "the scan was over before it was asked"
    assert all(run["state"] == "ready" for run in body["runs"]), body["runs"]


main([slow_stats_do_not_block_the_list])
