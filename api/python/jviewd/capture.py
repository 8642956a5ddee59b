# SPDX-License-Identifier: Apache-2.0
"""Recording: `jax.profiler`, with a name, and with what the program knows of its run beside the profile (jview.json)."""

from __future__ import annotations

import functools
import json
import math
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Callable, TypeVar, cast

Function = TypeVar("Function", bound=Callable[..., Any])


@contextmanager
def profile_trace(
    log_dir: str | os.PathLike[str],
    name: str | None = None,
    create_perfetto_link: bool = False,
    create_perfetto_trace: bool = False,
    tensorboard: bool = True,
    *,
    step: int | None = None,
    commit: str | None = None,
    tags: Sequence[str] = (),
    notes: Sequence[str] = (),
    metrics: Mapping[str, Any] | None = None,
    **options: Any,
) -> Iterator[Path]:
    """Records what runs inside to `log_dir/name`, which it yields; without a name, to `log_dir`.

    `step`, `commit` (by default what git says of the working directory), `tags`, `notes` and `metrics` are written beside it when the trace
    has ended; `metrics` may be filled until then. Other options go to `jax.profiler.trace`, such as `profiler_options`. `tensorboard` is
    taken for the sake of callers and changes nothing: the files are TensorBoard's either way.
    """
    import jax

    directory = Path(log_dir, name) if name else Path(log_dir)
    directory.mkdir(parents=True, exist_ok=True)
    before = _sessions(directory)
    with jax.profiler.trace(str(directory), create_perfetto_link=create_perfetto_link, create_perfetto_trace=create_perfetto_trace, **options):
        yield directory
    about: dict[str, Any] = {"name": name, "step": None if step is None else int(step), "commit": commit or _commit()}
    about.update(tags=[str(tag) for tag in tags], notes=[str(note) for note in notes], metrics=_finite(metrics or {}))
    made = _sessions(directory) - before
    _write(made.pop() if len(made) == 1 else directory, {key: value for key, value in about.items() if value not in (None, [], {})})


def profile_function(
    log_dir: str | os.PathLike[str], name: str | None = None, warmup_steps: int = 3, profile_steps: int = 1, **options: Any
) -> Callable[[Function], Function]:
    """A decorator: each call runs the function `warmup_steps` times, then records it `profile_steps` times, a step each, and returns the last
    result. Options as of `profile_trace`."""
    if profile_steps < 1 or warmup_steps < 0:
        raise ValueError("profile_steps must be at least 1, and warmup_steps not negative")

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def profiled(*args: Any, **kwargs: Any) -> Any:
            import jax

            result = None
            for _ in range(warmup_steps):
                result = jax.block_until_ready(function(*args, **kwargs))
            with profile_trace(log_dir, name or function.__name__, **options):
                for index in range(profile_steps):
                    with jax.profiler.StepTraceAnnotation(name or function.__name__, step_num=index):
                        result = jax.block_until_ready(function(*args, **kwargs))
            return result

        return cast(Function, profiled)

    return decorate


@contextmanager
def profile_scope(name: str, enabled: bool = True) -> Iterator[None]:
    """Names what runs inside: on the host's timeline, and the ops that are traced within, as a scope."""
    if not enabled:
        yield
        return
    import jax

    with jax.profiler.TraceAnnotation(name), jax.named_scope(name):
        yield


def annotate(name: str) -> Callable[[Function], Function]:
    """A decorator: each call of the function is a range of that name."""
    return lambda function: trace_function(function, name)


def trace_function(fn: Function, name: str | None = None) -> Function:
    """The function, each call of which is a range of its name."""
    label = name or fn.__name__

    @functools.wraps(fn)
    def traced(*args: Any, **kwargs: Any) -> Any:
        with profile_scope(label):
            return fn(*args, **kwargs)

    return cast(Function, traced)


def _finite(metrics: Mapping[str, Any]) -> dict[str, float]:
    """Numbers of any library as such; what is not finite JSON cannot say."""
    numbers = {str(name): float(value) for name, value in metrics.items()}
    return {name: value for name, value in numbers.items() if math.isfinite(value)}


def _sessions(directory: Path) -> set[Path]:
    return set(directory.glob("plugins/profile/*/"))


def _commit() -> str | None:
    try:
        asked = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=5, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return asked.stdout.strip() or None if asked.returncode == 0 else None


def _write(directory: Path, about: dict[str, Any]) -> None:
    """jview.json, in place at once: a reader never sees a part of it."""
    half = directory / f".jview.json.{os.getpid()}"
    half.write_text(json.dumps(about, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    half.replace(directory / "jview.json")
