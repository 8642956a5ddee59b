# SPDX-License-Identifier: Apache-2.0
"""Tables of many runs as Arrow batches: what `jviewd plan` and `jviewd export` do, for engines that bring their own workers.

    for part in plan("runs/profiles", parts=8):
        for batch in read("runs/profiles", "ops", part.runs):
            ...

Nothing is decoded in Python: a worker starts the program, which writes Arrow files into a directory of its own, and maps them.
"""

from __future__ import annotations

import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .binary import program

if TYPE_CHECKING:
    import pyarrow

PART_BYTES = 256 << 20  # of profiles: what a part has unless it is said how many there are


class Failed(RuntimeError):
    """The program could not do it; the message is its own."""


@dataclasses.dataclass(frozen=True)
class Part:
    runs: tuple[str, ...]
    """Ids of runs, for `read`."""
    names: tuple[str, ...]
    bytes: int


def _run(*arguments: str) -> str:
    done = subprocess.run([program(), *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise Failed(done.stderr.strip().rsplit("\n", 1)[-1] or f"jviewd ended with {done.returncode}")
    return done.stdout


def schema() -> dict[str, dict[str, str]]:
    """Columns with their types (text, integer, real) by table."""
    told = json.loads(_run("export", "--schema"))
    return {table["name"]: {column["name"]: column["type"] for column in table["columns"]} for table in told["tables"]}


def plan(path: str, parts: int | None = None, names: Iterable[str] | None = None, cache: str | None = None) -> list[Part]:
    """The runs below a directory, dealt out by size; `names` leaves these alone."""
    with _directory(cache) as own:
        lines = [line.split("\t", 3) for line in _run("plan", str(path), "--parts", str(parts or 1), "--cache-dir", own).splitlines()]
        if parts is None:
            total = sum(int(size) for _, _, size, _ in lines)
            parts = max(1, min(len(lines), max(total // PART_BYTES, 32)))
            lines = [line.split("\t", 3) for line in _run("plan", str(path), "--parts", str(parts), "--cache-dir", own).splitlines()]
    wanted = None if names is None else set(names)
    dealt: dict[str, list[tuple[str, str, int]]] = {}
    for part, run, size, name in lines:
        if wanted is None or name in wanted:
            dealt.setdefault(part, []).append((run, name, int(size)))
    return [Part(tuple(run for run, _, _ in runs), tuple(name for _, name, _ in runs), sum(size for _, _, size in runs))
            for runs in dealt.values()]


class _directory:
    """A cache of its own, which goes; or the one that was named."""

    def __init__(self, cache: str | None) -> None:
        self.cache = cache
        self.made: str | None = None

    def __enter__(self) -> str:
        if self.cache is None:
            local = (os.environ.get("LOCAL_DIRS") or os.environ.get("SPARK_LOCAL_DIRS") or "").split(",")[0]
            self.made = tempfile.mkdtemp(prefix="jviewd-", dir=local if local and os.path.isdir(local) else None)
        return self.cache or str(self.made)

    def __exit__(self, *_: object) -> None:
        if self.made is not None:
            shutil.rmtree(self.made, ignore_errors=True)


def read(path: str, table: str, runs: Sequence[str], cache: str | None = None, store: str | None = None,
         days: Iterable[str] | None = None) -> Iterator["pyarrow.RecordBatch"]:
    """Every row of the table of these runs. `store` is an index store: what is indexed there is not decoded here. A run that cannot be read
    has a row in `runs` and `files`, which says why."""
    import pyarrow

    wanted = None if days is None else set(days)
    with _directory(cache) as own:
        to = tempfile.mkdtemp(prefix="tables-", dir=own)
        shared = ["--index-store", str(store)] if store else []
        _run("export", str(path), "--to", to, "--format", "arrow", "--tables", table, "--runs", ",".join(runs), "--cache-dir", own, *shared)
        for file in sorted(pathlib.Path(to, table).glob("day=*/*.arrow")):
            if wanted is not None and file.parent.name[4:] not in wanted:
                continue
            with pyarrow.memory_map(str(file)) as mapped, pyarrow.ipc.open_file(mapped) as batches:
                for number in range(batches.num_record_batches):
                    yield _with_day(batches.get_batch(number), file.parent.name[4:])
        shutil.rmtree(to, ignore_errors=True)


def _with_day(batch: "pyarrow.RecordBatch", day: str) -> "pyarrow.RecordBatch":
    import pyarrow

    column = pyarrow.array([day] * batch.num_rows, type=pyarrow.string())
    return pyarrow.RecordBatch.from_arrays([*batch.columns, column], names=[*batch.schema.names, "day"])


def index(path: str, store: str, runs: Sequence[str], cache: str | None = None) -> int:
    """Leaves the indexes of these runs in the store; how many runs."""
    with _directory(cache) as own:
        _run("index", str(path), "--index-store", str(store), "--runs", ",".join(runs), "--cache-dir", own)
    return len(runs)


def keep(batch: "pyarrow.RecordBatch", equal: dict[str, set[Any]], columns: Sequence[str]) -> "pyarrow.RecordBatch":
    """The rows whose columns have one of the values, in these columns."""
    import pyarrow
    import pyarrow.compute

    for name, values in equal.items():
        at = batch.schema.get_field_index(name)
        if at >= 0:
            batch = batch.filter(pyarrow.compute.is_in(batch.column(at), pyarrow.array(sorted(values), type=batch.schema.field(at).type)))
    return pyarrow.RecordBatch.from_arrays([batch.column(batch.schema.get_field_index(name)) for name in columns], names=list(columns))
