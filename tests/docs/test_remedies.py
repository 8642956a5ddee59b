#!/usr/bin/env python3
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
    {"jax", "gpu", "nvidia"},
    {"jax", "gpu", "amd"},
    {"jax", "tpu"},
    {"jax", "cpu"},
    {"tf", "gpu", "nvidia"},
    {"torch", "gpu", "nvidia"},
    {"torch", "gpu", "amd"},
    {"torch", "cpu"},
    {"gpu", "nvidia"},  # CUDA alone
    {"gpu", "amd"},
    {"cpu"},
]
# What only that platform knows.
WORDS = {
    "jax": r"jax|\blax\.|jnp\.|block_until_ready|stop_trace|donate_arg|static_argnums|--xla_|StepTraceAnnotation|host_tracer_level",
    "torch": r"PyTorch|torch\.|TORCH|aten::|DataLoader|ProfilerActivity|prof\.step|non_blocking",
    "gpu": r"--xla_gpu|CUDA graphs|command buffers",
    "nvidia": r"\bnsys\b|\bncu\b|DCGM|NVreg|nvidia-smi|CUDA_VISIBLE|nccl-tests|cudaHostAlloc",
    "amd": r"rocm-smi|rocprof|HIP_VISIBLE|rccl-tests",
    "tpu": r"--xla_tpu|TPU_VISIBLE",
}
# Findings of what JAX alone does: a call of PjitFunction, a program of XLA, its HLO.
OF_JAX = ("Block before the recording", "Call it less often", "Switch command buffers off", "Record with `enable_hlo_proto`", "put the dump of")
OF_GPUS = ("rules_launch.c", "rules_comm_rate.c")  # they ask of kernels, and of links between GPUs


def remedies():
    """Every literal that advises: what follows .remedy, or stands in a function or table of remedies."""
    for path in RULES:
        text = path.read_text()
        for found in LITERALS.finditer(text):
            whole = "".join(re.findall(r'"((?:[^"\\\n]|\\.)*)"', found.group()))
            before = text[max(0, found.start() - 160) : found.start()]
            if ("{" in whole or ".remedy" in before[-60:]) and len(whole) > 20 and "%" not in whole:
                yield path.name, whole


def fit(platform, text):
    def part(found):
        holds = all((word.lstrip("!") in platform) != word.startswith("!") for word in found[1].split("+"))
        return found[2] if holds else ""

    return PART.sub(part, text)


def main():
    wrong, count = [], 0
    for (name, text), platform in itertools.product(remedies(), PLATFORMS):
        count += 1
        if name in OF_GPUS and "gpu" not in platform:
            continue
        told = fit(platform, text)
        if any(told.startswith(head) or head in told for head in OF_JAX) and "jax" not in platform:
            continue
        for owner, words in WORDS.items():
            if owner not in platform and re.search(words, told):
                wrong.append(f"{name}: on {'+'.join(sorted(platform))}: {told}")
        if not told.strip() or re.search(r"[:,] ?\.|  ", told):
            wrong.append(f"{name}: on {'+'.join(sorted(platform))} it is no sentence: {told!r}")
    for line in wrong:
        print(line)
    print(f"{count} remedies on platforms, {len(wrong)} wrong")
    return 1 if wrong or count < 400 else 0


if __name__ == "__main__":
    sys.exit(main())
