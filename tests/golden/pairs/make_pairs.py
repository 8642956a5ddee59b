#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_pairs: makes the captures in this directory: one model, compiled with one change each.

  make_pairs.py [--out DIR]

  base         the model of tests/samples, three steps
  renumbered   an op more at the beginning, so that fusions and instructions have other numbers
  slower       layer_1/mlp four times wider
  deeper       a third layer
  bfloat16     parameters of another type

Each runs in a process of its own.  Needs jax; needs root for the host name, as make_samples.py.
"""

import argparse
import functools
import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

SCRIPT = pathlib.Path(__file__).resolve()
sys.path.insert(0, str(SCRIPT.parents[2] / "samples"))
import make_samples as samples

STEPS, ROWS = 3, 16
CHANGES = ("base", "renumbered", "slower", "deeper", "bfloat16")
HIDDEN = {"slower": (128, 512), "deeper": (128, 128, 128)}


def jittered(params, tokens):
    import jax
    import jax.numpy as jnp
    with jax.named_scope("jitter"):
        table = params["embedding"] * (1 + 0.01 * jnp.sin(params["embedding"]))
    return samples.loss(dict(params, embedding=table), tokens)


def make_step(loss):
    import jax

    @functools.partial(jax.jit, donate_argnums=0)
    def train_step(params, tokens):
        with jax.named_scope("forward_backward"):
            value, grads = jax.value_and_grad(loss)(params, tokens)
        with jax.named_scope("optimizer"):
            return jax.tree.map(lambda p, g: (p - 0.01 * g).astype(p.dtype), params, grads), value

    return train_step


def capture(change, out):
    import jax
    import jax.numpy as jnp
    import numpy as np
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    random = np.random.default_rng(1)
    tokens = random.integers(0, samples.VOCABULARY, (ROWS, samples.LENGTH + 1), np.int32)
    params = jax.device_put(samples.init(HIDDEN.get(change, samples.HIDDEN)))
    if change == "bfloat16":
        params = jax.tree.map(lambda leaf: leaf.astype(jnp.bfloat16), params)
    train_step = make_step(jittered if change == "renumbered" else samples.loss)
    params, value = train_step(params, tokens)
    value.block_until_ready()
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with jax.profiler.trace(out, profiler_options=options):
        for index in range(STEPS):
            with jax.profiler.StepTraceAnnotation("train", step_num=index):
                params, value = train_step(params, tokens)
                value.block_until_ready()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=SCRIPT.parent)
    parser.add_argument("--capture", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.capture:
        capture(options.capture, options.out)
        return
    environment = dict(os.environ, JAX_PLATFORMS="cpu")
    for change in CHANGES:
        with tempfile.TemporaryDirectory() as place:
            subprocess.run(
                ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', samples.HOST,
                 sys.executable, SCRIPT, "--capture", change, "--out", place],
                check=True, env=environment)
            found, = pathlib.Path(place).rglob("*.xplane.pb")
            to = options.out / change
            shutil.rmtree(to, ignore_errors=True)
            to.mkdir(parents=True)
            packed = gzip.compress(found.read_bytes(), 9, mtime=0)
            (to / (samples.HOST + ".xplane.pb.gz")).write_bytes(packed)


if __name__ == "__main__":
    main()
