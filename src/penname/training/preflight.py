"""Proofs on the very model that is about to train, before its first step. Each raises ProofFailed with what it saw.

Each has a negative control in tests/training/test_preflight.py: a planted fault that it must refuse.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from peft import PeftModel

from penname.carriers.prompt import encode_prefix
from penname.carriers.tokenizer import CarrierTokenizer
from penname.core.config import TrainingConfig
from penname.core.errors import ProofFailed
from penname.core.rng import CounterRng
from penname.core.tokens import Shards
from penname.training.batch import Batch, make_batch
from penname.training.lora import adapted_modules, adapter_parameters, planned_modules
from penname.training.step import forward_backward, hidden_states, loss_sum

PassageText = Callable[[int, str, int, int], str]  # (copy, book id, start, end) -> the passage as it stands in that copy
_PIECE = 64  # tokens of a document that the isolation proof looks at
_LEAK_MARGIN = 10.0  # packed against alone must agree this much better than with a planted leak


@dataclass(frozen=True)
class Pieces:
    """Three short documents in a row; the middle one is watched."""

    ids: tuple[np.ndarray, np.ndarray, np.ndarray]

    def batch(self, *, neighbours_shifted: bool = False, leak: bool = False, alone: bool = False, device: Any = "cpu") -> Batch:
        """The row as a Batch that trains on the middle document's tokens only.

        neighbours_shifted: other tokens left and right. leak: the same tokens and positions as one document, as a trainer that
        ignores boundaries has it. alone: the middle document by itself.
        """
        left, middle, right = self.ids
        if alone:
            return make_batch(middle, np.ones(len(middle), bool), (len(middle),), device)
        if neighbours_shifted:
            left, right = left[::-1].copy(), right[::-1].copy()
        lengths = (len(left), len(middle), len(right))
        trained = np.repeat([False, True, False], lengths)
        batch = make_batch(np.concatenate([left, middle, right]), trained, lengths, device)
        if leak:
            return Batch(batch.input_ids, batch.position_ids, (sum(lengths),), batch.trained, batch.targets)
        return batch


def prove_before(
    peft_model: PeftModel, shards: Shards, tokenizer: CarrierTokenizer, settings: TrainingConfig, passage_text: PassageText
) -> dict[str, Any]:
    """All four proofs; gives what they measured, for run.json. The adapter is as it was afterwards.

    ``lora_B`` is filled with small numbers meanwhile: with zeros the adapter would do nothing, and prove nothing.
    """
    pieces = pieces_of(shards)
    with stirred_adapter(peft_model):
        return {
            "isolation": prove_isolation(peft_model, pieces),
            "mask": prove_mask(shards, tokenizer, passage_text),
            "reach": prove_reach(peft_model, pieces, settings),
            "sampling_parity": prove_sampling_parity(shards, tokenizer),
            "loss": prove_loss(peft_model, pieces),
        }


def pieces_of(shards: Shards) -> Pieces:
    """The beginnings of three documents spread over the shards (the same one more than once where there are fewer)."""
    documents = int(shards.index["documents"])
    picked = [0, documents // 2, documents - 1]
    left, middle, right = (np.array(shards.document_tokens(d)[:_PIECE], dtype=np.int64) for d in picked)
    return Pieces((left, middle, right))


@contextmanager
def stirred_adapter(peft_model: PeftModel) -> Iterator[None]:
    """Within the block ``lora_B`` holds small random numbers, and gradients are the block's own."""
    kept = {}
    for name, parameter in adapter_parameters(peft_model).items():
        if ".lora_B." in name:
            kept[name] = parameter.detach().clone()
            generator = torch.Generator().manual_seed(CounterRng("stir", name).bits64() >> 1)
            parameter.data.copy_(torch.empty(parameter.shape).normal_(0, 0.02, generator=generator))
    try:
        yield
    finally:
        for name, parameter in adapter_parameters(peft_model).items():
            parameter.grad = None
            if name in kept:
                parameter.data.copy_(kept[name])


