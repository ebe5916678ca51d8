"""Loss curves against a plain fp32 loop: unpacked, one document at a time, PEFT's and transformers' own forward and loss."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
import torch

from penname.carriers.loading import load_model
from penname.core.config import TrainingConfig
from penname.training.loop import RunFiles, step_rows, total_steps, train
from penname.training.lora import adapter_parameters, attach_lora
from penname.training.optimizer import learning_rate
from tiny_training import Tiny


def reference_losses(tiny: Tiny, settings, seed: int) -> tuple[list[float], dict[str, torch.Tensor]]:
    peft_model = attach_lora(load_model(tiny.folder), settings, seed)  # nothing of Penname's packing is installed here
    parameters = list(adapter_parameters(peft_model).values())
    optimizer = torch.optim.AdamW(parameters, lr=settings.learning_rate, weight_decay=settings.weight_decay)
    steps, losses = total_steps(tiny.shards, settings), []
    for step, rows in enumerate(step_rows(tiny.shards, settings, seed)):
        optimizer.param_groups[0]["lr"] = settings.learning_rate * 0.5 * (1 + math.cos(math.pi * step / steps))
        total, tokens = torch.zeros(()), 0
        for document in (d for row in rows for d in tiny.shards.row_documents(row)):
            ids = torch.from_numpy(tiny.shards.document_tokens(document).astype("int64"))[None]
            labels = ids.masked_fill(~torch.from_numpy(tiny.shards.document_trained(document))[None], -100)
            count = int((labels != -100).sum())
            total = total + peft_model(input_ids=ids, labels=labels).loss * count
            tokens += count
        (total / tokens).backward()
        torch.nn.utils.clip_grad_norm_(parameters, settings.clip_norm)
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(total.detach()) / tokens)
    return losses, {name: p.detach() for name, p in adapter_parameters(peft_model).items()}


@pytest.mark.parametrize("changes", [{"grad_accum_steps": 1}, {"grad_accum_steps": 3, "weight_decay": 0.5, "clip_norm": 0.05}])
def test_losses_and_adapter_equal_the_reference(tiny: Tiny, tmp_path: Path, changes: dict[str, float]) -> None:
    peft_model, settings = tiny.attached(seed=3, max_steps=8, **changes)
    train(peft_model, tiny.shards, settings, seed=3, run_id="x", files=RunFiles(tmp_path))
    rows = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    ours = [row["loss"] for row in rows if "loss" in row]
    theirs, adapter = reference_losses(tiny, settings, seed=3)
    assert len(ours) == 8
    assert ours[-1] < ours[0] - 0.1, "it learns something in eight steps"
    assert ours == pytest.approx(theirs, abs=2e-5)
    for name, parameter in adapter_parameters(peft_model).items():
        torch.testing.assert_close(parameter, adapter[name], atol=2e-4, rtol=2e-3)


def test_accumulation_weighs_tokens_and_not_rows(dense: Tiny, tmp_path: Path) -> None:
    """Two rows of very different length in one step: the loss is the mean over tokens, as one row of both would have it."""
    peft_model, settings = dense.attached(grad_accum_steps=2, max_steps=1)
    first, second = next(step_rows(dense.shards, settings, 1))
    counts = [dense.shards.row(row).trained_tokens for row in (first, second)]
    from penname.training.batch import batch_of
    from penname.training.step import forward_backward

    sums = [forward_backward(peft_model.get_base_model(), batch_of(dense.shards.row(row)), 1.0) for row in (first, second)]
    train(peft_model, dense.shards, settings, seed=1, run_id="x", files=RunFiles(tmp_path))
    loss = json.loads((tmp_path / "metrics.jsonl").read_text().splitlines()[1])["loss"]
    assert loss == pytest.approx(sum(sums) / sum(counts), abs=1e-5)


def test_the_rate_warms_up_and_falls() -> None:
    def rates(total: int, **changes: object) -> list[float]:
        settings = TrainingConfig(**{"learning_rate": 1.0, "warmup_steps": 4, "schedule": "cosine", **changes})
        return [learning_rate(step, total, settings) for step in range(total)]

    falling = rates(20)
    assert falling[:5] == [0.25, 0.5, 0.75, 1.0, 1.0]
    assert (falling[12], falling[19]) == (pytest.approx(0.5), pytest.approx(0.0096, abs=1e-4))  # half-way, and the last step
    assert rates(8)[:3] == [0.5, 1.0, 1.0]  # a warmup is at most a quarter of the steps
    assert rates(20, schedule="constant")[4:] == [1.0] * 16


def test_chunked_loss_equals_torch_with_any_chunk() -> None:
    from penname.training.loss import cross_entropy_sum

    draw = torch.Generator().manual_seed(0)
    weight, targets = torch.randn((50, 8), generator=draw), torch.randint(0, 50, (23,), generator=draw)
    hidden = torch.randn((23, 8), generator=draw)
    wanted = hidden.clone().requires_grad_()
    expected = torch.nn.functional.cross_entropy(wanted @ weight.t(), targets, reduction="sum")
    expected.backward()
    for chunk in (1, 5, 23, 100):
        ours = hidden.clone().requires_grad_()
        loss = cross_entropy_sum(ours, weight, targets, chunk)
        (loss * 0.5).backward()
        torch.testing.assert_close(loss, expected)
        torch.testing.assert_close(ours.grad, wanted.grad * 0.5)
