"""A carrier's tokenizer, without torch or transformers: text goes in as plain text and can never produce a special token.

``tokenizer.json`` is read twice. The *plain* tokenizer has no added tokens and no post-processor, so "<|im_end|>" in a
book is just characters. The *full* one decodes, and knows which ids are special.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer

from penname.core.errors import BadInput, ProofFailed
from penname.core.files import read_json, read_text
from penname.core.hashing import sha256_bytes


@dataclass(frozen=True)
class CarrierTokenizer:
    """Text <-> ids of one carrier.

    ``start_ids`` open every document (most carriers have none; Llama 3 has its begin-of-text token). ``stop_id`` ends every
    passage in training and is the one id that sampling stops on. ``pad_id`` fills up rows and is never attended.
    """

    plain: Tokenizer
    full: Tokenizer
    start_ids: tuple[int, ...]
    stop_id: int
    pad_id: int
    special_ids: frozenset[int]
    vocab_size: int
    sha256: str  # of tokenizer.json: shards made with another tokenizer are refused by it

    def encode(self, text: str) -> list[int]:
        """Ids of plain text. Never a special token, whatever the text holds."""
        return list(self._checked(self.plain.encode(text, add_special_tokens=False).ids))

    def encode_many(self, texts: Sequence[str]) -> list[list[int]]:
        """Ids of each text; the same as ``encode`` one by one, on all cores."""
        return [list(self._checked(row.ids)) for row in self.plain.encode_batch_fast(list(texts), add_special_tokens=False)]

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the ids; special tokens are left out."""
        return str(self.full.decode(list(ids), skip_special_tokens=True))

    def token(self, token_id: int) -> str:
        """How the vocabulary spells one id, special or not."""
        return str(self.full.id_to_token(token_id))

    def _checked(self, ids: list[int]) -> list[int]:
        if not self.special_ids.isdisjoint(ids):
            token = next(self.token(i) for i in ids if i in self.special_ids)
            raise ProofFailed(
                f"plain text produced the special token {token!r} in this carrier's tokenizer; it cannot be used as a carrier"
            )
        return ids


def load_tokenizer(folder: Path) -> CarrierTokenizer:
    """The tokenizer in a carrier folder. BadInput where it has no ``tokenizer.json`` or names no end token."""
    path = folder / "tokenizer.json"
    if not path.is_file():
        raise BadInput(f"{folder} has no tokenizer.json; a carrier needs one: stage it again with penname carrier stage")
    text = read_text(path)
    try:
        data: dict[str, Any] = json.loads(text)
        full = Tokenizer.from_str(text)
        plain = Tokenizer.from_str(json.dumps(_without_added_tokens(data)))
    except Exception as error:  # tokenizers raises bare Exception
        raise BadInput(f"{path} is no tokenizer that can be read ({error}); stage the carrier again") from None
    config = read_json(folder / "tokenizer_config.json") if (folder / "tokenizer_config.json").is_file() else {}
    stop_id = _stop_id(folder, config, full)
    pad_id = full.token_to_id(_content(config.get("pad_token")) or "")
    # Ids that are in the plain vocabulary and special: the end token of some tokenizers is an ordinary BPE entry that no
    # merge reaches, so it counts as special too.
    special = {row["id"] for row in data.get("added_tokens", []) if not row["content"].isspace()} | {stop_id}
    return CarrierTokenizer(
        plain=plain,
        full=full,
        start_ids=_start_ids(config, full),
        stop_id=stop_id,
        pad_id=stop_id if pad_id is None else pad_id,
        special_ids=frozenset(special),
        vocab_size=full.get_vocab_size(with_added_tokens=True),
        sha256=sha256_bytes(text.encode()),
    )


def _without_added_tokens(data: dict[str, Any]) -> dict[str, Any]:
    # Runs of spaces are added tokens of some vocabularies; they are text, and stay.
    kept = [row for row in data.get("added_tokens", []) if row["content"].isspace()]
    return {**data, "added_tokens": kept, "post_processor": None, "truncation": None, "padding": None}


def _start_ids(config: dict[str, Any], full: Tokenizer) -> tuple[int, ...]:
    bos = full.token_to_id(_content(config.get("bos_token")) or "")
    opened = full.encode("", add_special_tokens=True).ids
    if bos is not None and (config.get("add_bos_token") or opened[:1] == [bos]):
        return (bos,)
    return ()


def _stop_id(folder: Path, config: dict[str, Any], full: Tokenizer) -> int:
    found = full.token_to_id(_content(config.get("eos_token")) or "")
    if found is not None:
        return int(found)
    model = read_json(folder / "config.json") if (folder / "config.json").is_file() else {}
    model = {**model, **model.get("text_config", {})}
    eos = model.get("eos_token_id")
    eos = eos[0] if isinstance(eos, list) and eos else eos
    if isinstance(eos, int) and full.id_to_token(eos) is not None:
        return eos
    raise BadInput(f"{folder} names no end token (eos_token in tokenizer_config.json), so a passage could never stop; add it there")


def _content(token: Any) -> str | None:
    return token.get("content") if isinstance(token, dict) else token
