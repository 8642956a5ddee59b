# SPDX-License-Identifier: Apache-2.0
"""Profiles whose graph is known: each case builds the graphs of its steps, and writes them as the profiler of its kind would.

A case is a function that gives (graphs, write, questions): the graph of each step, a function that writes the file below a folder, and
questions [(words of `jviewd whatif`, factor of a node)]. No two lengths are equal, so that one path alone is the longest.
"""

import gzip
import json
import random

from made_graph import Graph
from made_xspace import Space

STEPS, GAP = 4, 40_000  # ns between two steps: the program does something else
CASES = {}


def case(function):
    CASES[function.__name__] = function
    return function


def steps_of(build, seed):
    """The graphs of all steps, one behind the other."""
    draw, begin, graphs = random.Random(seed), 1_000_000, []
    for _ in range(STEPS):
        graph = Graph(begin)
        build(graph, lambda usual: usual + 2 * draw.randrange(1, usual // 16 + 2))  # even, so that half of it is whole
        begin = graph.run() + GAP
        graphs.append(graph)
    return graphs


def named(name, factor):
    return lambda node: factor if node.name == name else 1


# Kineto: a thread launches kernels on two streams; an event of one stream holds up the other; the thread waits for the device.

def launch(graph, name, stream, length, after=()):
    """What a launch takes shows where the stream was idle, and only there."""
    call = graph.add("cudaLaunchKernel", "thread", length(6_000), category="cuda_runtime")
    delay = 0 if stream in graph.last or after else length(4_000)
    return graph.add(name, stream, length(LENGTHS[name]), after=[(call, delay), *after], category="kernel", launched_by=call)


LENGTHS = {"kernel_a": 400_000, "kernel_b": 300_000, "kernel_c": 500_000, "kernel_d": 150_000, "kernel_e": 120_000}


def two_streams(graph, length):
    graph.add("aten::prepare", "thread", length(90_000), category="cpu_op")
    launch(graph, "kernel_a", "stream 7", length)
    graph.add("aten::middle", "thread", length(30_000), category="cpu_op")
    b = launch(graph, "kernel_b", "stream 7", length)
    record = graph.add("cudaEventRecord", "thread", length(3_000), category="cuda_runtime")
    wait = graph.add("cudaStreamWaitEvent", "thread", length(3_000), category="cuda_runtime", waits_for=record)
    c = launch(graph, "kernel_c", "stream 20", length, after=[(b, length(2_000))])
    c.facts["held_by"] = wait
    launch(graph, "kernel_d", "stream 7", length)
    e = launch(graph, "kernel_e", "stream 20", length)
    d = graph.last["stream 7"]
    wake = length(7_000)
    graph.add("cudaDeviceSynchronize", "thread", until=[(e, wake), (d, wake)], category="cuda_runtime")
    graph.add("aten::finish", "thread", length(60_000), category="cpu_op")


@case
def kineto_two_streams():
    graphs = steps_of(two_streams, 1)
    return graphs, lambda folder: write_kineto(folder, graphs), [
        (["--scale", "op:kernel_c=0.5"], named("kernel_c", 0.5)), (["--scale", "op:kernel_d=0"], named("kernel_d", 0)),
        (["--scale", "op:kernel_d=6"], named("kernel_d", 6)), (["--scale", "op:aten::prepare=3"], named("aten::prepare", 3))]


def slow_launches(graph, length):
    graph.add("aten::prepare", "thread", length(50_000), category="cpu_op")
    for name in ("kernel_d", "kernel_e", "kernel_d", "kernel_e"):
        graph.add("aten::dispatch", "thread", length(180_000), category="cpu_op")
        call = graph.add("cudaLaunchKernel", "thread", length(6_000), category="cuda_runtime")
        kernel = graph.add(name, "stream 7", length(40_000), after=[(call, length(4_000))], category="kernel", launched_by=call)
    graph.add("cudaDeviceSynchronize", "thread", until=[(kernel, length(7_000))], category="cuda_runtime")


@case
def kineto_slow_launches():
    graphs = steps_of(slow_launches, 2)
    return graphs, lambda folder: write_kineto(folder, graphs), [
        (["--scale", "op:aten::dispatch=0.5"], named("aten::dispatch", 0.5)), (["--scale", "op:kernel_d=0.5"], named("kernel_d", 0.5)),
        (["--scale", "op:kernel_e=2"], named("kernel_e", 2))]


def write_kineto(folder, graphs):
    events = [{"ph": "M", "name": "process_name", "pid": 4000, "tid": 0, "ts": 0, "args": {"name": "python"}},
              {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "ts": 0, "args": {"labels": "GPU 0"}}]
    for number, graph in enumerate(graphs):
        end = max(node.end for node in graph.nodes)
        events.append(slice_of(4000, 4000, f"ProfilerStep#{number}", "user_annotation", graph.begin, end, {"External id": 1}))
        for index, node in enumerate(graph.nodes):
            node.facts["correlation"] = 1000 * (number + 1) + index
        for node in graph.nodes:
            events += kineto_events(node)
    whole = {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-40GB"}], "traceEvents": events, "traceName": "made.json"}
    (folder / "worker0.1700000000000.pt.trace.json.gz").write_bytes(gzip.compress(json.dumps(whole).encode(), mtime=0))


def slice_of(process, thread, name, category, start, end, args):
    return {"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": start / 1000, "dur": (end - start) / 1000, "args": args}


def kineto_events(node):
    facts, category = node.facts, node.facts["category"]
    if category != "kernel":
        yield slice_of(4000, 4000, node.name, category, node.start, node.end, {"External id": 2, "correlation": facts["correlation"]})
        return
    stream, correlation = int(node.lane.split()[1]), facts["launched_by"].facts["correlation"]
    where = {"device": 0, "context": 1, "stream": stream}
    yield slice_of(0, stream, node.name, "kernel", node.start, node.end, {**where, "correlation": correlation, "External id": 2})
    for kind, end in (("s", facts["launched_by"]), ("f", node)):
        yield {"ph": kind, "id": correlation, "cat": "ac2g", "name": "ac2g", "pid": 4000 if kind == "s" else 0,
               "tid": 4000 if kind == "s" else stream, "ts": end.start / 1000, **({"bp": "e"} if kind == "f" else {})}
    if "held_by" in facts:
        wait = facts["held_by"].facts
        yield slice_of(0, stream, "Stream Wait Event", "cuda_sync", facts["held_by"].end, facts["held_by"].end + 1,
                       {"cuda_sync_kind": "Stream Wait Event", **where, "correlation": wait["correlation"], "wait_on_stream": 7,
                        "wait_on_cuda_event_record_corr_id": wait["waits_for"].facts["correlation"], "wait_on_cuda_event_id": 1})


# TPU: ops of a core one after the other, a transfer beside them, collectives of four cores.

def transfer(graph, length):
    graph.add("fusion.1", "core 0", length(200_000))
    start = graph.add("copy-start.1", "core 0", length(1_000))
    moved = graph.add("async-copy", "core 0", length(700_000), since=[(start, 0)], beside=True, done="copy-done.1")
    graph.add("fusion.2", "core 0", length(300_000))
    graph.add("copy-done.1", "core 0", until=[(moved, 0)])
    graph.add("fusion.3", "core 0", length(150_000))


@case
def tpu_transfer():
    graphs = steps_of(transfer, 3)
    return graphs, lambda folder: write_tpu(folder, graphs), [
        (["--scale", "op:fusion.2=2"], named("fusion.2", 2)), (["--scale", "op:fusion.2=3"], named("fusion.2", 3)),
        (["--scale", "op:fusion.1=0.5"], named("fusion.1", 0.5)), (["--scale", "op:fusion.3=0"], named("fusion.3", 0))]


def late_core(graph, length):
    joined = []
    for core in range(4):
        graph.add("fusion.1", f"core {core}", length(900_000 if core == 2 else 200_000))
        joined.append(graph.add("all-reduce.1", f"core {core}"))
        graph.add("fusion.2", f"core {core}", length(400_000 if core == 1 else 250_000))
    graph.join(joined, length(80_000))


@case
def tpu_late_core():
    graphs = steps_of(late_core, 4)
    return graphs, lambda folder: write_tpu(folder, graphs), [
        (["--scale", "op:fusion.1=0.5"], named("fusion.1", 0.5)), (["--scale", "op:fusion.2=2"], named("fusion.2", 2)),
        (["--scale", "op:fusion.2=0"], named("fusion.2", 0))]


def write_tpu(folder, graphs):
    space = Space()
    for core in sorted({node.lane for graph in graphs for node in graph.nodes}):
        plane = space.plane(f"/device:TPU:{core.split()[1]}")
        for number, graph in enumerate(graphs):
            own = [node for node in graph.nodes if node.lane == core]
            end = max(node.end for node in graph.nodes)
            plane.event("Steps", str(number), graph.begin, end, group_id=number)
            plane.event("XLA Modules", "jit_step(77)", graph.begin, max(node.end for node in own), run_id=number + 1)
            for node in own:
                if "done" in node.facts:
                    plane.event("Async XLA Ops", node.name, node.start, node.end, hlo_op=node.facts["done"], _a=1, flow=500 + number)
                else:
                    plane.event("XLA Ops", node.name, node.start, node.end)
    (folder / "host.xplane.pb").write_bytes(space.bytes())


# JAX on CPU: a thread loads, the step takes what is ready, calls its program and waits for it.

def input_bound(graph, length):
    load = graph.add("load_batch", "loader", length(900_000))
    graph.add("next_batch", "python", until=[(load, length(20_000))])
    call = graph.add("step", "python", length(70_000))
    ready = graph.add("fusion.1", "device", length(400_000), after=[(call, length(15_000))])
    graph.add("wait", "python", until=[(ready, length(10_000))])
    graph.add("report", "python", length(30_000))


@case
def cpu_input_thread():
    graphs = steps_of(input_bound, 5)
    return graphs, lambda folder: write_cpu(folder, graphs), [
        (["--scale", "op:load_batch=0.5"], named("load_batch", 0.5)), (["--scale", "op:fusion.1=2"], named("fusion.1", 2)),
        (["--scale", "op:report=4"], named("report", 4))]


def write_cpu(folder, graphs):
    space = Space()
    plane = space.plane("/host:CPU")
    for number, graph in enumerate(graphs):
        plane.event("python", "train", graph.begin, max(node.end for node in graph.nodes), _r=1, step_num=number)
        for node in graph.nodes:
            CPU_WRITERS.get(node.name, write_slice)(plane, node, number)
    (folder / "host.xplane.pb").write_bytes(space.bytes())


def write_slice(plane, node, _):
    plane.event(node.lane, node.name, node.start, node.end)


def write_call(plane, node, number):
    """The call hands its program to a pool just before it returns."""
    plane.event("python", "PjitFunction(step)", node.start, node.end)
    plane.event("python", "ThreadpoolListener::Record", node.end, node.end, _pt=15, _p=7000 + number)


def write_op(plane, node, number):
    line, partner = "tf_XLAPjRtCpuClient/1", 100 + number
    plane.event(line, "ThreadpoolListener::StartRegion", node.start, node.start, _ct=15, _c=7000 + number)
    plane.event(line, node.name, node.start, node.end, hlo_op=node.name, hlo_module="jit_step", program_id=7, run_id=number + 1, device_ordinal=0, _pt=0, _p=partner)
    plane.event(line, "end: " + node.name, node.end, node.end, _ct=0, _c=partner)
    plane.event(line, "ThreadpoolListener::StopRegion", node.end, node.end)


def write_wait(plane, node, number):
    """A thread that waits for a buffer says so when it begins and when it goes on."""
    plane.event("python", "CommonPjRtBuffer::Await", node.start, node.start + 700, _pt=0, _p=9000 + number)
    plane.event("python", "CommonPjRtBuffer::Await", node.end - 1900, node.end, _ct=0, _c=9000 + number)


CPU_WRITERS = {"step": write_call, "fusion.1": write_op, "wait": write_wait}
