#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory that cannot be had: a question is refused with the limit's name, and no burst of questions ends the server."""

import os
import pathlib
import threading

import harness

RUN = "step_1000"
MIB = 1 << 20
BURST = 64


def wrapped(place, *lines):
    """The program behind a line of shell that limits it."""
    script = place.dir / "limited"
    script.write_text("#!/bin/sh\n" + "\n".join(lines) + f'\nexec "{os.path.abspath(harness.program())}" "$@"\n')
    script.chmod(0o755)
    return str(script)


def indexed(place):
    """Before any limit: what is tried is the server."""
    place.sample(RUN)
    server = place.serve()
    server.until_settled()
    assert server.stop() == 0


def refused(server, *words):
    status, headers, body = server.fetch("/api/overview", run=RUN)
    assert status == 503, (status, body)
    for word in words:
        assert word in body["detail"], (word, body["detail"])
    assert server.fetch("/healthz")[0] == 200
    assert server.fetch("/api/tracks", run=RUN)[0] == 200, "what only looks needs no budget"
    assert server.stop() == 0


def a_flag_limits_it(place):
    indexed(place)
    refused(place.serve("--memory-max", "8M"), "16 MiB", "8 MiB", "--memory-max")


def a_control_group_limits_it(place):
    """30 MiB, of which questions may take half: one takes 16."""
    if b"__asan_init" in pathlib.Path(harness.program()).read_bytes():
        raise harness.Skip("the address sanitizer needs more than the group may have")
    indexed(place)
    name = f"jviewd-test-{os.getpid()}"
    for mount, file in ((pathlib.Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"), (pathlib.Path("/sys/fs/cgroup"), "memory.max")):
        group = mount / name
        try:
            group.mkdir()
        except OSError:
            continue
        place.undo.append(group.rmdir)
        if (group / file).exists():
            (group / file).write_text(str(30 * MIB))
            break
    else:
        raise harness.Skip("no control group can be made here")
    refused(place.serve(argv0=wrapped(place, f"echo $$ > {group}/cgroup.procs")), "16 MiB", "15 MiB", "the memory of its control group")


def addresses_limit_it(place):
    """ulimit -v 512 MiB, 64 questions at once over a run of 300,000 events, each another one."""
    if b"__asan_init" in pathlib.Path(harness.program()).read_bytes():
        raise harness.Skip("the address sanitizer reserves terabytes")
    harness.make_profile(place.session("large"), events=300000)
    server = place.serve()
    server.until_state("large", "ready")
    assert server.stop() == 0
    server = place.serve(argv0=wrapped(place, "ulimit -v 524288"))
    server.until_scanned()
    routes, seen = ("overview", "top", "findings", "flame", "steps", "kernels", "collectives", "hosts"), []

    def client(number):
        for turn in range(4):
            try:
                seen.append(server.fetch("/api/" + routes[(number + turn) % 8], run="large", wait_ms=30000, start_ps=number * 10 + turn)[0])
            except OSError as error:
                seen.append(str(error))

    clients = [threading.Thread(target=client, args=(number,)) for number in range(BURST)]
    for one in clients:
        one.start()
    for one in clients:
        one.join()
    counts = {status: seen.count(status) for status in set(seen)}
    print(counts, flush=True)
    assert server.process.poll() is None, (server.process.returncode, counts)
    assert set(counts) <= {200, 503}, counts
    assert counts.get(200, 0) > BURST, counts
    assert server.top("large", limit=1)[0] == 200
    assert server.stop() == 0


if __name__ == "__main__":
    harness.main([a_flag_limits_it, a_control_group_limits_it, addresses_limit_it])
