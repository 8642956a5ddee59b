#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""made_snapshot: memory snapshots in the structure of torch.cuda.memory._snapshot, of an allocator modelled here.

  made_snapshot.py FILE [--steps N] [--devices N] [--entries MAX] [--protocol N] [--depth N] [--seed N]

The model hands out blocks of cached segments as PyTorch's does (sizes in steps of 512 bytes, small segments of 2 MiB,
large ones of 20 MiB or in steps of 2 MiB, best fit, splits, merges of free neighbours, frees that another stream
delays) and counts allocated, active, requested and reserved bytes as it goes, under the names of memory_stats. Python's
own pickle writes the file; the counts are printed as JSON. --entries keeps that many events, as max_entries does.
"""

import argparse
import collections
import json
import pickle
import random

MIB = 1 << 20


class Block:
    def __init__(self, address, size):
        self.address, self.size, self.state, self.requested, self.frames = address, size, "inactive", 0, []


class Device:
    """One device's allocator and its counts."""

    def __init__(self, number, entries):
        self.number, self.segments, self.trace = number, [], collections.deque(maxlen=entries)
        self.next_address = 0x7F0000000000 + (number << 40)
        self.stats = dict.fromkeys(("allocated_bytes", "active_bytes", "requested_bytes", "reserved_bytes", "allocation", "segment"), 0)
        self.peaks = dict(self.stats)
        self.now = 1_790_000_000_000_000 + number

    def add(self, **changes):
        for key, change in changes.items():
            self.stats[key] += change
            self.peaks[key] = max(self.peaks[key], self.stats[key])

    def record(self, action, address, size, frames):
        self.now += random.randint(1, 40)
        self.trace.append({"action": action, "addr": address, "size": size, "stream": 0, "time_us": self.now,
                           "compile_context": "N/A", "user_metadata": "", "frames": frames})

    def segment_for(self, size, frames):
        total = 2 * MIB if size <= MIB else 20 * MIB if size < 10 * MIB else -(-size // (2 * MIB)) * 2 * MIB
        segment = {"address": self.next_address, "total": total, "large": size > MIB, "frames": frames,
                   "blocks": [Block(self.next_address, total)]}
        self.next_address += total + 2 * MIB
        self.segments.append(segment)
        self.add(reserved_bytes=total, segment=1)
        self.record("segment_alloc", segment["address"], total, frames)
        return segment

    def allocate(self, requested, frames):
        size = max(512, -(-requested // 512) * 512)
        fitting = [(block.size, block.address, segment, block) for segment in self.segments if segment["large"] == (size > MIB)
                   for block in segment["blocks"] if block.state == "inactive" and block.size >= size]
        if fitting:
            _, _, segment, block = min(fitting, key=lambda one: one[:2])
        else:
            segment = self.segment_for(size, frames)
            block = segment["blocks"][0]
        if block.size - size >= (512 if size <= MIB else MIB + 512):
            rest = Block(block.address + size, block.size - size)
            segment["blocks"].insert(segment["blocks"].index(block) + 1, rest)
            block.size = size
        block.state, block.requested, block.frames = "active_allocated", requested, frames
        self.add(allocated_bytes=block.size, active_bytes=block.size, requested_bytes=requested, allocation=1)
        self.record("alloc", block.address, requested, frames)
        return segment, block

    def free(self, held, frames, delayed):
        block = held[1]
        self.add(allocated_bytes=-block.size, requested_bytes=-block.requested, allocation=-1)
        block.state = "active_pending_free"
        self.record("free_requested", block.address, block.requested, frames)
        if not delayed:
            self.complete(held, frames)

    def complete(self, held, frames):
        segment, block = held
        self.add(active_bytes=-block.size)
        self.record("free_completed", block.address, block.requested, frames)
        block.state, block.frames = "inactive", []
        blocks = segment["blocks"]
        at = blocks.index(block)
        for left, right in ((at, at + 1), (at - 1, at)):
            if 0 <= left and right < len(blocks) and blocks[left].state == blocks[right].state == "inactive":
                blocks[left].size += blocks[right].size
                del blocks[right]

    def empty_cache(self, frames):
        for segment in [one for one in self.segments if len(one["blocks"]) == 1 and one["blocks"][0].state == "inactive"]:
            self.segments.remove(segment)
            self.add(reserved_bytes=-segment["total"], segment=-1)
            self.record("segment_free", segment["address"], segment["total"], frames)

    def told(self):
        return [{"device": self.number, "address": segment["address"], "total_size": segment["total"],
                 "allocated_size": sum(b.size for b in segment["blocks"] if b.state == "active_allocated"),
                 "active_size": sum(b.size for b in segment["blocks"] if b.state != "inactive"),
                 "requested_size": sum(b.requested for b in segment["blocks"] if b.state == "active_allocated"), "stream": 0,
                 "segment_type": "large" if segment["large"] else "small", "segment_pool_id": (0, 0), "is_expandable": False,
                 "frames": segment["frames"],
                 "blocks": [{"address": b.address, "size": b.size, "requested_size": b.requested if b.state != "inactive" else b.size,
                             "state": b.state, "frames": b.frames} for b in segment["blocks"]]} for segment in self.segments]


class Stacks:
    """Each frame once, as PyTorch makes them; a new list for each stack that is gathered."""

    def __init__(self, depth):
        self.library = [{"name": "forward", "filename": f"/opt/env/lib/python3.11/site-packages/torch/nn/modules/m{i}.py", "line": 100 + i}
                        for i in range(depth)]
        self.layers = [{"name": "forward", "filename": "/home/user/model.py", "line": 10 + layer} for layer in range(24)]
        self.bottom = [{"name": "step", "filename": "/home/user/train.py", "line": 31},
                       {"name": "main", "filename": "/home/user/train.py", "line": 60},
                       {"name": "<module>", "filename": "/home/user/train.py", "line": 75}]

    def of(self, layer):
        return [*self.library, self.layers[layer % 24], *self.bottom]


def run(devices, steps, stacks):
    for device in devices:
        for layer in range(24):
            device.allocate(random.choice((3, 5)) * 1000 * 4 * (1 + layer), stacks.of(layer))
    for step in range(steps):
        for device in devices:
            made = [(device.allocate(random.randint(1, 4000) * random.choice((128, 4096)), stacks.of(layer)), layer) for layer in range(24)]
            delayed = []
            for held, layer in reversed(made):
                late = random.random() < 0.05
                device.free(held, stacks.of(layer), delayed=late)
                if late:
                    delayed.append((held, stacks.of(layer)))
            for held, frames in delayed if step + 1 < steps else delayed[1:]:
                device.complete(held, frames)
            if step % 5 == 4:
                device.empty_cache(stacks.of(0))


def make(steps=20, device_count=1, entries=None, depth=6, seed=1):
    random.seed(seed)
    devices = [Device(number, entries) for number in range(device_count)]
    run(devices, steps, Stacks(depth))
    snapshot = {"segments": [segment for device in devices for segment in device.told()],
                "device_traces": [list(device.trace) for device in devices],
                "allocator_settings": {"PYTORCH_CUDA_ALLOC_CONF": "", "max_split_size": -1, "expandable_segments": False},
                "external_annotations": []}
    return snapshot, [{"stats": device.stats, "peaks": device.peaks} for device in devices]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file")
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--entries", type=int)
    parser.add_argument("--protocol", type=int, default=pickle.DEFAULT_PROTOCOL)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    snapshot, truth = make(args.steps, args.devices, args.entries, args.depth, args.seed)
    with open(args.file, "wb") as out:
        pickle.dump(snapshot, out, protocol=args.protocol)
    print(json.dumps(truth))


if __name__ == "__main__":
    main()
