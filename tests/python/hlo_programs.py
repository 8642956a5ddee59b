#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JAX programs with one fault each that their HLO shows, and their clean twins, recorded on CPU.

    hlo_programs.py DIR DEVICES [NAME...]    each into DIR/NAME/faulty and DIR/NAME/clean, with truth.json beside

A family is a function of (variant, faulty) that returns a step without arguments; its name and the rule that must tell the fault stand in
FAMILIES. The twin computes the same, or what of it is used. truth.json holds the rule and the times of the steps by the program's own clock; the fastest is compared, for other
programs run on the machine meanwhile.
"""

import functools
import json
import pathlib
import sys
import time

WARM, STEPS = 3, 8


def kept(function, state, *others, donate):
    """A step that feeds its first result back in."""
    import jax

    compiled, held = jax.jit(function, donate_argnums=(0,) if donate else ()), [state]

    def step():
        out = compiled(held[0], *others)
        held[0] = out[0] if isinstance(out, tuple) else out
        return out

    return step


def plain(function, *arguments):
    import jax

    return functools.partial(jax.jit(function), *arguments)


def undonated(variant, faulty):
    import jax.numpy as jnp
    from jax import lax

    size = (64, 512 + 64 * variant, 64)
    cache, row, ids = jnp.zeros(size), jnp.ones((64, 1, 64)), jnp.arange(16)
    table, rows = jnp.zeros((2048 + 256 * variant, 1024)), jnp.ones((16, 1024))
    return [
        lambda: kept(lambda c, n: lax.dynamic_update_slice(c, n, (0, 3, 0)), cache, row, donate=not faulty),
        lambda: kept(lambda t, i, u: t.at[i].add(u), table, ids, rows, donate=not faulty),
        lambda: kept(lambda t, i, u: t.at[i].set(u * 2), table, ids, rows, donate=not faulty),
        lambda: kept(lambda c, n: lax.fori_loop(0, 3, lambda i, c: lax.dynamic_update_slice(c, n, (0, i, 0)), c), cache, row, donate=not faulty),
        lambda: kept(lambda c, n: (lax.dynamic_update_slice(c, jnp.tanh(n), (0, 5, 0)), jnp.sum(n)), cache, row, donate=not faulty),
        lambda: kept(lambda c, n: c.at[:, 7].set(n[:, 0]), cache, row, donate=not faulty),
    ][variant]()


def overwrite(variant, faulty):
    """The loop reads its state after writing to it; the twin reads the new one."""
    import jax.numpy as jnp
    from jax import lax

    cache, row = jnp.zeros((64, 512 + 128 * variant, 64)), jnp.ones((64, 1, 64))

    def read(c, of):
        return [lambda: c.sum(), lambda: c.max(), lambda: (c * c).sum(), lambda: c.min()][of]()

    def body(c, i):
        new = lax.dynamic_update_slice(c, row, (0, i, 0))
        return new, read(c if faulty else new, variant)

    return kept(lambda c: lax.scan(body, c, jnp.arange(4)), cache, donate=True)


def returned(variant, faulty):
    """Results that are equal, of which XLA computes one and copies it for the others."""
    import jax.numpy as jnp

    x = jnp.ones((1024 + 256 * variant, 1024))
    return plain([
        lambda x: (x + 1, x + 1) if faulty else x + 1,
        lambda x: {"a": jnp.tanh(x), "b": jnp.tanh(x)} if faulty else jnp.tanh(x),
        lambda x: (x * 2, x[0], x * 2, x * 2) if faulty else (x * 2, x[0]),
        lambda x: (jnp.maximum(x, 0), x.sum(), jnp.maximum(x, 0)) if faulty else (jnp.maximum(x, 0), x.sum()),
        lambda x: ((x - x.mean(), x.sum(1)), (x - x.mean(), x.sum(1))) if faulty else (x - x.mean(), x.sum(1)),
    ][variant], x)


def one_hot(variant, faulty):
    import jax
    import jax.numpy as jnp

    count = 512
    table, ids = jnp.ones((count, 256)), jnp.arange(1024) * 7 % count
    values = jnp.ones((1024, 256))

    def hot(dtype=jnp.float32):
        return lambda ids: jax.nn.one_hot(ids, count, dtype=dtype)

    return [
        lambda: plain(lambda t, i: hot()(i) @ t if faulty else t[i], table, ids),
        lambda: plain(lambda t, i: jnp.einsum("bsv,vd->bsd", hot()(i), t) if faulty else jnp.take(t, i, axis=0), table, ids.reshape(8, 128)),
        lambda: plain(lambda v, i: hot()(i).T @ v if faulty else jax.ops.segment_sum(v, i, count), values, ids),
        lambda: plain(lambda t, i: (i[:, None] == jnp.arange(count)).astype(jnp.float32) @ t if faulty else t[i], table, ids),
        lambda: plain(lambda t, i: jnp.tanh(hot(jnp.bfloat16)(i) @ t) if faulty else jnp.tanh(t[i]), table.astype(jnp.bfloat16), ids),
        lambda: plain(lambda t, i: jnp.where(i[:, None] == jnp.arange(count), 1.0, 0.0) @ t if faulty else t[i], table, ids),
    ][variant]()


def constants(variant, faulty):
    import jax
    import jax.numpy as jnp
    import numpy as np

    size = 640 + 256 * variant  # of the fourth XLA keeps what is compared: a byte an element
    data = np.random.default_rng(variant).random((size, size), np.float32)
    x = jnp.ones((size, size))
    functions = [
        lambda x, d: x @ d,
        lambda x, d: x + d,
        lambda x, d: jnp.tanh(x) * d[::-1],
        lambda x, d: jnp.where(d > 0.5, x, 0),
        lambda x, d: (x * d).sum(0),
    ]
    function = functions[variant]
    return plain(lambda x: function(x, data), x) if faulty else functools.partial(jax.jit(function), x, jnp.asarray(data))


def vectors(variant, faulty):
    import jax.numpy as jnp
    import numpy as np

    size = 160 + 32 * variant
    x = jnp.asarray(np.random.default_rng(variant).random((size, size), np.float32))
    return plain([
        lambda x: jnp.linalg.svd(x)[1] if faulty else jnp.linalg.svd(x, compute_uv=False),
        lambda x: jnp.linalg.eig(x)[0] if faulty else jnp.linalg.eigvals(x),
        lambda x: jnp.sum(jnp.linalg.svd(x, full_matrices=False)[1]) if faulty else jnp.sum(jnp.linalg.svd(x, compute_uv=False)),
        lambda x: jnp.abs(jnp.linalg.eig(x)[0]).max() if faulty else jnp.abs(jnp.linalg.eigvals(x)).max(),
    ][variant], x)


def one_turn(variant, faulty):
    """How often it turns is an argument: XLA takes loops apart that it knows to turn once. Each turn is cheap against the loop itself."""
    import jax.numpy as jnp
    from jax import lax

    x = jnp.ones((24 + 8 * variant, 32))
    body = [jnp.tanh, lambda x: x * 1.5 + 1, lambda x: jnp.maximum(x, 0) + 1, lambda x: x - x.mean(), lambda x: jnp.cos(x) * 2][variant]

    def many(x, n):
        def again(state):
            return state[0] < n, state

        for _ in range(8):
            x = lax.while_loop(lambda s: again(s)[0], lambda s: (s[0] + 1, body(s[1])), (0, x))[1] if faulty else body(x)
        return x

    return plain(many, x, 1)


def casts(variant, faulty):
    import jax.numpy as jnp

    small = [jnp.float8_e4m3fn, jnp.float8_e5m2][variant % 2]
    x, w, scale = jnp.ones((1024, 512)), jnp.ones((512, 256)), jnp.float32(2)

    def once(x):
        return (x * scale).astype(small).astype(jnp.float32)

    def twice(x, s):
        first = (x * scale).astype(small).astype([jnp.float32, jnp.bfloat16][variant // 2])
        return (first * s.astype(first.dtype)).astype(small).astype(jnp.float32)

    return plain(lambda x, w, s: (twice(x, s) if faulty else once(x)) @ w, x, w, scale)


def f64(variant, faulty):
    import jax
    import jax.numpy as jnp
    import numpy as np

    x = jnp.ones((512, 384), jnp.float32)
    row = np.linspace(0, 1, 384, dtype=np.float64 if faulty else np.float32)
    with jax.enable_x64(True):
        compiled = jax.jit([
            lambda x, r: jnp.tanh(x * r),
            lambda x, r: (x * r) @ x.T.astype((x * r).dtype),
            lambda x, r: (x + r).sum(1),
            lambda x, r: jnp.exp(x - r) / (x + r + 1),
            lambda x, r: jnp.sort(x * r, axis=1),
        ][variant]).lower(x, row).compile()
        row = jnp.asarray(row)
    return lambda: compiled(x, row)


def mesh():
    import jax

    return jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))


def mapped(function, parts, result, *arguments):
    """On four devices; parts and result: along which dimension each array is cut, None: not."""
    import jax
    from jax.sharding import NamedSharding, PartitionSpec

    def spec(part):
        return PartitionSpec() if part is None else PartitionSpec(*[None] * part, "d")

    on = mesh()
    placed = [jax.device_put(value, NamedSharding(on, spec(part))) for value, part in zip(arguments, parts)]
    compiled = jax.jit(jax.shard_map(function, mesh=on, in_specs=tuple(map(spec, parts)), out_specs=spec(result), check_vma=False))
    return functools.partial(compiled, *placed)


def repeated(variant, faulty):
    import jax.numpy as jnp
    from jax import lax

    x, narrow = jnp.ones((2048, 512 + 128 * variant)), jnp.bfloat16

    def gather(x):
        return lax.all_gather(x, "d", tiled=True)

    def twice(x):
        once = gather(x)
        other = gather(x.astype(narrow)) if faulty else once.astype(narrow)
        return [
            lambda: jnp.tanh(once).sum(0) + other.sum(0),
            lambda: (once * 2).max(0) + other.astype(jnp.float32).min(0),
            lambda: jnp.cos(once).sum(1) + jnp.sin(other.astype(jnp.float32)).sum(1),
            lambda: once.T @ other.astype(jnp.float32)[:, :64],
        ][variant]()

    return mapped(twice, [0], None, x)


def wide(variant, faulty):
    """Without those that gather or sum in a wider type: XLA's CPU compiler widens bf16 collectives itself, so both twins are one program."""
    import jax.numpy as jnp
    from jax import lax

    x = jnp.ones((2048, 1024))

    def gather(x):
        return lax.all_gather(x, "d", tiled=True)

    def own(x, rows):
        return lax.dynamic_slice_in_dim(x, lax.axis_index("d") * rows, rows)

    return [
        lambda: mapped(lambda x: jnp.tanh(gather(x)[:, :64] if faulty else gather(x[:, :64])), [0], None, x),
        lambda: mapped(lambda x: jnp.tanh(own(gather(x), 512) if faulty else x), [0], 0, x),
        lambda: mapped(lambda x: jnp.sum(gather(x), 0) if faulty else lax.psum(jnp.sum(x, 0), "d"), [0], None, x),
        lambda: mapped(lambda x: jnp.tanh(own(lax.psum(x, "d"), 128) if faulty else lax.psum_scatter(x, "d", tiled=True)), [0], 0, x),
        lambda: mapped(lambda x: jnp.max(gather(x), 1) if faulty else gather(jnp.max(x, 1)), [0], None, x),
        lambda: mapped(lambda x: jnp.tanh(lax.psum(x, "d")[:64] if faulty else lax.psum(x[:64], "d")), [0], None, x),
        lambda: mapped(lambda x: jnp.min(gather(x), 0) if faulty else lax.pmin(jnp.min(x, 0), "d"), [0], None, x),
    ][variant]()


