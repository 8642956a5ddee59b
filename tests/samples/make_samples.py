#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make_samples: makes the four small captures in this directory.

  make_samples.py [--out DIR] [STEP...]

One training run, profiled four times for five steps: in a loop that waits for no step (step_250),
as usual (step_500), with one layer eight times wider (step_1000), and with a batch of another
size in the middle, which compiles the step anew (step_1500).  Each capture runs in a process of its own, because a profile carries every
program that its process ever compiled; the Python tracer is off, to keep the files small.
Needs jax; needs root for the host name, which is that of a namespace made for the purpose.
"""

import argparse
import functools
import os
import pathlib
import shutil
import subprocess
import sys
import time

SCRIPT = pathlib.Path(__file__).resolve()
HOST = "trainer-0"
VOCABULARY, WIDTH, LENGTH, HIDDEN = 64, 32, 64, (128, 128)
SLOW_HIDDEN = (128, 1024)
USUAL = (16, 16, 16, 16, 16)
PLAN = {250: (HIDDEN, USUAL), 500: (HIDDEN, USUAL), 1000: (SLOW_HIDDEN, USUAL),
        1500: (HIDDEN, (16, 16, 24, 16, 16))}
RUNS_AHEAD = 250


def init(hidden):
    import numpy as np
    random = np.random.default_rng(0)

    def dense(rows, columns):
        return (random.standard_normal((rows, columns)) / rows ** 0.5).astype(np.float32)

    return {"embedding": dense(VOCABULARY, WIDTH),
            "layers": [{"query": dense(WIDTH, WIDTH), "key": dense(WIDTH, WIDTH),
                        "value": dense(WIDTH, WIDTH), "up": dense(WIDTH, size),
                        "down": dense(size, WIDTH)} for size in hidden]}


def loss(params, tokens):
    import jax
    import jax.numpy as jnp
    with jax.named_scope("embed"):
        x = params["embedding"][tokens[:, :-1]]
    for index, layer in enumerate(params["layers"]):
        with jax.named_scope("layer_%d" % index):
            with jax.named_scope("attention"):
                scores = (x @ layer["query"]) @ (x @ layer["key"]).swapaxes(1, 2)
                x = x + jax.nn.softmax(scores) @ (x @ layer["value"])
            with jax.named_scope("mlp"):
                x = x + jax.nn.gelu(x @ layer["up"]) @ layer["down"]
    with jax.named_scope("logits"):
        logits = jax.nn.log_softmax(x @ params["embedding"].T)
    with jax.named_scope("loss"):
        return -jnp.take_along_axis(logits, tokens[:, 1:, None], -1).mean()


def make_step():
    import jax

    @functools.partial(jax.jit, donate_argnums=0)
    def train_step(params, tokens):
        with jax.named_scope("forward_backward"):
            value, grads = jax.value_and_grad(loss)(params, tokens)
        with jax.named_scope("optimizer"):
            return jax.tree.map(lambda p, g: p - 0.01 * g, params, grads), value

    return train_step


def capture(first, out):
    import jax
    import numpy as np
    # Sources are named without the directories of the machine that made the files.
    jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")
    hidden, rows = PLAN[first]
    random = np.random.default_rng(first)
    tokens = [random.integers(0, VOCABULARY, (count, LENGTH + 1), np.int32) for count in rows]
    params, train_step = jax.device_put(init(hidden)), make_step()
    params, value = train_step(params, tokens[0])
    value.block_until_ready()
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0
    with jax.profiler.trace(out / ("step_%d" % first), profiler_options=options):
        begun = time.perf_counter()
        for index, batch in enumerate(tokens):
            with jax.profiler.StepTraceAnnotation("train", step_num=first + index):
                if first != RUNS_AHEAD:
                    with jax.profiler.TraceAnnotation("data_loading", batch=len(batch)):
                        time.sleep(0.003)
                params, value = train_step(params, batch)
                if first != RUNS_AHEAD:
                    value.block_until_ready()
        value.block_until_ready()
        print("step_%d: %.3f ms a step by the clock" %
              (first, (time.perf_counter() - begun) * 1e3 / len(tokens)))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=SCRIPT.parent)
    parser.add_argument("--capture", type=int, help=argparse.SUPPRESS)
    parser.add_argument("steps", type=int, nargs="*", metavar="STEP", help="only these captures")
    options = parser.parse_args()
    if options.capture:
        capture(options.capture, options.out)
        return
    environment = dict(os.environ, JAX_PLATFORMS="cpu")
    for first in options.steps or PLAN:
        shutil.rmtree(options.out / ("step_%d" % first), ignore_errors=True)
        subprocess.run(
            ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', HOST, sys.executable,
             SCRIPT, "--capture", str(first), "--out", options.out], check=True, env=environment)


if __name__ == "__main__":
    main()
