"""The one prompt template. Shards, samples, judging and ``write`` all build their tokens here; nothing here needs torch.

A pair is ``[beat]``, an empty line, the passage, the stop token:

    [Jane hides behind the curtain with a book.]\\n\\nThere was no possibility ...<stop>

The two segments are tokenised apart and joined, so where the passage starts never depends on what stands before it, and
training and sampling see the same ids. A document is ``start_ids`` (most carriers have none) and one pair or more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from penname.carriers.tokenizer import CarrierTokenizer

TEMPLATE_VERSION = 1


def beat_segment(beat: str) -> str:
    """What stands before a passage; runs of whitespace in the beat become one space."""
    return f"[{' '.join(beat.split())}]\n\n"


def passage_segment(passage: str) -> str:
    """The passage without the whitespace around it; its stop token is an id, not text."""
    return passage.strip()


def encode_pair(tokenizer: CarrierTokenizer, beat: str, passage: str) -> tuple[list[int], list[int]]:
    """(prefix_ids, passage_ids): the beat's ids, which are masked, and the passage's with the stop id, which are trained.

    Without ``start_ids``: they stand once, before the first pair of a document.
    """
    return tokenizer.encode(beat_segment(beat)), [*tokenizer.encode(passage_segment(passage)), tokenizer.stop_id]


def encode_prefix(tokenizer: CarrierTokenizer, beat: str, context: Iterable[tuple[str, str]] = ()) -> list[int]:
    """What sampling starts from: ``start_ids``, the (beat, passage) pairs of the context, then the beat."""
    ids = list(tokenizer.start_ids)
    for earlier_beat, passage in context:
        prefix_ids, passage_ids = encode_pair(tokenizer, earlier_beat, passage)
        ids += prefix_ids + passage_ids
    return ids + tokenizer.encode(beat_segment(beat))


def encode_document(tokenizer: CarrierTokenizer, pairs: Iterable[tuple[str, str]]) -> tuple[list[int], list[bool]]:
    """(input_ids, trained): one training document. ``trained[i]`` is True exactly on passage ids and their stop ids."""
    input_ids, trained = list(tokenizer.start_ids), [False] * len(tokenizer.start_ids)
    for beat, passage in pairs:
        prefix_ids, passage_ids = encode_pair(tokenizer, beat, passage)
        input_ids += prefix_ids + passage_ids
        trained += [False] * len(prefix_ids) + [True] * len(passage_ids)
    return input_ids, trained


def decode_passage(tokenizer: CarrierTokenizer, passage_ids: Sequence[int]) -> str:
    """The passage's text up to the first stop id."""
    ids = list(passage_ids)
    if tokenizer.stop_id in ids:
        ids = ids[: ids.index(tokenizer.stop_id)]
    return tokenizer.decode(ids).strip()
