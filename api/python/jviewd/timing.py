# SPDX-License-Identifier: Apache-2.0
"""Timing a function without a profile; `jviewd check` reads the result as JSON."""

from __future__ import annotations

import statistics
import sys
import time
from typing import Any, Callable, TypedDict


class Timing(TypedDict):
    """Milliseconds a call, `std` that of the sample, over `count` calls."""

    mean: float
    std: float
    min: float
    max: float
    median: float
    count: int


def benchmark_function(func: Callable[..., Any], *args: Any, num_iterations: int = 100, warmup: int = 10, **kwargs: Any) -> Timing:
    """Times calls, each until its result is on the device; the arguments and `kwargs` are the function's."""
    if num_iterations < 1 or warmup < 0:
        raise ValueError("num_iterations must be at least 1, and warmup not negative")
    for _ in range(warmup):
        _ready(func(*args, **kwargs))
    times = []
    for _ in range(num_iterations):
        begin = time.perf_counter_ns()
        _ready(func(*args, **kwargs))
        times.append((time.perf_counter_ns() - begin) / 1e6)
    return {
        "mean": statistics.fmean(times),
        "std": statistics.stdev(times) if len(times) > 1 else 0.0,
        "min": min(times),
        "max": max(times),
        "median": statistics.median(times),
        "count": len(times),
    }


def _ready(result: Any) -> None:
    jax = sys.modules.get("jax")  # what never imported it returns nothing to wait for
    if jax is not None:
        jax.block_until_ready(result)
