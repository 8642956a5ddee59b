# SPDX-License-Identifier: Apache-2.0
"""Calls of jitted functions and executions of their programs, from the raw events: for truth_firings.py.

  call        PjitFunction(f), not within another one on its line
  execution   XLA:CPU  ops of one run_id on one device, each until its `end:` partner
              TPU      ops within one event of "XLA Modules"
              GPU      kernels of a module on one device, until its first op comes again after another
"""
import collections
import re

from truth_steps import stat

CALL = re.compile(r"PjitFunction\((.+)\)$", re.S)


def calls_of(space):
    """{function: lengths of its calls}"""
    ret = collections.defaultdict(list)
    for plane in space["planes"]:
        for line in plane["lines"]:
            found = [(event["begin_ps"], -event["dur_ps"], CALL.match(event["name"])) for event in line["events"]]
            reach = -1
            for begin, less, call in sorted((one for one in found if one[2]), key=lambda one: one[:2]):
                if begin - less > reach:
                    ret[call.group(1)].append(-less)
                    reach = begin - less
    return ret


def on_lines(space, name):
    """(device's plane, its events) of the lines of that name."""
    for plane in space["planes"]:
        if plane["name"].startswith("/device:"):
            yield plane["name"], sorted((event for line in plane["lines"] if line["name"].startswith(name) for event in line["events"]),
                                        key=lambda event: event["begin_ps"])


def on_cpu(space):
    """(module, program, device, begin, end) of each execution; runs of host threads."""
    ends, found = {}, {}
    events = [event for plane in space["planes"] for line in plane["lines"] for event in line["events"]]
    for event in events:
        if event["name"].startswith("end: "):
            ends[stat(event, "_c")] = event["begin_ps"] + event["dur_ps"]
    for event in events:
        if stat(event, "hlo_op") is None:
            continue
        key = (stat(event, "hlo_module"), stat(event, "program_id"), stat(event, "device_ordinal"), stat(event, "run_id"))
        end = max(event["begin_ps"] + event["dur_ps"], ends.get(stat(event, "_p"), 0))
        begin, until = found.get(key, (event["begin_ps"], end))
        found[key] = min(begin, event["begin_ps"]), max(until, end)
    for (module, program, device, _), (begin, end) in found.items():
        yield module, program, device, begin, end


def on_tpu(space):
    for device, modules in on_lines(space, "XLA Modules"):
        ops = next(events for plane, events in on_lines(space, "XLA Ops") if plane == device)
        for module in modules:
            until = module["begin_ps"] + module["dur_ps"]
            inside = [op for op in ops if module["begin_ps"] <= op["begin_ps"] < until]
            name, _, program = module["name"].rstrip(")").rpartition("(")
            if inside:
                yield name, int(program), device, inside[0]["begin_ps"], max(op["begin_ps"] + op["dur_ps"] for op in inside)


def on_gpu(space):
    for device, kernels in on_lines(space, "Stream"):
        now = {}  # program -> [its first op, first kernel, whether another came since, begin, end]
        for kernel in kernels:
            op = (stat(kernel, "hlo_op") or "").rpartition("::")[2]
            key, end = (stat(kernel, "hlo_module"), stat(kernel, "program_id")), kernel["begin_ps"] + kernel["dur_ps"]
            if not op:
                continue
            one = now.get(key)
            if one is None or (one[0] == op and (one[2] or one[1] == kernel["name"])):
                if one:
                    yield *key, device, one[3], one[4]
                one = now[key] = [op, kernel["name"], False, kernel["begin_ps"], end]
            one[2] |= one[0] != op
            one[4] = max(one[4], end)
        for key, one in now.items():
            yield *key, device, one[3], one[4]


def executions_of(space):
    names = {line["name"] for plane in space["planes"] if plane["name"].startswith("/device:") for line in plane["lines"]}
    if "XLA Modules" in names:
        return list(on_tpu(space))
    return list(on_gpu(space) if any(name.startswith("Stream") for name in names) else on_cpu(space))


def program_of(function):
    """JAX writes `_` for what no name of a module may have, and none at its end."""
    return "jit_" + re.sub(r"[^\w.-]", "_", function).rstrip("_")
