#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What real programs cost and say to each other, against XLA's cost_analysis() and the programs themselves. Skipped, and said so, where there is no JAX."""

import collections
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import packages

if __name__ == "__main__":
    packages.need("jax")
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402
from jax import lax  # noqa: E402
from jax.sharding import Mesh, NamedSharding, PartitionSpec  # noqa: E402

if jax.__version_info__ < (0, 7):
    print(f"skipped: JAX {jax.__version__} records ops of the CPU by other names")
    sys.exit(77)

RUNS, DEVICES = 2, 8
PROGRAM = os.environ.get("JVIEWD") or os.environ["JVIEWD_DEV"]


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


def convolve(x, kernel, **more):
    return lax.conv_general_dilated(x, kernel, **{"window_strides": (1, 1), "padding": "VALID", **more}, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def attend(q, k, v):
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k), -1), v)


IMAGE, KERNEL = ones(2, 12, 12, 8), ones(3, 3, 8, 12)
HEADS = (ones(2, 16, 4, 8),) * 3
# Straight programs: what XLA counts is what ran.
STRAIGHT = {
    "product": (lambda x, y: x @ y, ones(64, 96), ones(96, 80)),
    "product_bf16": (lambda x, y: x @ y, jnp.ones((64, 96), jnp.bfloat16), jnp.ones((96, 80), jnp.bfloat16)),
    "product_int8": (lambda x, y: lax.dot_general(x, y, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32), ones(32, 40, dtype=np.int8), ones(40, 24, dtype=np.int8)),
    "product_complex": (lambda x, y: x @ y, ones(32, 40, dtype=np.complex64), ones(40, 24, dtype=np.complex64)),
    "batches": (lambda x, y: jnp.einsum("abij,abjk->abik", x, y), ones(3, 5, 32, 48), ones(3, 5, 48, 24)),
    "convolution": (convolve, IMAGE, KERNEL),
    "convolution_grouped": (lambda x, k: convolve(x, k, feature_group_count=4), IMAGE, ones(3, 3, 2, 12)),
    "convolution_dilated": (lambda x, k: convolve(x, k, rhs_dilation=(2, 2)), IMAGE, KERNEL),
    "convolution_transposed": (lambda x, k: lax.conv_transpose(x, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), IMAGE, KERNEL),
    "convolution_gradient": (jax.grad(lambda k, x: convolve(x, k).sum() ** 2), KERNEL, IMAGE),
    "attention": (attend, *HEADS),
    "softmax": (lambda x: jax.nn.softmax(x, -1), ones(64, 512)),
    "cumulative": (lambda x: jnp.cumsum(x, 1), ones(64, 500)),
    "fourier": (jnp.fft.fft, ones(16, 256, dtype=np.complex64)),
    "sorted": (jnp.sort, ones(20, 300)),
    "sorted_pairs": (lambda x, y: lax.sort((x, y), num_keys=1), ones(1000), ones(1000)),
    "scattered": (lambda x, at, by: x.at[at].add(by), ones(1000, 64), np.arange(50), ones(50, 64)),
    "pooled": (lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 1, 1, 1), "SAME"), IMAGE),
}
# (program, FLOPs by hand): loops and branches as often as they ran, factorisations as their textbooks have them.
BY_HAND = {
    "loop": (12 * (2 * 32 * 64 * 64 + 1), lambda x, w: lax.scan(lambda c, _: (jnp.tanh(c @ w), None), x, None, length=12)[0], ones(32, 64), ones(64, 64)),
    "loop_in_loop": (15 * (2 * 32 * 64 * 64 + 1) + 5, lambda x, w: lax.fori_loop(0, 5, lambda i, c: lax.fori_loop(0, 3, lambda k, d: d @ w, c), x), ones(32, 64), ones(64, 64)),
    "loop_until": (9 * 2049 + 10 * 1024, lambda x: lax.while_loop(lambda c: c[0].sum() < 1e6, lambda c: (c[0] * 2 + 1, c[1] + 1), (x, 0)), ones(32, 32)),
    "branch": (2048 + 1, lambda yes, x, w: lax.cond(yes, lambda v: v @ w @ w, lambda v: v * 2, x), False, ones(32, 64), ones(64, 64)),
    "largest": (16 * 1000 * 3, lambda x: lax.top_k(x, 8), ones(16, 1000)),
    "solved": (48 * 48 * 20, lambda l, b: jax.scipy.linalg.solve_triangular(l, b, lower=True), np.eye(48, dtype=np.float32), ones(48, 20)),
    "loop_sorted": (6 * (64 * 6 + 2 * 64 + 1), lambda x: lax.fori_loop(0, 6, lambda i, c: c + jnp.sort(c) * 2, x), ones(64)),
}


def meshes():
    """Devices in the order of their numbers, turned, and shuffled."""
    devices = np.array(jax.devices())
    return {"straight": Mesh(devices.reshape(2, 2, 2), ("a", "b", "c")), "turned": Mesh(devices.reshape(4, 2).T, ("p", "q")),
            "shuffled": Mesh(devices[[3, 0, 6, 5, 1, 7, 2, 4]].reshape(4, 2), ("rep", "shard"))}


BLOCK = 16 * 32 * 4  # bytes on each device
BUS = {"all-reduce": 2, "all-gather": 1, "reduce-scatter": 1, "all-to-all": 1}  # nccl-tests: so many times (n - 1) / n; of a permute 1


