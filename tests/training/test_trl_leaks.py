"""Packed rows on a hybrid carrier: what TRL makes of them without kernels, and what Penname makes of them.

TRL packs by best fit and hands the boundaries over as position ids, ``cu_seq_lens`` and ``seq_idx``. The torch functions for
convolution and scan take none of them: the versions in constraints.txt refuse to run, and one that drops what it is handed leaks
without a word. A trainer that hands over position ids alone leaks with every version.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from penname.carriers.loading import load_model
from penname.training.batch import make_batch
from penname.training.step import hidden_states
from tiny_training import Tiny

LEFT, OTHER_LEFT, RIGHT = list(range(10, 50)), list(range(200, 240)), list(range(60, 100))


def trl_batch(first: list[int], second: list[int]) -> dict[str, Any]:
    sft = pytest.importorskip("trl.trainer.sft_trainer", reason="TRL is in the extra `bench`")
    collate = sft.DataCollatorForLanguageModeling(pad_token_id=0, padding_free=True)
    batch = dict(collate([{"input_ids": first + second, "seq_lengths": [len(first), len(second)]}]))
    batch.pop("labels")
    return batch


@torch.no_grad()
def change_of_right(model: Any, keep: set[str] | None = None) -> float:
    """How far the second document's logits move when the first one changes."""
    logits = []
    for left in (LEFT, OTHER_LEFT):
        batch = trl_batch(left, RIGHT)
        batch = {key: value for key, value in batch.items() if keep is None or key in keep}
        logits.append(model(**batch, use_cache=False).logits[0, len(left) :])
    return float((logits[0] - logits[1]).abs().max())


def test_trl_batches_leak_on_a_hybrid_carrier_or_are_refused(hybrid: Tiny) -> None:
    model = load_model(hybrid.folder)
    try:
        assert change_of_right(model) > 1e-3
    except ValueError as refusal:
        assert "can't keep packed sequences apart" in str(refusal)
    assert change_of_right(model, keep={"input_ids", "position_ids"}) > 1e-3, "boundaries as position ids alone leak"


def test_trl_batches_do_not_leak_on_a_dense_carrier(dense: Tiny) -> None:
    """The control: attention takes the boundaries, so what leaks above is convolution and scan."""
    assert change_of_right(load_model(dense.folder)) < 1e-5


@torch.no_grad()
def test_penname_does_not_leak(tiny: Tiny) -> None:
    model = tiny.model()
    trained = np.repeat([False, True], [len(LEFT), len(RIGHT)])
    rows = [np.array(left + RIGHT) for left in (LEFT, OTHER_LEFT)]
    first, second = (hidden_states(model, make_batch(row, trained, (len(LEFT), len(RIGHT)))) for row in rows)
    assert torch.equal(first, second)


@pytest.mark.slow
def test_the_trl_trainer_itself_on_a_hybrid_carrier(hybrid: Tiny, tmp_path: Any) -> None:
    """SFTTrainer with packing as its users run it: it stops at the first step, or it has trained on leaking rows."""
    trl = pytest.importorskip("trl", reason="TRL is in the extra `bench`")
    datasets = pytest.importorskip("datasets", reason="datasets is in the extra `bench`")
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(hybrid.folder)
    model = load_model(hybrid.folder)
    rows = [{"prompt": f"[Anna goes on, {n}]\n\n", "completion": "The rain came down over the road again."} for n in range(8)]
    settings = trl.SFTConfig(
        output_dir=str(tmp_path),
        max_steps=1,
        max_length=128,
        packing=True,
        use_cpu=True,
        report_to=[],
        save_strategy="no",
        disable_tqdm=True,
    )
    trainer = trl.SFTTrainer(model=model, args=settings, train_dataset=datasets.Dataset.from_list(rows), processing_class=tokenizer)
    try:
        trainer.train()
        assert change_of_right(model) > 1e-4
    except ValueError as refusal:
        assert "can't keep packed sequences apart" in str(refusal)
