#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch programs on the CPU: FLOPs of their profiles against torch.utils.flop_counter.

    torch_costs.py TOOL [--print]

Each program runs once below FlopCounterMode and once below the profiler with record_shapes=True. The
FLOPs of the innermost ops that multiply, as tests/tools/torch_costs prints them, must add up to what
PyTorch counted. Where the two count differently on purpose, the program says by how much and why:
causal attention is half of PyTorch's count, the gradient of a grouped convolution's weight is counted
once and not once a group. Without torch the test is skipped.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import torch
    from torch.nn import functional as f
    from torch.profiler import ProfilerActivity, profile
    from torch.utils.flop_counter import FlopCounterMode, sdpa_backward_flop, sdpa_flop
except ImportError as problem:
    print(f"skipped: no torch ({problem})")
    sys.exit(77)

torch.manual_seed(0)
nn = torch.nn
MATRIX = 7
# The counter has no formula for the CPU's own attention: it is told its own one for the others.
for formula in (sdpa_flop, sdpa_backward_flop):
    formula._get_raw = True
ATTENTION = {torch.ops.aten._scaled_dot_product_flash_attention_for_cpu: sdpa_flop,
             torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward: sdpa_backward_flop}
CAUSAL = "causal attention counts the half that its mask leaves"
GROUPED = "PyTorch counts the gradient of a grouped weight once a group"


def trained(model, *shape):
    """One step of a model."""
    def run():
        inputs = torch.randn(*shape)
        model(inputs).sum().backward()
    return run


def applied(function, *shapes, grad=False, dtype=torch.float32):
    """A function of random tensors, and its gradient where asked for."""
    def run():
        inputs = [torch.randn(*shape).to(dtype).requires_grad_(grad) for shape in shapes]
        result = function(*inputs)
        if grad:
            result.sum().backward()
    return run


class Block(nn.Module):
    """A layer of a transformer."""
    def __init__(self, width, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.before, self.after = nn.LayerNorm(width), nn.LayerNorm(width)
        self.split, self.join = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.feed = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, given):
        count, length, width = given.shape
        parts = self.split(self.before(given)).view(count, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        mixed = f.scaled_dot_product_attention(query, key, value, is_causal=self.causal)
        given = given + self.join(mixed.transpose(1, 2).reshape(count, length, width))
        return given + self.feed(self.after(given))


class Tower(nn.Module):
    """Blocks of a residual network."""
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 7, 2, 3)
        self.left, self.right = nn.Conv2d(8, 16, 3, 2, 1), nn.Conv2d(8, 16, 1, 2)
        self.head = nn.Linear(16, 10)

    def forward(self, given):
        given = f.max_pool2d(f.relu(self.stem(given)), 2)
        given = f.relu(self.left(given) + self.right(given))
        return self.head(given.mean((2, 3)))


def attention(batch, heads, length, keys, size, causal=False, grad=False, groups=1):
    def run():
        query = torch.randn(batch, heads, length, size, requires_grad=grad)
        key = torch.randn(batch, heads // groups, keys, size, requires_grad=grad)
        value = torch.randn(batch, heads // groups, keys, size, requires_grad=grad)
        result = f.scaled_dot_product_attention(query, key, value, is_causal=causal,
                                                enable_gqa=groups > 1)
        if grad:
            result.sum().backward()
    return run


def convolution(kind, *arguments, shape, grad=True, **options):
    layer = kind(*arguments, **options)
    return trained(layer, *shape) if grad else applied(layer, shape)


def stepped(kind):
    """Steps of an optimizer, whose own arithmetic no one counts as a product."""
    model = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 3))
    optimizer = kind(model.parameters())

    def run():
        for _ in range(2):
            optimizer.zero_grad()
            model(torch.randn(6, 12)).square().sum().backward()
            optimizer.step()
    return run