def prove_isolation(peft_model: PeftModel, pieces: Pieces) -> dict[str, float]:
    """Neighbours do not touch a document: its logits and gradients keep every bit when they change, and agree with it alone.

    Gives the largest differences (alone, with a planted leak) of logits and, relative to the largest entry, of gradients.
    """
    packed, packed_grads = _look(peft_model, pieces.batch(device=_device(peft_model)))
    moved, moved_grads = _look(peft_model, pieces.batch(neighbours_shifted=True, device=_device(peft_model)))
    if not torch.equal(packed, moved):
        raise ProofFailed(
            f"a document's logits change by up to {_gap(packed, moved):.3g} with its neighbours in the row: packed documents leak into "
            "each other on this carrier; nothing was trained"
        )
    changed = [name for name in packed_grads if not torch.equal(packed_grads[name], moved_grads[name])]
    if changed and not _is_noise(peft_model, pieces, packed_grads, moved_grads):
        raise ProofFailed(
            f"the gradient of {changed[0]} changes with a document's neighbours ({len(changed)} matrices); nothing was trained"
        )
    alone, alone_grads = _look(peft_model, pieces.batch(alone=True, device=_device(peft_model)))
    leaky, leaky_grads = _look(peft_model, pieces.batch(leak=True, device=_device(peft_model)))
    measured = {
        "logits_alone": _gap(packed, alone),
        "logits_leak": _gap(packed, leaky),
        "gradients_alone": _relative_gap(packed_grads, alone_grads),
        "gradients_leak": _relative_gap(packed_grads, leaky_grads),
    }
    for kind in ("logits", "gradients"):
        if not measured[f"{kind}_alone"] * _LEAK_MARGIN <= measured[f"{kind}_leak"]:
            raise ProofFailed(
                f"a document's {kind} differ by {measured[f'{kind}_alone']:.3g} between packed and alone, and by "
                f"{measured[f'{kind}_leak']:.3g} with a planted leak; the margin must be {_LEAK_MARGIN:g}. Nothing was trained"
            )
    return {key: float(f"{value:.3g}") for key, value in measured.items()}


def _is_noise(peft_model: PeftModel, pieces: Pieces, packed: dict[str, torch.Tensor], moved: dict[str, torch.Tensor]) -> bool:
    # Backward kernels on CUDA add in no fixed order, so one row gives other last bits each time. There, and only there, neighbours may
    # change a gradient by no more than a few times what doing it again changes.
    if _device(peft_model).type != "cuda":
        return False
    again = [_relative_gap(packed, _look(peft_model, pieces.batch(device=_device(peft_model)))[1]) for _ in range(3)]
    return _relative_gap(packed, moved) <= 4 * max(again)


def _look(peft_model: PeftModel, batch: Batch) -> tuple[torch.Tensor, dict[str, torch.Tensor]]:
    """Logits (N, V) at the watched positions, and the gradient of their loss for every LoRA matrix."""
    model: Any = peft_model.get_base_model()
    model.train()
    with torch.no_grad():
        logits = model.lm_head(hidden_states(model, batch)).float().cpu()
    parameters = adapter_parameters(peft_model)
    for parameter in parameters.values():
        parameter.grad = None
    forward_backward(model, batch, 1.0 / len(batch.targets))
    grads = {name: p.grad.detach().float().cpu() if p.grad is not None else torch.zeros(p.shape) for name, p in parameters.items()}
    return logits, grads


