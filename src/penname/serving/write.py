"""``penname write``: a beat in, a passage out, from a run, a merged folder, a server, or several side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from penname.carriers.prompt import encode_prefix
from penname.carriers.store import resolve_carrier
from penname.core.beatstyle import BEAT_WORDS_MAX, count_words
from penname.core.config import SamplingConfig
from penname.core.errors import BadInput
from penname.core.files import read_json, read_text
from penname.core.folder import VoiceFolder
from penname.serving.client import Server, open_server
from penname.serving.pens import LocalPen, Pen, ServerPen, merged_pen
from penname.serving.voices import open_run


def write_passages(
    pen: Pen, beats: Sequence[str], settings: SamplingConfig, seed: int, *, candidates: int = 1, context: Sequence[tuple[str, str]] = ()
) -> Iterator[tuple[str, list[str]]]:
    """(beat, candidate passages) for each beat of a scene in turn; the first candidate becomes the context of the next beat."""
    pairs = list(context)
    for number, beat in enumerate(beats):
        prefix = _fitting(pen, beat, pairs, settings.max_tokens)
        texts = pen.draw(prefix, settings, seed, number * candidates, candidates)
        yield beat, texts
        pairs.append((beat, texts[0]))


def stream_passage(pen: Pen, beat: str, settings: SamplingConfig, seed: int, context: Sequence[tuple[str, str]] = ()) -> Iterator[str]:
    """The passage piece by piece as it is written: the same draw that ``write_passages`` makes first."""
    return pen.stream(_fitting(pen, beat, list(context), settings.max_tokens), settings, seed)


def pens(
    voice: VoiceFolder,
    *,
    run: str | None = None,
    merged: Path | None = None,
    server: str | None = None,
    model: str = "",
    compare: bool = False,
    scale: float = 1.0,
) -> Iterator[Pen]:
    """What is to write, one after another, each opened when it is its turn: a run, a merged folder, or a server.

    With ``compare`` the base model comes first: before every run (or the one that is named), or before the server's adapter.
    """
    if merged is not None and (server or run or compare):
        raise BadInput("--merged is one model by itself; leave out --server, --run and --compare")
    if model and not server:
        raise BadInput("--model names a model of a server; give its address with --server URL")
    if merged is not None:
        yield merged_pen(merged, voice.config.carrier, scale)
    elif server:
        yield from _of_server(voice, open_server(server, model), run, compare, scale)
    elif compare:
        yield from _side_by_side(voice, [run] if run else voice.finished_runs(), scale)
    else:
        served = open_run(voice, run)
        yield LocalPen(served.carrier, served.name, served.adapter, voice.config.carrier, scale)


def _side_by_side(voice: VoiceFolder, names: Sequence[str], scale: float) -> Iterator[Pen]:
    runs = [open_run(voice, name) for name in names] or [open_run(voice)]
    for carrier in dict.fromkeys(run.carrier for run in runs):
        own = [run for run in runs if run.carrier == carrier]
        yield LocalPen(carrier, "base model" if len(own) == len(runs) else f"base model {carrier.name}", None, voice.config.carrier)
        for run in own:
            yield LocalPen(carrier, run.name, run.adapter, voice.config.carrier, scale)


def _of_server(voice: VoiceFolder, server: Server, run: str | None, compare: bool, scale: float) -> Iterator[Pen]:
    # Only the tokenizer is needed here, and all runs of a carrier share it.
    carrier = open_run(voice, run).carrier if voice.finished_runs() else resolve_carrier(voice.config.carrier.name)
    if compare and not server.has_base:
        raise BadInput(f"{server.url} serves one model and no base beside it, so there is nothing to compare; leave out --compare")
    if compare:
        yield ServerPen(server, carrier, "base model", adapted=False)
    yield ServerPen(server, carrier, server.adapter_model or server.url, scale=scale)


def _fitting(pen: Pen, beat: str, pairs: list[tuple[str, str]], room: int) -> list[int]:
    """The prompt's ids with as much of the context, newest first, as leaves ``room`` tokens in the model's window."""
    limit = pen.window - room
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
    if (words := count_words(line)) > BEAT_WORDS_MAX:
        raise BadInput(f"the beat has {words} words, and a beat has at most {BEAT_WORDS_MAX}; split it over a --beats file, one a line")
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


def sampling(voice: VoiceFolder, temperature: float | None, top_p: float | None) -> SamplingConfig:
    """The voice's sampling settings with what the command line gives in their place. BadInput for a value that cannot be."""
    given = {key: value for key, value in (("temperature", temperature), ("top_p", top_p)) if value is not None}
    try:
        return SamplingConfig.model_validate({**voice.config.sampling.model_dump(), **given})
    except ValueError:
        raise BadInput(f"--top-p is a share above 0 and at most 1, and --temperature is 0 or more; given: {given}") from None
