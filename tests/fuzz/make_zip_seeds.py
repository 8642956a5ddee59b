#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_zip_seeds.py DIR [REPORTS]: small ZIP archives for the fuzzer: one of one trace, one as nsys-jax writes it (its tables from
make_parquet_seeds.py); and in REPORTS its reports of all ranges, as they lie in a directory."""

import contextlib
import io
import lzma
import pathlib
import sys
import zipfile

import make_parquet_seeds

TRACE = b'{"traceEvents": [{"ph": "X", "pid": 1, "tid": 2, "ts": 1, "dur": 2, "name": "a"}]}'
REPORT = b'Start (ns),End (ns),Duration (ns),Name,PID,TID\n5,9,4,"TSL:XlaModule:#hlo_module=jit_f,program_id=1#",7,8\n'


# Columns as nsys writes them, a name with quotes and commas, a row without a time, one without an end.
QUOTED = (b'Start (ns),End (ns),Duration (ns),DurChild (ns),DurNonChild (ns),Name,PID,TID,Lvl,NumChild,RangeId,ParentId,RangeStack,NameTree\n'
          b'26940828778,27024149063,83320285,0,83320285,"TSL:XlaCompile:#module=jit__psum,program_id=1#",7,8,0,1,1,,:1,"TSL:XlaCompile:#module=jit__psum,program_id=1#"\n'
          b'26940828800,26940828900,100,0,100,"a ""b"", c",7,8,1,0,2,1,:1:2,"   a ""b"", c"\nx,,,,,,7,8,,,,,,\n5,9,4,0,4,"d')


def archive(entries, method):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as made:
        for name, content in entries.items():
            made.writestr(zipfile.ZipInfo(name, (2020, 1, 1, 0, 0, 0)), content, compress_type=method)
    return out.getvalue()


@contextlib.contextmanager
def other_columns(columns, rows):
    """What make_parquet_seeds makes tables of, meanwhile."""
    before = make_parquet_seeds.COLUMNS, make_parquet_seeds.ROWS
    make_parquet_seeds.COLUMNS, make_parquet_seeds.ROWS = columns, rows
    yield
    make_parquet_seeds.COLUMNS, make_parquet_seeds.ROWS = before


def field(number, value):
    if isinstance(value, int):
        return bytes([number << 3, value])
    return bytes([number << 3 | 2, len(value)]) + value


def module(name, op):
    """A HloProto with one instruction."""
    instruction = field(1, op) + field(2, b"dot")
    computation = field(1, b"main") + field(2, instruction) + field(5, 1)
    return lzma.compress(field(1, field(1, name) + field(2, b"main") + field(3, computation)))


def ranges(program, op):
    """A module of that number and one op inside it, of process 7, thread 8."""
    columns = [(name, 6 if name == b"Name" else 2, name == b"Name") for name in
               (b"Name", b"Projected Start", b"Projected Duration", b"Orig Start", b"Orig Duration", b"PID", b"TID")]
    rows = [(b"TSL:XlaModule:#hlo_module=jit_f,program_id=%d#" % program, 10, 20, 1, 9, 7, 8),
            (b"TSL:Thunk:#hlo_op=" + op + b"#", 10, 5, 2, 3, 7, 8)]
    with other_columns(columns, rows):
        return make_parquet_seeds.table(make_parquet_seeds.NONE, False, 1)


def threads(device):
    with other_columns([(b"Name", 6, True), (b"PID", 2, False), (b"TID", 2, False)],
                       [(b"XlaLauncher:#global=%d,local=0,process=%d,slice=0#" % (device, device), 7, 8)]):
        return make_parquet_seeds.table(make_parquet_seeds.NONE, False, 1)


def combined(with_threads):
    """Two processes: what is number 1 in one is number 2 in the other, whose number 1 is something else."""
    dump = "dump/module_%04d.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb.xz/proc%d"
    made = {"nvtx_gpu_proj_trace/trace.parquet/proc0": ranges(1, b"dot.1"),
            "nvtx_gpu_proj_trace/trace.parquet/proc1": ranges(2, b"dot.1"),
            dump % (1, 0): module(b"jit_f", b"dot.1"), dump % (1, 1): module(b"jit_f", b"dot.9"),
            dump % (2, 1): module(b"jit_f", b"dot.1")}
    if with_threads:
        made |= {f"thread-metadata.parquet/proc{process}": threads(5 - process) for process in range(2)}
    return archive(made, zipfile.ZIP_DEFLATED)


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    table = make_parquet_seeds.table(make_parquet_seeds.SNAPPY, True, 1)
    jax = {"nvtx_gpu_proj_trace/trace.parquet": table, "report_nvtx_pushpop_trace.csv.xz": lzma.compress(REPORT),
           "dump/module_0001.jit_f.sm_8.0_gpu_after_optimizations.hlo.pb.xz": lzma.compress(b"\x0a\x09\x0a\x05jit_f\x12\x00")}
    (folder / "one").write_bytes(archive({"a.json": TRACE}, zipfile.ZIP_DEFLATED))
    (folder / "one-stored").write_bytes(archive({"a.json": TRACE}, zipfile.ZIP_STORED))
    (folder / "nsys-jax-combined").write_bytes(combined(False))
    (folder / "nsys-jax-launchers").write_bytes(combined(True))
    (folder / "nsys-jax").write_bytes(archive(jax, zipfile.ZIP_DEFLATED))
    for reports in map(pathlib.Path, sys.argv[2:]):
        reports.mkdir(parents=True, exist_ok=True)
        for name, content in (("plain", REPORT), ("quoted", QUOTED), ("other", b"name,value\na,1\n")):
            (reports / name).write_bytes(content)
            (reports / f"{name}.xz").write_bytes(lzma.compress(content))


if __name__ == "__main__":
    main()
