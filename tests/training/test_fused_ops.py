"""Each element-wise step, in C and in torch, against autograd through the plain formula."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch.nn.functional import cross_entropy, silu

from penname.training import fused_native, fused_ops
from penname.training.fused_attention import AttendByDocument

TOLERANCE = {torch.float32: 2e-6, torch.bfloat16: 2e-2}


@pytest.fixture(params=["c", "torch"])
def backend(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    if request.param == "torch":
        monkeypatch.setattr(fused_ops, "kernels", lambda: None)
    elif fused_native.kernels() is None:
        pytest.skip("no C compiler here, so there are no C kernels to test")
    yield request.param


@pytest.fixture(params=[torch.float32, torch.bfloat16], ids=["fp32", "bf16"])
def dtype(request: pytest.FixtureRequest) -> torch.dtype:
    return request.param


def drawn(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def close(ours: torch.Tensor, theirs: torch.Tensor, dtype: torch.dtype) -> None:
    torch.testing.assert_close(ours.float(), theirs.float(), atol=TOLERANCE[dtype] * 4, rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_norm_and_its_gradient(backend: str, dtype: torch.dtype, offset: float) -> None:
    x, added, weight = (drawn(n, 96, dtype=dtype, seed=n) for n in (7, 7, 1))
    total, normed, rstd = fused_ops.norm_forward(x, weight[0], 1e-5, offset, added)
    reference = (x.float() + added.float()).to(dtype).float().requires_grad_()
    expected = reference * torch.rsqrt(reference.square().mean(-1, keepdim=True) + 1e-5) * (weight[0].float() + offset)
    close(total, reference.detach(), dtype)
    close(normed, expected.detach(), dtype)
    assert torch.equal(fused_ops.norm_again(total, rstd, weight[0], offset), normed)
    d_normed, d_passed = drawn(7, 96, dtype=dtype, seed=3), drawn(7, 96, dtype=dtype, seed=4)
    (expected * d_normed.float()).sum().backward()
    assert reference.grad is not None
    close(fused_ops.norm_backward(d_normed, total, rstd, weight[0], offset, None), reference.grad, dtype)
    close(fused_ops.norm_backward(d_normed, total, rstd, weight[0], offset, d_passed), reference.grad + d_passed.float(), dtype)


def test_swiglu_and_its_gradient(backend: str, dtype: torch.dtype) -> None:
    gate, up, d_product = (drawn(33, 130, dtype=dtype, seed=n) * 3 for n in (1, 2, 3))
    g, u = gate.float().clone().requires_grad_(), up.float().clone().requires_grad_()
    expected = silu(g) * u
    (expected * d_product.float()).sum().backward()
    assert g.grad is not None and u.grad is not None
    close(fused_ops.swiglu_forward(gate, up), expected.detach(), dtype)
    d_gate, d_up, product = fused_ops.swiglu_backward(gate, up, d_product)
    for ours, theirs in ((d_gate, g.grad), (d_up, u.grad), (product, expected.detach())):
        torch.testing.assert_close(ours.float(), theirs, atol=TOLERANCE[dtype] * 20, rtol=TOLERANCE[dtype] * 2)


@pytest.mark.parametrize("rotary", [16, 8])
def test_rotation_turns_and_turns_back(backend: str, dtype: torch.dtype, rotary: int) -> None:
    x = drawn(1, 11, 3, 16, dtype=dtype).transpose(1, 2)  # (1, H, T, D), as projections give it
    angles = torch.arange(11)[:, None] * torch.linspace(1, 0.1, rotary // 2)
    cosine, sine = (torch.cat((f, f), -1)[None].to(dtype) for f in (angles.cos(), angles.sin()))
    turned = fused_ops.rotate(x, cosine, sine, 1.0)
    half = rotary // 2
    part = x[..., :rotary].float()
    swapped = torch.cat((-part[..., half:], part[..., :half]), -1)
    expected = torch.cat((part * cosine[:, None].float() + swapped * sine[:, None].float(), x[..., rotary:].float()), -1)
    close(turned, expected, dtype)
    close(fused_ops.rotate(turned, cosine, sine, -1.0), x, torch.bfloat16 if dtype == torch.bfloat16 else dtype)
    assert turned.transpose(1, 2).is_contiguous()


def test_cross_entropy_and_its_gradient(backend: str, dtype: torch.dtype) -> None:
    logits = drawn(9, 515, dtype=dtype) * 4
    logits[0, 3] = 60  # a position that is sure of its target: softmax minus one-hot must not cancel to nothing
    targets = torch.tensor([3, 0, 514, 5, 5, 100, 200, 300, 400])
    reference = logits.float().requires_grad_()
    expected = cross_entropy(reference, targets, reduction="sum")
    expected.backward()
    assert reference.grad is not None
    assert fused_ops.cross_entropy(logits.clone(), targets, gradient=False).item() == pytest.approx(expected.item(), rel=1e-5)
    changed = logits.clone()
    assert fused_ops.cross_entropy(changed, targets, gradient=True).item() == pytest.approx(expected.item(), rel=1e-5)
    torch.testing.assert_close(changed.float(), reference.grad, atol=1e-6, rtol=8e-3 if dtype == torch.bfloat16 else 1e-4)


def attended(lengths: tuple[int, ...], heads: int, shared: int, dim: int, dtype: torch.dtype) -> tuple[list[torch.Tensor], ...]:
    """(result and gradients of AttendByDocument, the same by torch's own attention in float32, a call a document)."""
    total, scale = sum(lengths), dim**-0.5
    given = [drawn(1, total, n, dim, dtype=dtype, seed=n).transpose(1, 2).requires_grad_() for n in (heads, shared, shared + 1)]
    given[2] = given[2].detach()[:, :shared].requires_grad_()  # strides of its own: heads of a wider tensor
    d_out = drawn(1, total, heads, dim, dtype=dtype, seed=9)
    ours = AttendByDocument.apply(*given, lengths, scale)
    exact = [tensor.detach().float().requires_grad_() for tensor in given]
    parts = [
        torch.nn.functional.scaled_dot_product_attention(*part, is_causal=True, scale=scale, enable_gqa=True)
        for part in zip(*(tensor.split(lengths, dim=2) for tensor in exact), strict=True)
    ]
    reference = torch.cat(parts, 2).transpose(1, 2)
    return [ours, *torch.autograd.grad(ours, given, d_out)], [reference, *torch.autograd.grad(reference, exact, d_out.float())]


@pytest.mark.parametrize(("lengths", "heads", "shared", "dim"), [((33, 1, 64, 7), 6, 2, 16), ((70,), 2, 2, 24), ((5, 130), 3, 1, 64)])
def test_attention_and_its_gradient(backend: str, dtype: torch.dtype, lengths: tuple[int, ...], heads: int, shared: int, dim: int) -> None:
    for ours, theirs in zip(*attended(lengths, heads, shared, dim, dtype), strict=True):
        close(ours, theirs, dtype)


def test_attention_keeps_its_bits_whatever_stands_beside_it_and_however_many_threads_run(backend: str, dtype: torch.dtype) -> None:
    lengths, middle = (20, 45, 33), slice(20, 65)
    given = [drawn(1, 98, n, 32, dtype=dtype, seed=n).transpose(1, 2) for n in (4, 2, 2)]
    other = [drawn(1, 98, n, 32, dtype=dtype, seed=n + 50).transpose(1, 2) * 9 for n in (4, 2, 2)]
    for changed, mine in zip(other, given, strict=True):
        changed[:, :, middle] = mine[:, :, middle]
    results = []
    for inputs, threads in ((given, 1), (other, 1), (given, 2)):
        inputs = [tensor.clone().requires_grad_() for tensor in inputs]
        before = torch.get_num_threads()
        torch.set_num_threads(threads)
        try:
            out = AttendByDocument.apply(*inputs, lengths, None)
            found = torch.autograd.grad(out[:, middle].float().square().sum(), inputs)
        finally:
            torch.set_num_threads(before)
        results.append([out[:, middle], *(gradient[:, :, middle] for gradient in found)])
    for first, *others in zip(*results, strict=True):
        assert all(torch.equal(first, again) for again in others)


def test_the_exponential_of_the_kernels_holds_over_its_range() -> None:
    if fused_native.kernels() is None:
        pytest.skip("no C compiler here, so there are no C kernels to test")
    gate = torch.linspace(-100, 100, 40001)
    ones = torch.ones_like(gate)
    torch.testing.assert_close(fused_ops.swiglu_forward(gate, ones), silu(gate.double()).float(), atol=1e-9, rtol=3e-7)


def test_nan_stays_nan(backend: str, dtype: torch.dtype) -> None:
    bad = torch.full((1, 64), float("nan"), dtype=dtype)
    value = bad.view(1, 1, 4, 16).clone().requires_grad_()
    assert AttendByDocument.apply(value, value, value, (4,), None).isnan().all()
    _, normed, _ = fused_ops.norm_forward(bad, torch.ones(64, dtype=dtype), 1e-5, 0.0)
    assert normed.isnan().all()
    assert fused_ops.cross_entropy(bad.clone(), torch.tensor([5]), gradient=False).isnan()


def test_without_a_compiler_torch_does_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    fused_native.kernels.cache_clear()
    try:
        assert fused_native.kernels() is None
        monkeypatch.undo()
        monkeypatch.setenv("PENNAME_KERNELS", "torch")
        fused_native.kernels.cache_clear()
        assert fused_native.kernels() is None
    finally:
        monkeypatch.undo()
        fused_native.kernels.cache_clear()