# name: (program, what PyTorch counts beyond us in FLOPs or a factor, why)
def programs():
    yield "mm", applied(torch.mm, (7, 5), (5, 9))
    yield "mm_grad", applied(torch.mm, (7, 5), (5, 9), grad=True)
    yield "mm_one", applied(torch.mm, (1, 1), (1, 1))
    yield "mm_empty", applied(torch.mm, (0, 5), (5, 9))
    yield "mm_bf16", applied(torch.mm, (16, 32), (32, 8), dtype=torch.bfloat16)
    yield "mm_f64", applied(torch.mm, (16, 32), (32, 8), dtype=torch.float64)
    yield "mm_transposed", applied(lambda a, b: a.t() @ b.t(), (5, 7), (9, 5), grad=True)
    yield "mm_expanded", applied(lambda a, b: a.expand(6, 5) @ b, (1, 5), (5, 4), grad=True)
    yield "bmm", applied(torch.bmm, (3, 7, 5), (3, 5, 9))
    yield "bmm_grad", applied(torch.bmm, (3, 7, 5), (3, 5, 9), grad=True)
    yield "addmm", applied(torch.addmm, (9,), (7, 5), (5, 9), grad=True)
    yield "addmm_scaled", applied(lambda c, a, b: torch.addmm(c, a, b, beta=0.5, alpha=2), (7, 9),
                                  (7, 5), (5, 9))
    yield "baddbmm", applied(torch.baddbmm, (3, 7, 9), (3, 7, 5), (3, 5, 9), grad=True)
    yield "matmul_broadcast", applied(torch.matmul, (2, 1, 7, 5), (3, 5, 9), grad=True)
    yield "matmul_folded", applied(torch.matmul, (4, 6, 5), (5, 9), grad=True)
    yield "einsum", applied(lambda a, b: torch.einsum("bij,bkj->bik", a, b), (3, 4, 5), (3, 6, 5), grad=True)
    yield "einsum_heads", applied(lambda a, b: torch.einsum("bthd,bshd->bhts", a, b), (2, 5, 3, 4),
                                  (2, 6, 3, 4), grad=True)
    yield "tensordot", applied(lambda a, b: torch.tensordot(a, b, 2), (3, 4, 5), (4, 5, 6), grad=True)
    yield "linear", trained(nn.Linear(11, 13), 5, 11)
    yield "linear_no_bias", trained(nn.Linear(11, 13, bias=False), 5, 11)
    yield "linear_batched", trained(nn.Linear(11, 13), 2, 3, 11)
    yield "linear_infer", applied(nn.Linear(11, 13), (4, 11))
    yield "mlp", trained(nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 8)), 16, 8)
    for name, kind, shape, size in (("1d", nn.Conv1d, (2, 4, 12), 3), ("2d", nn.Conv2d, (2, 4, 9, 10), 3),
                                    ("3d", nn.Conv3d, (2, 4, 5, 6, 7), 3)):
        yield f"conv{name}", convolution(kind, 4, 6, size, shape=shape)
        yield f"conv{name}_padded", convolution(kind, 4, 6, size, shape=shape, padding=1)
        yield f"conv{name}_strided", convolution(kind, 4, 6, size, shape=shape, stride=2)
        yield f"conv{name}_infer", convolution(kind, 4, 6, size, shape=shape, grad=False)
    yield "conv_dilated", convolution(nn.Conv2d, 4, 6, 3, shape=(2, 4, 11, 11), dilation=2, padding=2)
    yield "conv_same", convolution(nn.Conv2d, 4, 6, 3, shape=(2, 4, 11, 11), padding="same")
    yield "conv_uneven", convolution(nn.Conv2d, 4, 6, (3, 5), shape=(2, 4, 11, 13), stride=(2, 1), padding=(1, 2))
    yield "conv_1x1", convolution(nn.Conv2d, 4, 6, 1, shape=(2, 4, 11, 11))
    yield "conv_no_bias", convolution(nn.Conv2d, 4, 6, 3, shape=(2, 4, 11, 11), bias=False)
    yield "conv_grouped", convolution(nn.Conv2d, 4, 8, 3, shape=(2, 4, 9, 9), groups=2, grad=False)
    yield "conv_depthwise", convolution(nn.Conv2d, 4, 4, 3, shape=(2, 4, 9, 9), groups=4, grad=False)
    yield ("conv_grouped_grad", convolution(nn.Conv2d, 4, 8, 3, shape=(2, 4, 9, 9), groups=2),
           2 * 2 * 49 * 8 * 2 * 9, GROUPED)
    yield "conv_transposed", convolution(nn.ConvTranspose2d, 4, 6, 3, shape=(2, 4, 7, 7))
    yield "conv_transposed_strided", convolution(nn.ConvTranspose2d, 4, 6, 3, shape=(2, 4, 7, 7), stride=2,
                                                 output_padding=1)
    yield "conv_transposed_1d", convolution(nn.ConvTranspose1d, 4, 6, 3, shape=(2, 4, 7), grad=False)
    yield "attention", attention(2, 4, 16, 16, 8)
    yield "attention_cross", attention(2, 4, 16, 24, 8)
    yield "attention_grad", attention(2, 4, 16, 16, 8, grad=True)
    yield "attention_cross_grad", attention(2, 4, 16, 24, 8, grad=True)
    yield "attention_causal", attention(2, 4, 16, 16, 8, causal=True), 0.5, CAUSAL
    yield "attention_causal_grad", attention(2, 4, 16, 16, 8, causal=True, grad=True), 0.5, CAUSAL
    yield "attention_shared", attention(2, 4, 16, 16, 8, groups=2)
    yield "attention_long", attention(1, 2, 128, 128, 16)
    yield "transformer", trained(Block(16, 4, False), 2, 12, 16)
    yield "encoder", trained(nn.TransformerEncoderLayer(16, 4, 32, dropout=0, batch_first=True), 2, 10, 16)
    yield "multihead", applied(lambda x: nn.MultiheadAttention(16, 4, batch_first=True)(x, x, x)[0], (2, 10, 16),
                               grad=True)
    yield "tower", trained(Tower(), 2, 3, 32, 32)
    yield "lstm_cell", applied(lambda x: nn.LSTMCell(6, 8)(x)[0], (4, 6), grad=True)
    yield "gru_cell", applied(lambda x: nn.GRUCell(6, 8)(x), (4, 6), grad=True)
    yield "rnn", applied(lambda x: nn.RNN(6, 8)(x)[0], (5, 4, 6), grad=True)
    yield "embedding", applied(lambda x: nn.Linear(8, 3)(nn.Embedding(20, 8)(torch.arange(6))) * x, (6, 3), grad=True)
    yield "checkpoint", applied(lambda x: torch.utils.checkpoint.checkpoint(
        nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8)), x, use_reentrant=True), (5, 8), grad=True)
    yield "sgd", stepped(lambda given: torch.optim.SGD(given, 0.1))
    yield "adamw_fused", stepped(lambda given: torch.optim.AdamW(given, fused=True))
    yield "adam_foreach", stepped(lambda given: torch.optim.Adam(given, foreach=True))
    yield "no_product", applied(lambda x: f.softmax(x.relu().exp() + 1, -1), (4, 5), grad=True)
    yield "cholesky", applied(lambda x: torch.linalg.cholesky(x @ x.t() + torch.eye(4)), (4, 4))


