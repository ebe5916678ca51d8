"""The proofs hold on tiny carriers, and each refuses a planted fault."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from penname.core.errors import ProofFailed
from penname.core.tokens import open_shards
from penname.shards import build_shards
from penname.shards.corpus import Pair
from penname.training import attention, preflight, recurrence, step
from penname.training.batch import Batch
from penname.training.lora import adapter_parameters, save_adapter
from penname.training.preflight import (
    pieces_of,
    prove_adapter,
    prove_before,
    prove_isolation,
    prove_loss,
    prove_mask,
    prove_reach,
    prove_sampling_parity,
    stirred_adapter,
)
from tiny_training import Tiny


def test_all_proofs_hold_and_leave_the_adapter_as_it_was(tiny: Tiny) -> None:
    peft_model, settings = tiny.attached()
    before = {name: p.detach().clone() for name, p in adapter_parameters(peft_model).items()}
    found = prove_before(peft_model, tiny.shards, tiny.tokenizer, settings, tiny.texts)
    assert found["mask"]["passages_compared"] > 20
    assert found["isolation"]["logits_alone"] * 10 < found["isolation"]["logits_leak"]
    assert found["isolation"]["gradients_alone"] * 10 < found["isolation"]["gradients_leak"]
    for name, parameter in adapter_parameters(peft_model).items():
        assert torch.equal(parameter, before[name])
        assert parameter.grad is None


# 1. Isolation


def isolation(tiny: Tiny, **changes: Any) -> dict[str, float]:
    peft_model, _ = tiny.attached(**changes)
    with stirred_adapter(peft_model):
        return prove_isolation(peft_model, pieces_of(tiny.shards))


def drop_documents(function: Any) -> Any:
    def leaky(*args: Any, documents: tuple[int, ...] = (), **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return leaky


def test_attention_over_the_whole_row_is_refused(dense: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

    monkeypatch.setitem(ALL_ATTENTION_FUNCTIONS._global_mapping, "penname_per_document", drop_documents(attention.per_document_attention))
    with pytest.raises(ProofFailed, match="packed documents leak into each other"):
        isolation(dense)


@pytest.mark.parametrize("name", [recurrence.CONVOLUTION, recurrence.SCAN])
def test_convolution_or_scan_over_the_whole_row_is_refused(hybrid: Tiny, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    from transformers.models.qwen3_5 import modeling_qwen3_5

    peft_model, _ = hybrid.attached()  # installs the isolated functions
    monkeypatch.setattr(modeling_qwen3_5, name, drop_documents(getattr(modeling_qwen3_5, name)))
    with stirred_adapter(peft_model), pytest.raises(ProofFailed, match="packed documents leak into each other"):
        prove_isolation(peft_model, pieces_of(hybrid.shards))


def test_positions_that_run_on_over_documents_are_refused(dense: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rotary attention is relative, so only rounding shows in a document alone; a learned offset would not be so kind."""
    kept = step.hidden_states

    def running_on(model: Any, batch: Batch) -> torch.Tensor:
        # Every document after the first gets the first one's positions stretched: as if the row were one text.
        positions = torch.arange(batch.tokens)[None] * (2 if len(batch.documents) > 1 else 1)
        return kept(model, Batch(batch.input_ids, positions, batch.documents, batch.trained, batch.targets))

    monkeypatch.setattr("penname.training.preflight.hidden_states", running_on)
    monkeypatch.setattr(step, "hidden_states", running_on)
    with pytest.raises(ProofFailed, match="between packed and alone"):
        isolation(dense)


