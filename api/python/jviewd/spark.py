# SPDX-License-Identifier: Apache-2.0
"""Profiles as tables of Spark, version 4 or later.

    spark.dataSource.register(jviewd.spark.Profiles)
    ops = spark.read.format("jviewd").option("table", "ops").load("runs/profiles")
    ops.where("kind = 'communication'").groupBy("device_kind", "scope").sum("self_ps").show()

    path       a directory of profiles that every worker sees
    table      ops, steps, ...: see docs/fleet.md; ops unless said
    store      an index store: what is indexed there is not decoded again
    parts      how many tasks; else one for each 256 MB of profiles, and at least 32
    run, day, host, device_kind
               rows of this one alone, or of these: '["step_500", "step_1000"]'. Other runs are not read at all
    cache      a directory of each worker for indexes; else each task has its own, which goes

A part is some runs, dealt out by size. A task starts the program that comes with this package, in its own directory and under the program's own
limits. `.schema(...)` with some of the columns reads these alone. Filters that Spark would hand to Python are not taken: Spark 4.3 keeps a reader
with its DataFrame, and what `where` asked once would be left out of every later question. A profile that cannot be read is a row of the tables
`files` and `runs` with its reason, and fails no task.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from . import tables

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import SparkSession

_FILTERS = ("run", "day", "host", "device_kind")
_TYPES = {"text": StringType(), "integer": LongType(), "real": DoubleType()}


def _values(text: str) -> set[str]:
    """One, or a list as JSON."""
    return set(json.loads(text)) if text.startswith("[") else {text}


class _Part(InputPartition):  # type: ignore[misc]
    def __init__(self, runs: tuple[str, ...]) -> None:
        super().__init__(runs)
        self.runs = runs


class Profiles(DataSource):  # type: ignore[misc]
    """The format `jviewd`."""

    @classmethod
    def name(cls) -> str:
        return "jviewd"

    def _table(self) -> str:
        return str(self.options.get("table", "ops"))

    def schema(self) -> StructType:
        known = tables.schema()
        if self._table() not in known:
            raise ValueError(f'there is no table "{self._table()}"; there are {", ".join(known)}')
        columns = [StructField(name, _TYPES[kind]) for name, kind in known[self._table()].items()]
        return StructType([*columns, StructField("day", StringType())])

    def reader(self, schema: StructType) -> "_Reader":
        if "path" not in self.options:
            raise ValueError('say where the profiles are: .load("runs/profiles")')
        return _Reader(dict(self.options), self._table(), [field.name for field in schema.fields])


class _Reader(DataSourceReader):  # type: ignore[misc]
    def __init__(self, options: dict[str, str], table: str, columns: list[str]) -> None:
        self.path, self.table, self.columns = options["path"], table, columns
        self.store, self.cache = options.get("store"), options.get("cache")
        self.parts = int(options["parts"]) if "parts" in options else None
        self.equal = {name: _values(options[name]) for name in _FILTERS if name in options}

    def partitions(self) -> list[_Part]:
        return [_Part(part.runs) for part in tables.plan(self.path, self.parts, self.equal.get("run"))] or [_Part(())]

    def read(self, partition: _Part) -> Iterator["pyarrow.RecordBatch"]:
        if not partition.runs:
            return
        for batch in tables.read(self.path, self.table, partition.runs, self.cache, self.store, self.equal.get("day")):
            yield tables.keep(batch, self.equal, self.columns)


def index(spark: "SparkSession", path: str, store: str, parts: int | None = None) -> int:
    """Leaves the index of every run below the directory in the store, by all workers; how many runs there are."""
    dealt = [part.runs for part in tables.plan(path, parts)]

    def work(batches: Iterable["pyarrow.RecordBatch"]) -> Iterator["pyarrow.RecordBatch"]:
        import pyarrow

        for batch in batches:
            for number in batch.column(0).to_pylist():
                count = tables.index(path, store, dealt[number])
                yield pyarrow.RecordBatch.from_arrays([pyarrow.array([count], type=pyarrow.int64())], names=["runs"])

    if not dealt:
        return 0
    done = spark.range(0, len(dealt), 1, len(dealt)).mapInArrow(work, "runs long").collect()
    return sum(row.runs for row in done)
