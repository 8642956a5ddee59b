# SPDX-License-Identifier: Apache-2.0
"""`python -m jviewd.parquet`: turns Arrow files into Parquet files, as `jviewd export --format parquet` asks.

    stdin   FROM <tab> TO, a line a file        stdout   "ok" once at the start and for each file, else why not
"""

from __future__ import annotations

import sys

ROW_GROUP_ROWS = 1 << 20
RANGED = {"run", "content_id", "run_step", "captured_at", "host", "step", "name", "kind", "start_ps"}  # least and most: what questions look for


def turn(source: str, target: str) -> None:
    """One table; a row group at a time is in memory."""
    import pyarrow
    import pyarrow.parquet

    with pyarrow.memory_map(source) as mapped, pyarrow.ipc.open_file(mapped) as batches:
        schema = batches.schema
        texts = [field.name for field in schema if pyarrow.types.is_string(field.type)]
        with pyarrow.parquet.ParquetWriter(target, schema, version="2.6", compression="zstd", compression_level=9, use_dictionary=texts,
                                           write_statistics=[name for name in schema.names if name in RANGED], store_schema=False) as writer:
            writer.add_key_value_metadata(schema.metadata)
            waiting, rows = [], 0
            for number in range(batches.num_record_batches):
                batch = batches.get_batch(number)
                waiting.append(batch)
                rows += batch.num_rows
                if rows >= ROW_GROUP_ROWS or number + 1 == batches.num_record_batches:
                    writer.write_table(pyarrow.Table.from_batches(waiting), row_group_size=rows)
                    waiting, rows = [], 0


def answer(text: str) -> None:
    print(" ".join(text.split()) or "failed", flush=True)


def main() -> int:
    try:
        import pyarrow
        import pyarrow.parquet  # noqa: F401
    except ImportError as error:
        answer(f"{error}: pip install 'jviewd[arrow]'")
        return 1
    pyarrow.set_cpu_count(1)
    pyarrow.set_io_thread_count(1)
    answer("ok")
    for line in sys.stdin:
        source, _, target = line.rstrip("\n").partition("\t")
        try:
            turn(source, target)
        except (OSError, pyarrow.ArrowException) as error:
            answer(str(error))
        else:
            answer("ok")
    return 0


if __name__ == "__main__":
    sys.exit(main())
