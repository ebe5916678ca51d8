"""``penname write``: a beat in, a passage out, from a run of the voice, the base model, or several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penname.carriers.prompt import encode_prefix
from penname.carriers.tokenizer import CarrierTokenizer, load_tokenizer
from penname.core.config import SamplingConfig
from penname.core.errors import BadInput
from penname.core.files import read_json, read_text
from penname.core.folder import VoiceFolder

BEAT_WORDS_MAX = 20


@dataclass
class Pen:
    """A loaded model with its tokenizer: the carrier, with an adapter merged in or not."""

    name: str
    model: Any
    tokenizer: CarrierTokenizer


def open_pen(carrier: Path, name: str, adapter: Any = None, *, device: str = "auto", dtype: str = "bf16", scale: float = 1.0) -> Pen:
    """Load the carrier, and merge ``adapter`` (serving.adapter.Adapter) at ``scale`` into its weights in memory."""
    from penname.carriers.loading import load_model, resolve_device, resolve_dtype
    from penname.serving.merge import merge_into

    where = resolve_device(device)
    model = load_model(carrier, where, resolve_dtype(dtype, where))
    if adapter is not None:
        merge_into(model, adapter, scale)
    return Pen(name, model, load_tokenizer(carrier))


def write_passages(
    pen: Pen, beats: Sequence[str], settings: SamplingConfig, seed: int, *, candidates: int = 1, context: Sequence[tuple[str, str]] = ()
) -> Iterator[tuple[str, list[str]]]:
    """(beat, candidate passages) for each beat of a scene in turn; the first candidate becomes the context of the next beat."""
    from penname.carriers.generation import generate

    pairs = list(context)
    for number, beat in enumerate(beats):
        prefix = _fitting(pen, beat, pairs, settings.max_tokens)
        samples = generate(pen.model, pen.tokenizer, [prefix] * candidates, settings, seed, label=pen.name, first_index=number * candidates)
        texts = [sample.text for sample in samples]
        yield beat, texts
        pairs.append((beat, texts[0]))


def stream_passage(pen: Pen, beat: str, settings: SamplingConfig, seed: int, context: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
    """The passage piece by piece as it is written: the same draw that ``write_passages`` makes, one token at a time."""
    import torch

    from penname.carriers.cache import GrowingCache
    from penname.carriers.generation import choose
    from penname.core.rng import CounterRng

    ids = _fitting(pen, beat, list(context), settings.max_tokens)
    draw = CounterRng(seed, "sample", 0)
    device = pen.model.get_input_embeddings().weight.device
    cache = GrowingCache(pen.model.config, len(ids) + settings.max_tokens)
    written: list[int] = []
    said = ""
    feed = torch.tensor([ids], device=device)
    with torch.inference_mode():
        for _ in range(settings.max_tokens):
            mask = torch.ones((1, len(ids) + len(written)), dtype=torch.long, device=device)
            position_ids = torch.arange(mask.shape[1] - feed.shape[1], mask.shape[1], device=device)[None]
            out = pen.model(input_ids=feed, attention_mask=mask, position_ids=position_ids, cache=cache, use_cache=True, logits_to_keep=1)
            uniform = torch.tensor([draw.random()], dtype=torch.float64, device=device)
            token = int(choose(out.logits[:, -1].float(), uniform, settings.temperature, settings.top_p)[0])
            if token == pen.tokenizer.stop_id:
                break
            written.append(token)
            feed = torch.tensor([[token]], device=device)
            text = pen.tokenizer.decode(written)
            if not text.endswith("\N{REPLACEMENT CHARACTER}"):  # a character of several tokens is not whole yet
                yield text[len(said) :]
                said = text


def _fitting(pen: Pen, beat: str, pairs: list[tuple[str, str]], room: int) -> list[int]:
    """The prompt's ids with as much of the context, newest first, as leaves ``room`` tokens in the model's window."""
    limit = int(getattr(pen.model.config.get_text_config(), "max_position_embeddings", 2048)) - room
    for skip in range(len(pairs) + 1):
        ids = encode_prefix(pen.tokenizer, beat, pairs[skip:])
        if len(ids) <= limit:
            return ids
    raise BadInput(f"the beat alone has {len(ids)} tokens, and the model's window leaves {limit}; shorten it, or lower sampling.max_tokens")


def check_beat(beat: str) -> str:
    """The beat on one line. BadInput where it is empty or longer than those the voice was trained on."""
    line = " ".join(beat.split())
    if not line:
        raise BadInput('write wants a beat, one line of what happens next: penname write "The carriage is late."')
    if len(line.split()) > BEAT_WORDS_MAX:
        raise BadInput(
            f"the beat has {len(line.split())} words, and a beat has at most {BEAT_WORDS_MAX}; split it over a --beats file, one a line"
        )
    return line


def read_beats(path: Path) -> list[str]:
    """The beats of a scene: one a line, empty lines and lines that begin with # left out."""
    lines = [line.strip() for line in read_text(path).split("\n")]
    beats = [check_beat(line) for line in lines if line and not line.startswith("#")]
    if not beats:
        raise BadInput(f"{path} holds no beat; write one a line")
    return beats


def trained_style(voice: VoiceFolder) -> str:
    """The style of beat this voice was trained on; "" where it has none yet."""
    path = voice.beats / "curation.json"
    return str(read_json(path)["style"]) if path.is_file() else ""


def with_cast(beat: str, cast: str) -> str:
    """The beat with the writer's own names before it, those that it does not name itself: "Anne Hart, Mr. Lowe; the storm breaks"."""
    names = [name.strip() for name in cast.split(",") if name.strip() and name.strip() not in beat]
    return f"{', '.join(names)}; {beat}" if names else beat
