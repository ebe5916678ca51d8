"""What writes: a carrier in memory with an adapter merged in or not, or a running server. Both draw and stream the same way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

from penname.carriers.facts import read_config, text_config
from penname.carriers.tokenizer import CarrierTokenizer, load_tokenizer
from penname.core.config import CarrierConfig, SamplingConfig
from penname.core.errors import BadInput
from penname.core.rng import CounterRng
from penname.serving.adapter import Adapter
from penname.serving.client import Server, stream_text

_HALF_CHARACTER = "\N{REPLACEMENT CHARACTER}"  # how a tokenizer shows the first bytes of a character whose last are still to come


class Pen(Protocol):
    """Something that writes passages. ``window`` is how many tokens a prompt and its passage may have together."""

    name: str
    tokenizer: CarrierTokenizer
    window: int

    def draw(self, prefix: Sequence[int], settings: SamplingConfig, seed: int, first: int, count: int) -> list[str]:
        """``count`` passages, number ``first`` and on of the seed."""

    def stream(self, prefix: Sequence[int], settings: SamplingConfig, seed: int) -> Iterator[str]:
        """The first passage of the seed, piece by piece."""


class LocalPen:
    """A carrier in memory."""

    def __init__(self, carrier: Path, name: str, adapter: Adapter | None, settings: CarrierConfig, scale: float = 1.0) -> None:
        """Load the carrier, and merge ``adapter`` at ``scale`` into its weights in memory."""
        from penname.carriers.loading import load_model, resolve_device, resolve_dtype, set_threads

        if read_config(carrier).get("quantization_config"):
            raise BadInput(f"{carrier} is quantised, which only a server runs; serve it, and give write its address with --server URL")
        set_threads(settings.threads)
        device = resolve_device(settings.device)
        self.name, self.tokenizer = name, load_tokenizer(carrier)
        self.window = int(text_config(read_config(carrier)).get("max_position_embeddings", 2048))
        self.model: Any = load_model(carrier, device, resolve_dtype(settings.dtype, device))
        if adapter is not None:
            from penname.serving.merge import merge_into

            merge_into(self.model, adapter, scale)

    def draw(self, prefix: Sequence[int], settings: SamplingConfig, seed: int, first: int, count: int) -> list[str]:
        """See ``Pen``."""
        from penname.carriers.generation import generate

        samples = generate(self.model, self.tokenizer, [prefix] * count, settings, seed, label=self.name, first_index=first)
        return [sample.text for sample in samples]

    def stream(self, prefix: Sequence[int], settings: SamplingConfig, seed: int) -> Iterator[str]:
        """See ``Pen``: the same draw as ``draw`` makes first, one token at a time."""
        import torch

        from penname.carriers.cache import GrowingCache
        from penname.carriers.generation import choose

        draw = CounterRng(seed, "sample", 0)
        device = self.model.get_input_embeddings().weight.device
        cache = GrowingCache(self.model.config, len(prefix) + settings.max_tokens)
        text = Unfolding(self.tokenizer)
        feed = torch.tensor([list(prefix)], device=device)
        with torch.inference_mode():
            for step in range(settings.max_tokens):
                mask = torch.ones((1, len(prefix) + step), dtype=torch.long, device=device)
                position_ids = torch.arange(mask.shape[1] - feed.shape[1], mask.shape[1], device=device)[None]
                out = self.model(
                    input_ids=feed, attention_mask=mask, position_ids=position_ids, cache=cache, use_cache=True, logits_to_keep=1
                )
                uniform = torch.tensor([draw.random()], dtype=torch.float64, device=device)
                token = int(choose(out.logits[:, -1].float(), uniform, settings.temperature, settings.top_p)[0])
                if token == self.tokenizer.stop_id:
                    break
                yield text.add([token])
                feed = torch.tensor([[token]], device=device)
        yield text.rest()


class ServerPen:
    """A running server: its adapter at a scale, or its base."""

    def __init__(self, server: Server, carrier: Path, name: str, *, adapted: bool = True, scale: float = 1.0) -> None:
        """``carrier`` gives the tokenizer that the prompt's ids are made with."""
        if scale != 1.0 and (not server.llama_cpp or server.lora_id is None):
            raise BadInput(
                f"{server.url} serves at a strength of its own, so --scale cannot be given here; "
                f"serve another export: penname export merged --scale {scale:g}"
            )
        self.server, self.name, self.adapted, self.scale = server, name, adapted, scale
        self.tokenizer = load_tokenizer(carrier)
        own = int(text_config(read_config(carrier)).get("max_position_embeddings", 2048))
        self.window = min(own, server.window) if server.window else own

    def draw(self, prefix: Sequence[int], settings: SamplingConfig, seed: int, first: int, count: int) -> list[str]:
        """See ``Pen``: one request a passage, each with a seed of its own."""
        return ["".join(self._stream(prefix, settings, seed, first + i)).strip() for i in range(count)]

    def stream(self, prefix: Sequence[int], settings: SamplingConfig, seed: int) -> Iterator[str]:
        """See ``Pen``."""
        return self._stream(prefix, settings, seed, 0)

    def _stream(self, prefix: Sequence[int], settings: SamplingConfig, seed: int, index: int) -> Iterator[str]:
        own_seed = CounterRng(seed, "server", index).below(2**31)
        stop = self.tokenizer.stop_id
        return stream_text(self.server, prefix, settings, own_seed, stop, adapted=self.adapted, scale=self.scale)


class Unfolding:
    """Text of ids that arrive bit by bit: what is new and whole each time."""

    def __init__(self, tokenizer: CarrierTokenizer) -> None:
        self.tokenizer, self.ids, self.said = tokenizer, list[int](), ""

    def add(self, token_ids: Sequence[int]) -> str:
        """What can be said after these ids too; "" while a character is not whole."""
        self.ids += token_ids
        return "" if self.tokenizer.decode(self.ids).endswith(_HALF_CHARACTER) else self.rest()

    def rest(self) -> str:
        """What has not been said yet, whole or not."""
        text = self.tokenizer.decode(self.ids)
        new, self.said = text[len(self.said) :], text
        return new


def merged_pen(folder: Path, settings: CarrierConfig, scale: float = 1.0) -> LocalPen:
    """A merged export, its checksums compared first. BadInput where it is none, is damaged, or a scale is asked of it."""
    from penname.serving.export import verify_export

    if not (folder / "config.json").is_file():
        raise BadInput(f"{folder} is no merged model: it has no config.json; make one with: penname export merged")
    if scale != 1.0:
        raise BadInput(f"{folder} has the adapter merged in at its own strength; make another: penname export merged --scale {scale:g}")
    verify_export(folder)
    return LocalPen(folder, folder.name, None, settings)
