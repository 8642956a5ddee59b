#!/usr/bin/env python3
"""make_zip_seeds.py DIR: small ZIP archives for the fuzzer: one of one trace, one as nsys-jax writes it (its tables from
make_parquet_seeds.py)."""

import io
import lzma
import pathlib
import sys
import zipfile

import make_parquet_seeds

TRACE = b'{"traceEvents": [{"ph": "X", "pid": 1, "tid": 2, "ts": 1, "dur": 2, "name": "a"}]}'
REPORT = b'Start (ns),End (ns),Duration (ns),Name,PID,TID\n5,9,4,"TSL:XlaModule:#hlo_module=jit_f,program_id=1#",7,8\n'


def archive(entries, method):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        for name, content in entries.items():
            made.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, compress_type=method)
    return out.getvalue()


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    table = make_parquet_seeds.table(make_parquet_seeds.SNAPPY, True, 1)
    jax = {"nvtx_gpu_proj_trace/trace.parquet": table, "report_nvtx_pushpop_trace.csv.xz": lzma.compress(REPORT),
           "dump/module_0001.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb.xz": lzma.compress(b"\x0a\x09\x0a\x05jit_f\x12\x00")}
    (folder / "one").write_bytes(archive({"a.json": TRACE}, zipfile.ZIP_DEFLATED))
    (folder / "one-stored").write_bytes(archive({"a.json": TRACE}, zipfile.ZIP_STORED))
    (folder / "nsys-jax").write_bytes(archive(jax, zipfile.ZIP_DEFLATED))


if __name__ == "__main__":
    main()
