#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Advice names what there is: every remedy of every finding, on every platform.

The remedies are read from the sources; their parts are chosen as server/analyse/findings/platform.h says. A word of one platform
may not stand in what another one is told.
"""

import itertools
import re
import sys

import blocks

RULES = sorted((blocks.ROOT / "server/analyse/findings").glob("rules_*.c"))
LITERALS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*')
PART = re.compile(r"\{([a-z!+]+):([^{}]*)\}")
PLATFORMS = [
    {"jax", "gpu", "nvidia", "xprof"},
    {"jax", "gpu", "amd", "xprof"},
    {"jax", "tpu", "xprof"},
    {"jax", "cpu", "xprof"},
    {"jax", "other", "xprof"},
    {"jax", "gpu", "nvidia", "nsys"},
    {"tf", "gpu", "nvidia", "xprof"},
    {"tf", "cpu", "xprof"},
    {"torch", "gpu", "nvidia", "kineto"},
    {"torch", "gpu", "amd", "kineto"},
    {"torch", "cpu", "kineto"},
    {"torch", "other", "kineto"},
    {"torch", "gpu", "nvidia", "nsys"},
    {"torch", "tpu", "xprof"},
    {"server", "gpu", "nvidia"},  # vLLM, SGLang: who profiles it does not write its loop
    {"server", "tpu", "xprof"},
    {"gpu", "nvidia", "nsys"},  # CUDA alone
    {"gpu", "amd"},
    {"cpu"},
]
# What only that platform knows.
WORDS = {
    "jax": r"jax|\blax\.|jnp\.|block_until_ready|stop_trace|donate_arg|static_argnums|StepTraceAnnotation|host_tracer_level",
    "torch": r"PyTorch|torch\.|TORCH|aten::|DataLoader|ProfilerActivity|prof\.step|non_blocking",
    "gpu": r"--xla_gpu|CUDA graphs|command buffers",
    "nvidia": r"\bnsys\b|\bncu\b|DCGM|NVreg|nvidia-smi|CUDA_VISIBLE|nccl-tests|cudaHostAlloc",
    "amd": r"rocm-smi|rocprof|HIP_VISIBLE|rccl-tests",
    "tpu": r"--xla_tpu|TPU_VISIBLE|MpDeviceLoader",
    "kineto": r"ProfilerActivity|with_stack|record_shapes|prof\.step",
    "jax xprof": r"--xla_|XLA_FLAGS",
    "nvidia ": r"cudnn|cuDNN",
    "xprof": r"StepTrace\(|experimental\.Trace|enable_hlo_proto",
}
# What a recorder cannot be told.
NEVER = {"nsys": r"host_tracer_level|device_tracer_level|StepTraceAnnotation", "tpu": r"\bnsys\b|\bncu\b|pin_memory|CUDA"}
# Rules that speak only of what there is: which platforms can have it, and why.
ONLY = {
    "no-hlo": ({"jax", "xprof"}, "modules of XLA"),
    "source-stacks-cut": ({"jax"}, "stacks that JAX keeps in HLO"),
    "nothing-blocked": ({"jax"}, "calls of PjitFunction"),
    "calls-shorter-than-dispatch": ({"jax"}, "calls of PjitFunction"),
    "graphs-hide-kernels": ({"gpu"}, "graphs of kernels"),
    "ops-in-command-buffers": ({"jax gpu"}, "graphs that XLA made"),
    "tiny-kernels": ({"gpu"}, "kernels"),
    "low-occupancy": ({"gpu"}, "kernels"),
    "dispatch-bound": ({"gpu"}, "kernels"),
    "slow-launch-calls": ({"gpu"}, "kernels"),
    "elementwise-kernels": ({"gpu"}, "kernels"),
    "slow-bus": ({"gpu"}, "links between GPUs"),
    "pageable-transfers": ({"gpu"}, "copies that CUDA or HIP recorded"),
    "memory-donation": ({"jax"}, "modules with their aliases"),
    "memory-preallocated": ({"gpu"}, "the driver allocated"),
    "implicit-transfers": ({"jax"}, "calls of PjitFunction"),
}
FUNCTION = re.compile(r"^(?:static |const |extern )*[\w ]+[\w*] \**(\w+)\([^;{]*\)\n\{\n(.*?)^\}\n", re.M | re.S)
TABLE = re.compile(r"^static const [\w *]+?\b(\w+)\[[^\]]*\]\s*=\s*(.*?);\n", re.M | re.S)
RULE = re.compile(r"\{\s*(?:\.name = )?\"([\w-]+)\",\s*(?:\.theme = )?\"\w+\",\s*(?:\.when =\s+)?(?:\"(?:[^\"\\\n]|\\.)*\"\s*)+,\s*(?:\.find = )?(\w+)\s*,?\s*\}", re.S)


def reached(name, bodies, seen):
    """A function, and what it calls or names in its own file."""
    if name in seen or name not in bodies:
        return
    seen.add(name)
    for word in set(re.findall(r"\b\w+\b", bodies[name])):
        reached(word, bodies, seen)


def whole(literal):
    return "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', literal)).replace('\\"', '"')


def tables(text):
    """Functions that a macro makes are their element of the table."""
    table = dict(TABLE.findall(text)).get("questions", "")
    elements = re.findall(r"^    \{(.*?)\},?$", table, re.M | re.S)
    return {name: elements[int(at)] for name, at in re.findall(r"^FIND\((\w+), (\d+)\)", text, re.M)}


def remedies():
    """(rule, text): every literal that advises, of every rule: what follows .remedy, or stands in a function or table that is named after it."""
    for path in RULES:
        text = path.read_text()
        bodies = {name: body for name, body in FUNCTION.findall(text)} | {name: body for name, body in TABLE.findall(text)}
        bodies |= (made := tables(text))
        for rule, find in RULE.findall(text):
            seen = set()
            reached(find, bodies, seen)
            for name in sorted(seen):
                for found in LITERALS.finditer(bodies[name]):
                    before = bodies[name][max(0, found.start() - 160) : found.start()]
                    advises = ".remedy" in before[-100:] or re.search(r"remed|advice|load_ahead", name) or name in made or "struct told" in bodies[name] or PART.search(whole(found.group()))
                    if advises and len(whole(found.group())) > 20:
                        yield rule, re.sub(r"%[.*\w]+", "NAME", whole(found.group()))


def fit(platform, text):
    def part(found):
        holds = all((word.lstrip("!") in platform) != word.startswith("!") for word in found[1].split("+"))
        return found[2] if holds else ""

    return PART.sub(part, text)


def main():
    wrong, count, told_of = [], 0, set()
    registered = {rule for path in RULES for rule, _ in RULE.findall(path.read_text())}
    for (rule, text), platform in itertools.product(sorted(set(remedies())), PLATFORMS):
        told_of.add(rule)
        if rule in ONLY and not any(set(words.split()) <= platform for words in ONLY[rule][0]):
            continue
        count += 1
        told = fit(platform, text)
        name = f"{rule}: on {'+'.join(sorted(platform))}"
        for owner, words in WORDS.items():
            if not set(owner.split()) & platform and re.search(words, told):
                wrong.append(f"{name}: {told}")
        for here, words in NEVER.items():
            if here in platform and re.search(words, told):
                wrong.append(f"{name}: {told}")
        if not told.strip() or re.search(r"[:,] ?\.|  |^\W|\b(\w+) \1\b", told) and not told.startswith("`"):
            wrong.append(f"{name} it is no sentence: {told!r}")
    wrong += [f"{rule} has no remedy that was found" for rule in sorted(registered - told_of)]
    wrong += [f"{rule} is no rule" for rule in sorted(set(ONLY) - registered)]
    documented = set(re.findall(r"^\| `([\w-]+)` \|", (blocks.ROOT / "docs/findings.md").read_text(), re.M))
    wrong += [f"{rule} stands in the docs alone, or in the sources alone" for rule in sorted(registered ^ documented)]
    for line in wrong:
        print(line)
    print(f"{len(registered)} rules, {len(PLATFORMS)} platforms, {count} pairs of advice and platform, {len(wrong)} wrong")
    return 1 if wrong or count < 1000 else 0


if __name__ == "__main__":
    sys.exit(main())