def collectives(axes, n):
    """{name: (kind, bytes, function)}"""
    return {
        "sum": ("all-reduce", BLOCK, lambda v: lax.psum(v, axes)),
        "gather": ("all-gather", n * BLOCK, lambda v: lax.all_gather(v, axes, tiled=True).sum(0, keepdims=True)),
        "scatter": ("reduce-scatter", BLOCK, lambda v: lax.psum_scatter(v, axes, tiled=True)),
        "swap": ("all-to-all", BLOCK, lambda v: lax.all_to_all(v, axes, 0, 0, tiled=True)),
        "pass": ("collective-permute", BLOCK, lambda v: lax.ppermute(v, axes, [(i, (i + 1) % n) for i in range(n)])),
    }


def groups_along(mesh, axes):
    numbers = np.vectorize(lambda device: device.id)(mesh.devices)
    along = [mesh.axis_names.index(axis) for axis in axes]
    rest = [i for i in range(numbers.ndim) if i not in along]
    return sorted(sorted(map(int, group)) for group in numbers.transpose(rest + along).reshape(-1, np.prod([numbers.shape[i] for i in along])))


class Computed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.home = pathlib.Path(folder.name)
        cls.programs, cls.talks = {}, {}
        for name, (function, *arguments) in STRAIGHT.items():
            cls.add(name, function, arguments)
        for name, (_, function, *arguments) in BY_HAND.items():
            cls.add(name, function, arguments)
        for name, mesh in meshes().items():
            cls.add_mesh(name, mesh)
        options = jax.profiler.ProfileOptions()
        options.python_tracer_level = 0
        for program, arguments in cls.programs.values():
            jax.block_until_ready(program(*arguments))
        with jax.profiler.trace(str(cls.home / "run"), profiler_options=options):
            for _ in range(RUNS):
                for program, arguments in cls.programs.values():
                    jax.block_until_ready(program(*arguments))
        cls.ops = collections.defaultdict(list)
        for row in cls.told("top"):
            cls.ops[row["module"]].append(row)

    @classmethod
    def add(cls, name, function, arguments):
        def named(*given):
            return function(*given)
        named.__name__ = name
        cls.programs[name] = jax.jit(named).lower(*arguments).compile(), arguments

    @classmethod
    def add_mesh(cls, name, mesh):
        spec = PartitionSpec(mesh.axis_names)
        x = jax.device_put(np.ones((128, 32), np.float32), NamedSharding(mesh, spec))
        for axes in (axes for count in range(1, 4) for axes in itertools.combinations(mesh.axis_names, count)):
            n = int(np.prod([mesh.shape[axis] for axis in axes]))
            for what, (kind, size, function) in collectives(axes, n).items():
                full = "_".join((what, name, *axes))
                cls.add(full, jax.shard_map(function, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False), (x,))
                cls.talks[full] = kind, size, n, groups_along(mesh, axes)

    @classmethod
    def told(cls, *words):
        command = [PROGRAM, *words, str(cls.home / "run"), "--format", "json", "--limit", "10000", "--cache-dir", str(cls.home / "cache")]
        reply = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        assert reply["next"] is None
        return reply["rows"]

    def total(self, name, field):
        rows = self.ops[f"jit_{name}"]
        self.assertNotIn(None, [row[field] for row in rows], name)
        return sum(row[field] for row in rows) / RUNS

    def test_what_straight_programs_cost_is_what_xla_counts(self):
        for name in STRAIGHT:
            costs = self.programs[name][0].cost_analysis()
            for field, told in (("flops", "flops"), ("bytes", "bytes accessed")):
                with self.subTest(program=name, field=field):
                    self.assertAlmostEqual(self.total(name, field), costs.get(told, 0), delta=1e-5 * costs.get(told, 0) + 0.5)

    def test_loops_and_branches_cost_as_often_as_they_ran(self):
        for name, (flops, *_) in BY_HAND.items():
            with self.subTest(program=name):
                self.assertAlmostEqual(self.total(name, "flops"), flops, delta=1e-3 * flops)

    def test_equal_bodies_are_modules_of_their_own(self):
        executed = {f"jit_{name}": RUNS * (DEVICES if name in self.talks else 1) for name in self.programs}
        self.assertEqual({row["name"]: row["count"] for row in self.told("top", "--by", "module")}, executed)

    def test_collectives_are_those_of_the_program(self):
        rows = {row["module"]: row for row in self.told("collectives")}
        self.assertEqual(set(rows), {f"jit_{name}" for name in self.talks})
        for name, (kind, size, n, groups) in self.talks.items():
            with self.subTest(program=name):
                row = rows[f"jit_{name}"]
                members = sorted(sorted(map(int, group.strip("{}").split(","))) for group in row["members"].split())
                self.assertEqual((row["kind"], row["bytes"], row["group_size"], row["count"]), (kind, size, n, RUNS * DEVICES))
                self.assertEqual(members, groups)
                rate = size * row["count"] * 1e12 / row["total_ps"]
                self.assertAlmostEqual(row["alg_bytes_per_s"] / rate, 1)
                self.assertAlmostEqual(row["bus_bytes_per_s"] / rate, BUS[kind] * (n - 1) / n if kind in BUS else 1)


if __name__ == "__main__":
    unittest.main()