def same(variant, faulty):
    """What depends on no argument, and is too large to be computed by the compiler."""
    import jax
    import jax.numpy as jnp

    size = 768 + 128 * variant

    def table():
        rows = jnp.arange(size, dtype=jnp.float32)
        return jax.lax.optimization_barrier(jnp.sin(rows[:, None] * 0.1) * jnp.cos(rows[None, :] * 0.1))

    x, made = jnp.ones((size, size)), jax.jit(table)()
    return plain(lambda x: jnp.tanh(x) @ table(), x) if faulty else plain(lambda x, t: jnp.tanh(x) @ t, x, made)


def scores(variant, faulty):
    """The twin goes over the keys in parts, as fused attention does."""
    import jax
    import jax.numpy as jnp
    from jax import lax

    length = 512 + 256 * variant
    q = jnp.ones((4, length, 64))

    def whole(q):
        return jax.nn.softmax(jnp.einsum("bqd,bkd->bqk", q, q)) @ q

    def parts(q):
        def part(state, k):
            top, total, out = state
            s = jnp.einsum("bqd,bkd->bqk", q, k)
            new = jnp.maximum(top, s.max(-1))
            p, keep = jnp.exp(s - new[..., None]), jnp.exp(top - new)
            return (new, total * keep + p.sum(-1), out * keep[..., None] + jnp.einsum("bqk,bkd->bqd", p, k)), None

        begin = (jnp.full(q.shape[:2], -jnp.inf), jnp.zeros(q.shape[:2]), jnp.zeros(q.shape))
        top, total, out = lax.scan(part, begin, q.reshape(4, length // 64, 64, 64).swapaxes(0, 1))[0]
        return out / total[..., None]

    return plain(whole if faulty else parts, q)


FAMILIES = {  # name: (make, rule, variants, devices)
    "undonated": (undonated, "undonated-copies", 6, 1),
    "overwrite": (overwrite, "overwrite-copies", 4, 1),
    "returned": (returned, "returned-copies", 5, 1),
    "one_hot": (one_hot, "one-hot-products", 6, 1),
    "constants": (constants, "large-constants", 5, 1),
    "vectors": (vectors, "unused-vectors", 4, 1),
    "one_turn": (one_turn, "loops-of-one-turn", 5, 1),
    "casts": (casts, "double-casts", 4, 1),
    "f64": (f64, "widened-to-f64", 5, 1),
    "same": (same, "same-each-step", 3, 1),
    "scores": (scores, "attention-scores", 3, 1),
    "repeated": (repeated, "repeated-gathers", 4, 4),
    "wide": (wide, "wide-collectives", 7, 4),
}


def names(devices):
    return [f"{family}_{variant}" for family, (_, _, count, on) in FAMILIES.items() if on == devices for variant in range(count)]


def record(folder, step, rule):
    import jax

    folder.mkdir(parents=True, exist_ok=True)
    for _ in range(WARM):
        jax.block_until_ready(step())
    options, took = jax.profiler.ProfileOptions(), []
    options.python_tracer_level = 0
    jax.profiler.start_trace(str(folder), profiler_options=options)
    for number in range(STEPS):
        begin = time.perf_counter()
        with jax.profiler.StepTraceAnnotation("step", step_num=number):
            jax.block_until_ready(step())
        took.append(time.perf_counter() - begin)
    jax.profiler.stop_trace()
    truth = {"rule": rule, "faulty": folder.name == "faulty", "step_s": took, "fastest_s": min(took)}
    (folder / "truth.json").write_text(json.dumps(truth))


def main(home, devices, *chosen):
    for name in names(int(devices)):
        family, variant = name.rsplit("_", 1)
        make, rule, _, _ = FAMILIES[family]
        if chosen and name not in chosen:
            continue
        for twin in ("faulty", "clean"):
            record(pathlib.Path(home) / name / twin, make(int(variant), twin == "faulty"), rule)


if __name__ == "__main__":
    main(*sys.argv[1:])
