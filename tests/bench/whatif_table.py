# SPDX-License-Identifier: Apache-2.0
"""The pairs of whatif_pairs.py: a program, its parameters before and after a change, and the change as a question.

    ask     words of `jviewd whatif`
    blocks  whether the loop waits for each step
    by      how the change is compared: work takes a "share" of the step, waiting takes "time"
"""

PAIRS = []
RATIO = "{ratio}"  # measured: what the changed part takes after the change, by itself, of what it took before


def pair(name, program, devices, blocks, before, after, *ask):
    work = program in ("shapes", "scanned") or before.get("turns") != after.get("turns")
    PAIRS.append({"name": f"{name}_{devices}{'' if blocks else '_ahead'}", "program": program, "devices": devices, "blocks": blocks,
                  "before": before, "after": after, "by": "share" if work else "time", "ask": list(ask)})


def scale(what, factor):
    return ["--scale", f"{what}={factor}"]


def op_pairs():
    for devices, turns in ((1, 60), (4, 30), (8, 15)):
        for blocks in (True, False) if devices < 8 else (True,):
            usual, long = {"turns": [turns] * 3}, {"turns": [turns // 2, turns // 2, 2 * turns]}
            pair("larger", "layers", devices, blocks, usual, {"turns": [turns, 2 * turns, turns]}, *scale("scope:layer_1", 2))
            pair("smaller", "layers", devices, blocks, long, {"turns": [turns // 2, turns // 2, turns]}, *scale("scope:layer_2", 0.5))
    for devices, blocks in ((1, True), (1, False), (4, True)):
        pair("wider", "shapes", devices, blocks, {"hidden": 128}, {"hidden": 384}, *scale("scope:layer_1", RATIO))
    pair("narrower", "shapes", 1, True, {"hidden": 512}, {"hidden": 128}, *scale("scope:layer_1", RATIO))


def input_pairs():
    slow, fast = {"turns": [40, 40, 40], "sleep": 9}, {"turns": [40, 40, 40], "sleep": 3}
    few = {"turns": [10, 10, 10]}
    pair("loader_slower", "layers", 1, True, fast, slow, *scale("kind:input", RATIO))
    pair("loader_faster", "layers", 1, True, slow, fast, *scale("kind:input", RATIO))
    pair("loader_slower", "layers", 4, True, few | {"sleep": 3}, few | {"sleep": 9}, *scale("kind:input", RATIO))
    pair("loader_slower", "layers", 8, True, few | {"sleep": 3}, few | {"sleep": 9}, *scale("kind:input", RATIO))
    pair("loader_passes_device", "layers", 1, False, fast, {**fast, "sleep": 24}, *scale("kind:input", RATIO))
    pair("device_passes_loader", "layers", 1, False, {**fast, "sleep": 24}, fast, *scale("kind:input", RATIO))
    pair("queue_slower", "queued", 1, True, fast, {**fast, "sleep": 24}, *scale("kind:input", RATIO))
    pair("queue_faster", "queued", 1, True, {**fast, "sleep": 24}, fast, *scale("kind:input", RATIO))
    for devices in (1, 4):
        used = {"turns": [40, 40, 40] if devices == 1 else [20, 20, 20], "sleep": 5}
        pair("prefetch", "layers", devices, True, used, used, "--overlap", "input")
        PAIRS[-1]["after_program"] = "queued"


def loop_pairs():
    for devices, blocks in ((1, True), (1, False), (4, True)):
        pair("unrolled", "scanned", devices, blocks, {"unroll": 1}, {"unroll": 32}, *scale("scope:scan_layers", RATIO))
    for devices, blocks in ((1, True), (1, False), (4, True), (8, True)):
        used = {"turns": [30, 30] if devices == 1 else [10, 10]}
        pair("callback_removed", "called", devices, blocks, used | {"check": 4}, used | {"check": 0}, *scale("scope:host_check", 0))
    pair("callback_slower", "called", 1, True, {"turns": [30, 30], "check": 4}, {"turns": [30, 30], "check": 8}, *scale("scope:host_check", RATIO))


def device_pairs():
    for devices in (4, 8):
        even, late = [2] * devices, [2] * (devices - 1) + [8]
        pair("device_late", "uneven", devices, True, {"turns": 10, "late": even}, {"turns": 10, "late": late}, *scale(f"scope:stage_{devices - 1}", RATIO))
        pair("device_on_time", "uneven", devices, True, {"turns": 10, "late": late}, {"turns": 10, "late": even}, *scale(f"scope:stage_{devices - 1}", RATIO))
        pair("devices_even", "uneven", devices, True, {"turns": 10, "late": [2] * (devices - 1) + [10]},
             {"turns": 10, "late": [2 + 8 / devices] * devices}, "--devices-even")
        first, last = [6] + [0] * (devices - 1), [0] * (devices - 1) + [6]
        sides = {"turns": 10, "early": first, "late": last}
        pair("collective_behind", "ordered", devices, True, sides | {"behind": False}, sides | {"behind": True}, "--overlap", "communication")
    pair("device_late", "uneven", 4, False, {"turns": 10, "late": [2] * 4}, {"turns": 10, "late": [2, 2, 2, 8]}, *scale("scope:stage_3", RATIO))
    pair("stage_late", "pipeline", 4, True, {"stages": [2, 2, 2, 2], "ticks": 4}, {"stages": [2, 2, 5, 2], "ticks": 4}, *scale("scope:stage_2", RATIO))


op_pairs()
input_pairs()
loop_pairs()
device_pairs()
