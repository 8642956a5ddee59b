# SPDX-License-Identifier: Apache-2.0
"""PyTorch on the CPU below torch.profiler: "schedule" with prof.step(), "plain" without, "named" with record_function, "numbered" with a
number in its name; without any of them "loader" with data of a DataLoader, "summed" with an update each third of its batches, "two" with
an optimizer for each of two models, of one kind.
torch_steps.py KIND TRACE.json TRUTH.json"""

import contextlib
import json
import sys
import time

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

SIZE = 384


def main():
    kind, trace, truth = sys.argv[1:]
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(SIZE, SIZE), torch.nn.Tanh(), torch.nn.Linear(SIZE, SIZE))
    optimizer, batch = torch.optim.SGD(model.parameters(), lr=0.01), torch.ones(SIZE, SIZE)

    other = torch.nn.Linear(SIZE, SIZE)
    second = torch.optim.SGD(other.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(torch.ones(15 * 3 * SIZE, SIZE), batch_size=SIZE)
    batches = iter(loader)

    def update(one, by, count):
        by.zero_grad()
        for _ in range(count):
            data = next(batches) if kind in ("loader", "summed") else batch
            loss = (one(data) - data).square().mean()
            loss.backward()
        by.step()
        return loss

    def train_step():
        if kind == "two":
            next(batches)
            update(other, second, 1)
        loss = update(model, optimizer, 3 if kind == "summed" else 1)
        time.sleep(0.01)
        return loss.item()

    for _ in range(3):
        train_step()
    planned = schedule(wait=1, warmup=1, active=8, repeat=1) if kind == "schedule" else None
    times = []
    with profile(activities=[ProfilerActivity.CPU], schedule=planned, on_trace_ready=lambda done: done.export_chrome_trace(trace)) as recorder:
        for number in range(12):
            name = {"named": "train_step", "numbered": f"iteration {number}"}.get(kind)
            begun = time.perf_counter()
            with record_function(name) if name else contextlib.nullcontext():
                train_step()
            times.append(time.perf_counter() - begun)
            if kind == "schedule":
                recorder.step()
    with open(truth, "w", encoding="utf-8") as file:
        json.dump({"step_s": times[2:10] if kind == "schedule" else times}, file)


main()
