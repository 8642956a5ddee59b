# SPDX-License-Identifier: Apache-2.0
"""Profiles as a dataset of Ray.

    ops = jviewd.ray.read("runs/profiles", table="ops")
    ops.groupby("name").sum("self_ps")

The directory is one that every worker sees; parts, store and cache are those of jviewd.spark.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import tables

if TYPE_CHECKING:
    import ray.data


def read(path: str, table: str = "ops", parts: int | None = None, store: str | None = None, cache: str | None = None) -> "ray.data.Dataset":
    """Every row of the table of every run below the directory."""
    import pyarrow
    import ray.data

    known = tables.schema()
    if table not in known:
        raise ValueError(f'there is no table "{table}"; there are {", ".join(known)}')
    kinds = {"text": pyarrow.string(), "integer": pyarrow.int64(), "real": pyarrow.float64()}
    schema = pyarrow.schema([*((name, kinds[kind]) for name, kind in known[table].items()), ("day", pyarrow.string())])
    dealt = [{"part": number, "runs": ",".join(part.runs)} for number, part in enumerate(tables.plan(path, parts))]
    if not dealt:
        return ray.data.from_arrow(schema.empty_table())

    def work(batch: Any) -> Any:
        for runs in batch.column("runs").to_pylist():
            found = list(tables.read(path, table, runs.split(","), cache, store))
            yield pyarrow.Table.from_batches(found).cast(schema) if found else schema.empty_table()

    return ray.data.from_items(dealt, override_num_blocks=len(dealt)).map_batches(work, batch_format="pyarrow", batch_size=1)
