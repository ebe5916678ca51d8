"""Packed attention against a plain masked one, and the fallback to transformers' own."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch

from penname.core.errors import BadInput, PennameError
from penname.training.attention import flex_attention_by_document, per_document_attention, resolve_attention
from penname.training.recurrence import isolate_recurrence

LENGTHS = (5, 1, 9, 17)


def tensors(heads: int = 4, kv: int = 2) -> list[torch.Tensor]:
    draw = torch.Generator().manual_seed(0)
    total = sum(LENGTHS)
    return [torch.randn((1, n, total, 16), generator=draw, requires_grad=True) for n in (heads, kv, kv)]


def masked_reference(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> torch.Tensor:
    owner = torch.repeat_interleave(torch.arange(len(LENGTHS)), torch.tensor(LENGTHS))
    keep = (owner[:, None] == owner[None]) & torch.ones(len(owner), len(owner)).tril().bool()
    key, value = key.repeat_interleave(2, 1), value.repeat_interleave(2, 1)
    scores = (query @ key.transpose(-1, -2) * 16**-0.5).masked_fill(~keep, float("-inf"))
    return (scores.softmax(-1) @ value).transpose(1, 2)


def test_equals_masked_attention_and_its_gradient() -> None:
    ours, theirs = tensors(), tensors()
    out, _ = per_document_attention(torch.nn.Module(), *ours, None, scaling=16**-0.5, documents=LENGTHS)
    reference = masked_reference(*theirs)
    torch.testing.assert_close(out, reference, atol=1e-5, rtol=1e-5)
    out.square().sum().backward()
    reference.square().sum().backward()
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine.grad, other.grad, atol=1e-4, rtol=1e-4)


def test_flex_equals_masked_attention() -> None:
    inputs = [tensor.detach() for tensor in tensors()]  # torch has no backward of it on a CPU
    out, _ = flex_attention_by_document(torch.nn.Module(), *inputs, None, scaling=16**-0.5, documents=LENGTHS)
    torch.testing.assert_close(out, masked_reference(*inputs), atol=1e-5, rtol=1e-5)


def test_without_documents_the_row_is_one_document() -> None:
    query, key, value = tensors()
    out, _ = per_document_attention(torch.nn.Module(), query, key, value, None)
    again, _ = per_document_attention(torch.nn.Module(), query, key, value, None, documents=(sum(LENGTHS),))
    assert torch.equal(out, again)


@pytest.mark.parametrize("wanted", ["varlen", "flex"])
def test_a_cuda_kernel_on_a_cpu_is_refused(wanted: str) -> None:
    from penname.carriers.loading import load_model
    from tiny import tiny_carrier

    with pytest.raises(BadInput, match="needs CUDA"):
        resolve_attention(load_model(tiny_carrier("qwen3")), wanted)


def test_a_cpu_runs_each_document_by_itself() -> None:
    from penname.carriers.loading import load_model
    from tiny import tiny_carrier

    assert resolve_attention(load_model(tiny_carrier("qwen3"))) == "per-document"


def test_a_recurrence_of_an_unknown_kind_is_refused() -> None:
    """Where Penname cannot cut it at documents it must not train over them."""
    model = torch.nn.Linear(1, 1)
    model.config = SimpleNamespace(get_text_config=lambda: SimpleNamespace(layer_types=["mamba", "full_attention"]))
    with pytest.raises(PennameError, match="Linear has layers of kind mamba, which Penname cannot keep to one document"):
        isolate_recurrence(model)