def test_a_gradient_that_comes_from_a_neighbour_is_refused(dense: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = step.forward_backward

    def trains_the_neighbour_too(model: Any, batch: Batch, scale: float) -> tuple[float, int]:
        more = torch.cat([torch.arange(3), batch.trained])
        targets = torch.cat([batch.input_ids[0, 1:4], batch.targets])
        return kept(model, Batch(batch.input_ids, batch.position_ids, batch.documents, more, targets), scale)

    monkeypatch.setattr("penname.training.preflight.forward_backward", trains_the_neighbour_too)
    with pytest.raises(ProofFailed, match="changes with a document's neighbours"):
        isolation(dense)


def test_a_gradient_that_only_packed_rows_have_is_refused(dense: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = step.forward_backward

    def by_documents(model: Any, batch: Batch, scale: float) -> float:
        return kept(model, batch, scale * len(batch.documents))

    monkeypatch.setattr("penname.training.preflight.forward_backward", by_documents)
    with pytest.raises(ProofFailed, match="a document's gradients differ by"):
        isolation(dense)


# 2. Mask


def altered(tiny: Tiny, tmp_path: Path, name: str, change: Any) -> Any:
    shutil.copytree(tiny.voice.current_shards, tmp_path / "s")
    shards = open_shards(tmp_path / "s")
    array = np.array(getattr(shards, name))
    change(array)
    setattr(shards, name, array)
    return shards


def recount(shards: Any) -> Any:
    """Let the index agree with altered segments, so that their texts alone can tell."""
    train = int(shards.documents["segments"][: shards.index["train_documents"]].sum())
    learned = shards.segments["passage_tokens"].astype(int)
    shards.index = {
        **shards.index,
        "train_trained_tokens": int(learned[:train].sum()),
        "heldout_trained_tokens": int(learned[train:].sum()),
    }
    return shards


@pytest.mark.parametrize("by", [1, -1])
def test_a_mask_that_begins_a_token_late_or_early_is_refused(dense: Tiny, tmp_path: Path, by: int) -> None:
    def shift(segments: np.ndarray) -> None:
        segments["beat_tokens"] += by
        segments["passage_tokens"] -= by

    with pytest.raises(ProofFailed, match=r"the learned tokens of tale:0:\d in copy 1 are not its passage"):
        prove_mask(recount(altered(dense, tmp_path, "segments", shift)), dense.tokenizer, dense.texts)


def test_a_mask_that_leaves_the_end_marks_out_is_refused(dense: Tiny, tmp_path: Path) -> None:
    def shift(segments: np.ndarray) -> None:
        segments["passage_tokens"] -= 1
        segments["beat_tokens"] += 1  # the end mark before a beat counts as its beginning
        segments["beat_tokens"][dense.shards.documents["segment"]] -= 1

    with pytest.raises(ProofFailed, match=r"the learned tokens of tale:0:\d in copy 1 lack their end mark"):
        prove_mask(recount(altered(dense, tmp_path, "segments", shift)), dense.tokenizer, dense.texts)


def test_a_passage_that_was_cut_is_held_to_its_beginning(dense: Tiny, tmp_path: Path) -> None:
    text = "The rain came down over the road. " * 40
    build_shards(tmp_path, [Pair("b:0:0", "b", 1, 0, 0, len(text), "Rain", text)], [], dense.tokenizer, seq_len=64, single_share=0, seed=1)
    (tmp_path / "manifest.json").write_text("{}")
    shards = open_shards(tmp_path)
    assert prove_mask(shards, dense.tokenizer, lambda *_: text)["passages_compared"] == 1
    with pytest.raises(ProofFailed, match="b:0:0 in copy 1 are not its passage"):
        prove_mask(shards, dense.tokenizer, lambda *_: text[1:])


def test_an_end_mark_inside_a_passage_is_refused(dense: Tiny) -> None:
    """Decoded text does not show it: special tokens are left out there."""
    shards, stop = open_shards(dense.voice.current_shards), dense.tokenizer.stop_id
    tokens, trained = shards.document_tokens, shards.document_trained
    shards.document_tokens = lambda document: np.insert(tokens(document), -3, stop)  # type: ignore[method-assign]
    shards.document_trained = lambda document: np.insert(trained(document), -3, True)  # type: ignore[method-assign]
    with pytest.raises(ProofFailed, match=r"tale:0:\d in copy 1 are not its passage"):
        prove_mask(shards, dense.tokenizer, dense.texts)


def test_a_passage_in_two_learned_runs_is_refused(dense: Tiny) -> None:
    shards = open_shards(dense.voice.current_shards)
    whole = shards.document_trained

    def broken(document: int) -> np.ndarray:
        trained = whole(document)
        trained[-2] = False
        return trained

    shards.document_trained = broken  # type: ignore[method-assign]
    with pytest.raises(ProofFailed, match=r"document 0 of the shards has \d learned runs for \d passages"):
        prove_mask(shards, dense.tokenizer, dense.texts)


def test_one_beat_token_that_is_learned_is_refused(dense: Tiny, tmp_path: Path) -> None:
    def shift(segments: np.ndarray) -> None:
        segments["beat_tokens"][0] -= 1
        segments["passage_tokens"][0] += 1
        segments["passage_tokens"][1] -= 1
        segments["beat_tokens"][1] += 1

    shards = altered(dense, tmp_path, "segments", shift)
    with pytest.raises(ProofFailed, match=r"the learned tokens of tale:0:0 in copy 1 are not its passage"):
        prove_mask(shards, dense.tokenizer, dense.texts, documents=10**6)


def test_counts_that_do_not_agree_are_refused(dense: Tiny, tmp_path: Path) -> None:
    shards = altered(dense, tmp_path, "segments", lambda segments: segments["passage_tokens"].__iadd__(1))
    with pytest.raises(ProofFailed, match="and their index says"):
        prove_mask(shards, dense.tokenizer, dense.texts)


def test_another_text_than_the_copy_is_refused(dense: Tiny) -> None:
    with pytest.raises(ProofFailed, match="are not its passage"):
        prove_mask(dense.shards, dense.tokenizer, lambda *_: "Some other text.")


def test_another_stop_token_is_refused(dense: Tiny) -> None:
    from dataclasses import replace

    with pytest.raises(ProofFailed, match="another stop token"):
        prove_mask(dense.shards, replace(dense.tokenizer, stop_id=7), dense.texts)


# 3. Reach


def reach(tiny: Tiny, peft_model: Any, settings: Any) -> dict[str, int]:
    with stirred_adapter(peft_model):
        return prove_reach(peft_model, pieces_of(tiny.shards), settings)


def test_reach_counts_modules(dense: Tiny, hybrid: Tiny) -> None:
    assert reach(dense, *dense.attached()) == {"modules": 14, "matrices": 28}
    assert reach(hybrid, *hybrid.attached()) == {"modules": 10, "matrices": 20}
    assert reach(hybrid, *hybrid.attached(target_modules="attention+mlp+linear")) == {"modules": 15, "matrices": 30}


def test_a_base_weight_that_would_train_is_refused(dense: Tiny) -> None:
    peft_model, settings = dense.attached()
    peft_model.get_base_model().model.norm.weight.requires_grad_(True)
    with pytest.raises(ProofFailed, match=r"the base weight model\.norm\.weight would be trained \(1 in all\)"):
        reach(dense, peft_model, settings)


def test_a_matrix_out_of_reach_is_refused(dense: Tiny) -> None:
    peft_model, settings = dense.attached()
    list(adapter_parameters(peft_model).values())[3].requires_grad_(False)
    with pytest.raises(ProofFailed, match=r"no gradient reaches .*1 LoRA matrices"):
        reach(dense, peft_model, settings)


def test_a_matrix_whose_gradient_is_zero_is_refused(dense: Tiny) -> None:
    peft_model, settings = dense.attached()
    next(module for module in peft_model.modules() if hasattr(module, "lora_A")).scaling["default"] = 0.0
    with pytest.raises(ProofFailed, match=r"no gradient reaches .*2 LoRA matrices"):
        reach(dense, peft_model, settings)


def test_other_modules_than_planned_are_refused(dense: Tiny) -> None:
    peft_model, settings = dense.attached()
    with pytest.raises(ProofFailed, match=r"LoRA stands on other modules than planned .*12 in all"):
        reach(dense, peft_model, settings.model_copy(update={"target_modules": ("q_proj",)}))


# 4. Sampling parity


def test_a_template_that_sampling_does_not_share_is_refused(dense: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("penname.carriers.prompt.beat_segment", lambda beat: f"[{beat}]\n")
    with pytest.raises(ProofFailed, match="would not start from the tokens that are trained"):
        prove_sampling_parity(dense.shards, dense.tokenizer)


def test_context_that_sampling_leaves_out_is_refused(dense: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = preflight.encode_prefix
    monkeypatch.setattr(preflight, "encode_prefix", lambda tokenizer, beat, _: kept(tokenizer, beat))
    with pytest.raises(ProofFailed, match="would not start from the tokens that are trained"):
        prove_sampling_parity(dense.shards, dense.tokenizer)


# The loss, and what is saved


def test_a_cap_on_logits_that_the_loss_does_not_know_is_refused(dense: Tiny) -> None:
    peft_model, _ = dense.attached()
    peft_model.get_base_model().lm_head.register_forward_hook(lambda module, args, out: torch.tanh(out) * 4)
    with pytest.raises(ProofFailed, match="changes its logits in a way unknown here"):
        prove_loss(peft_model, pieces_of(dense.shards))


def test_a_loss_that_is_no_number_is_refused(dense: Tiny) -> None:
    peft_model, _ = dense.attached()
    peft_model.get_base_model().model.norm.weight.data.fill_(float("nan"))
    with pytest.raises(ProofFailed, match="the loss is nan"):
        prove_loss(peft_model, pieces_of(dense.shards))


def test_an_adapter_that_did_not_train_is_refused(dense: Tiny, tmp_path: Path) -> None:
    peft_model, _ = dense.attached()
    save_adapter(tmp_path, peft_model)
    with pytest.raises(ProofFailed, match=r"is still zero after training \(14 matrices\)"):
        prove_adapter(peft_model, tmp_path)


def test_a_saved_adapter_that_is_another_is_refused(tiny: Tiny, tmp_path: Path) -> None:
    peft_model, _ = tiny.attached()
    with stirred_adapter(peft_model):
        save_adapter(tmp_path, peft_model)
        assert prove_adapter(peft_model, tmp_path)["logits_moved"] > 0
        next(iter(adapter_parameters(peft_model).values())).data.mul_(1.01)
        with pytest.raises(ProofFailed, match="gives other logits"):
            prove_adapter(peft_model, tmp_path)
