# SPDX-License-Identifier: Apache-2.0
"""jviewd: look at JAX profiles where they are, and record them.

    import jviewd

    with jviewd.profile_trace("runs/profiles", name="step_1000", step=1000):
        train_step(state, batch)
    jviewd.view_profile("runs/profiles")        # the last line of a cell shows it in place

Everything is forwarded: capturing to `jax.profiler`, looking to the program `jviewd`, which comes with this package. Nothing is analysed
in Python, and jax is imported only by what records.
"""

from __future__ import annotations

from .binary import NotInstalled, program
from .capture import annotate, profile_function, profile_scope, profile_trace, trace_function
from .server import Server, ServerFailed
from .timing import Timing, benchmark_function
from .view import View, open_latest_profile, view_profile

__all__ = [
    "NotInstalled",
    "Server",
    "ServerFailed",
    "Timing",
    "View",
    "annotate",
    "benchmark_function",
    "open_latest_profile",
    "profile_function",
    "profile_scope",
    "profile_trace",
    "program",
    "trace_function",
    "view_profile",
]