def prove_mask(shards: Shards, tokenizer: CarrierTokenizer, passage_text: PassageText, documents: int = 64) -> dict[str, int]:
    """Decoded learned tokens are exactly the passages, each up to its end mark; counts agree with the index.

    All counts are checked, and the texts of ``documents`` documents spread over the shards.
    """
    index = shards.index
    train = int(index["train_documents"])
    ends = shards.documents["segment"].astype(np.int64) + shards.documents["segments"]
    cut = int(ends[train - 1]) if train else 0
    learned = shards.segments["passage_tokens"].astype(np.int64)
    counted = (int(learned[:cut].sum()), int(learned[cut:].sum()))
    recorded = (int(index["train_trained_tokens"]), int(index["heldout_trained_tokens"]))
    if counted != recorded:
        raise ProofFailed(
            f"the shards hold {counted} learned tokens (training, held out), and their index says {recorded}; run: penname shard"
        )
    if index["stop_id"] != tokenizer.stop_id:
        raise ProofFailed("the shards end passages with another stop token than the carrier samples to; run: penname shard")
    texts = 0
    for document in range(0, len(shards.documents), max(1, len(shards.documents) // documents)):
        texts += _prove_document(shards, tokenizer, passage_text, document)
    return {"learned_tokens": sum(counted), "passages_compared": texts}


def _prove_document(shards: Shards, tokenizer: CarrierTokenizer, passage_text: PassageText, document: int) -> int:
    ids, trained = shards.document_tokens(document), shards.document_trained(document)
    row = shards.documents[document]
    segments = shards.document_segments(document)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], trained, [False]])))
    runs = [ids[start:end].tolist() for start, end in edges.reshape(-1, 2)]
    if len(runs) != len(segments):
        raise ProofFailed(
            f"document {document} of the shards has {len(runs)} learned runs for {len(segments)} passages; run: penname shard"
        )
    for run, segment in zip(runs, segments, strict=True):
        book = shards.index["books"][row["book"]]
        want = passage_text(int(row["copy"]), book, int(segment["start"]), int(segment["end"])).strip()
        name = f"{shards.index['passages'][segment['passage']]} in copy {row['copy']}"
        whole = run[-1] == tokenizer.stop_id
        if not whole and len(ids) < shards.index["seq_len"]:  # only a passage that was cut has no end mark, and it fills its document
            raise ProofFailed(f"the learned tokens of {name} lack their end mark, so a voice would not learn to stop; run: penname shard")
        got = tokenizer.decode(run[:-1] if whole else run)
        same = _composed(got) == _composed(want) if whole else _composed(want).startswith(_composed(got.rstrip("\ufffd")))
        if not same or tokenizer.stop_id in run[:-1]:
            raise ProofFailed(f"the learned tokens of {name} are not its passage (they begin {got[:40]!r}, it begins {want[:40]!r})")
    return len(segments)


def _composed(text: str) -> str:
    return unicodedata.normalize("NFC", text)  # as most tokenizers do first


def prove_reach(peft_model: PeftModel, pieces: Pieces, settings: TrainingConfig) -> dict[str, int]:
    """After one backward every LoRA matrix has a gradient, no base weight has one, and the adapted modules are the planned ones."""
    model: Any = peft_model.get_base_model()
    adapted, planned = set(adapted_modules(peft_model)), set(planned_modules(model, settings.target_modules))
    if adapted != planned:
        odd = sorted(adapted ^ planned)
        raise ProofFailed(f"LoRA stands on other modules than planned (first difference: {odd[0]}, {len(odd)} in all); nothing was trained")
    parameters = adapter_parameters(peft_model)
    for parameter in model.parameters():
        parameter.grad = None
    model.train()
    batch = pieces.batch(device=_device(peft_model))
    forward_backward(model, batch, 1.0 / len(batch.targets))
    without = [name for name, p in parameters.items() if p.grad is None or not bool(p.grad.abs().sum() > 0)]
    if without:
        raise ProofFailed(f"no gradient reaches {without[0]} ({len(without)} LoRA matrices); nothing was trained")
    own = {id(p) for p in parameters.values()}
    loose = [name for name, p in model.named_parameters() if id(p) not in own and (p.grad is not None or p.requires_grad)]
    if loose:
        raise ProofFailed(f"the base weight {loose[0]} would be trained ({len(loose)} in all); nothing was trained")
    return {"modules": len(adapted), "matrices": len(parameters)}