def counted(run):
    with FlopCounterMode(display=False, custom_mapping=ATTENTION) as counter:
        run()
    return counter.get_total_flops()


def innermost(calls):
    """The matrix FLOPs of calls that hold no other call with some."""
    calls = sorted((call for call in calls if call[MATRIX]), key=lambda call: (call[0], call[1], -call[2]))
    total = 0
    for place, call in enumerate(calls):
        after = calls[place + 1] if place + 1 < len(calls) else None
        holds = after and after[0] == call[0] and after[1] + after[2] <= call[1] + call[2]
        total += 0 if holds else call[MATRIX]
    return total


def profiled(run, tool, path):
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True) as recording:
        run()
    recording.export_chrome_trace(str(path))
    return innermost(json.loads(subprocess.run([tool, path], capture_output=True, check=True).stdout))


def main():
    tool, show = sys.argv[1], "--print" in sys.argv
    count = wrong = 0
    with tempfile.TemporaryDirectory() as place:
        for name, run, *differs in programs():
            expected = counted(run)
            if differs:
                expected = expected * differs[0] if differs[0] < 1 else expected - differs[0]
            found = profiled(run, tool, pathlib.Path(place) / "trace.json")
            count += 1
            wrong += found != expected
            if show or found != expected:
                print(f"{name}: {found:.0f} FLOPs, PyTorch counts {expected:.0f}", "" if found == expected else "WRONG")
    print(f"{count} programs, {wrong} differ")
    sys.exit(wrong > 0)


main()