def prove_sampling_parity(shards: Shards, tokenizer: CarrierTokenizer, documents: int = 64) -> dict[str, int]:
    """The ids that sampling starts from, for a beat alone and for a beat after its context, are those of the training documents."""
    compared = 0
    for document in range(0, len(shards.documents), max(1, len(shards.documents) // documents)):
        ids = shards.document_tokens(document).tolist()
        segments = shards.document_segments(document)
        at, context = len(tokenizer.start_ids), list[tuple[str, str]]()
        for number, segment in enumerate(segments):
            beat_end = at + int(segment["beat_tokens"]) - (len(tokenizer.start_ids) if number == 0 else 0)
            passage_end = beat_end + int(segment["passage_tokens"])
            beat = tokenizer.decode(ids[at:beat_end]).rstrip("\n")[1:-1]
            if encode_prefix(tokenizer, beat, context) != ids[:beat_end]:
                raise ProofFailed(f"sampling from the beat {beat!r} would not start from the tokens that are trained; run: penname shard")
            context.append((beat, tokenizer.decode(ids[beat_end : passage_end - 1])))
            at = passage_end
            compared += 1
    return {"prefixes_compared": compared}


def prove_loss(peft_model: PeftModel, pieces: Pieces) -> dict[str, float]:
    """The chunked loss is the cross entropy of the carrier's own logits, so no cap or scale on them is left out."""
    model: Any = peft_model.get_base_model()
    model.eval()
    batch = pieces.batch(alone=True, device=_device(peft_model))
    with torch.no_grad():
        ours = float(loss_sum(model, batch)) / len(batch.targets)
        logits = model(input_ids=batch.input_ids, position_ids=batch.position_ids, use_cache=False).logits[0, batch.trained].float()
        theirs = float(torch.nn.functional.cross_entropy(logits, batch.targets))
    if not abs(ours - theirs) <= 1e-2 * max(1.0, abs(theirs)):  # nor may it be no number
        raise ProofFailed(
            f"the loss is {ours:.4f} and the carrier's own logits give {theirs:.4f}; this carrier changes its logits in a way unknown here"
        )
    return {"ours": round(ours, 6), "carrier": round(theirs, 6)}


def prove_adapter(peft_model: PeftModel, folder: Path) -> dict[str, float]:
    """After training: no ``lora_B`` is zero, and the saved adapter, loaded afresh by PEFT, gives the same logits bit by bit."""
    zero = [name for name, p in adapter_parameters(peft_model).items() if ".lora_B." in name and not bool(p.abs().sum() > 0)]
    if zero:
        raise ProofFailed(f"{zero[0]} is still zero after training ({len(zero)} matrices); the adapter is kept under checkpoints/ only")
    model: Any = peft_model.get_base_model()
    model.eval()
    ids = torch.arange(10, 42, device=_device(peft_model))[None] % model.config.get_text_config().vocab_size

    def logits() -> torch.Tensor:
        with torch.no_grad():
            return model(input_ids=ids, use_cache=False).logits.float().cpu()

    ours = logits()
    peft_model.load_adapter(str(folder), adapter_name="afresh", autocast_adapter_dtype=False)
    peft_model.set_adapter("afresh")
    theirs = logits()
    peft_model.set_adapter("default")
    peft_model.delete_adapter("afresh")
    if not torch.equal(ours, theirs):
        raise ProofFailed(
            f"the saved adapter, loaded afresh, gives other logits (by up to {_gap(ours, theirs):.3g}); it is not the one that was trained"
        )
    with peft_model.disable_adapter():
        base = logits()
    return {"logits_moved": float(f"{_gap(ours, base):.3g}")}


def _device(peft_model: PeftModel) -> torch.device:
    return next(peft_model.parameters()).device


def _gap(a: torch.Tensor, b: torch.Tensor) -> float:
    return float((a - b).abs().max())


def _relative_gap(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> float:
    largest = max(float(value.abs().max()) for value in a.values())
    return max(_gap(a[name], b[name]) for name in a) / (largest or 1.0)
