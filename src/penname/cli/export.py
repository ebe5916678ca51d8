"""``penname export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penname.cli.export_dataset import dataset
from penname.cli.options import GROUP, HERE, Json, Scale, Set, Where

app = typer.Typer(
    **GROUP,
    help="Export the adapter, a merged model, GGUF, NVFP4, an arm for judge, or the dataset; each bound before it counts.",
)
app.command("dataset")(dataset)

Run = Annotated[str | None, typer.Option("--run", help="Which run; the one with the lowest held-out loss where not given.")]


@app.command()
def adapter(
    where: Where = HERE,
    overrides: Set = [],
    run: Run = None,
    full: Annotated[bool, typer.Option("--full", help="Under the names of the full multimodal class.")] = False,
    scale: Scale = 1.0,
    json: Json = False,
) -> None:
    """The adapter, under the names of the causal class or of the full multimodal one.

    Example: penname -C bronte export adapter --full
    """
    from penname.core.folder import open_voice
    from penname.serving.export import export_adapter, finish_export
    from penname.serving.voices import open_run

    voice = open_voice(where, overrides)
    served = open_run(voice, run)
    kind = "adapter-full" if full else "adapter"
    _say(finish_export(voice, served, kind, lambda out: export_adapter(served, out, full, scale), {"scale": scale}), json)


@app.command()
def merged(where: Where = HERE, overrides: Set = [], run: Run = None, scale: Scale = 1.0, json: Json = False) -> None:
    """The carrier with the adapter merged in: bf16 safetensors that transformers and vLLM load.

    Example: penname -C bronte export merged
    """
    from penname.core.folder import open_voice
    from penname.serving.export import export_merged, finish_export
    from penname.serving.voices import open_run

    voice = open_voice(where, overrides)
    served = open_run(voice, run)
    _say(finish_export(voice, served, "merged", lambda out: export_merged(served, out, scale), {"scale": scale}), json)


@app.command()
def gguf(
    where: Where = HERE,
    overrides: Set = [],
    run: Run = None,
    scale: Scale = 1.0,
    quant: Annotated[str | None, typer.Option("--merged", metavar="f16|q8_0", help="Merge into a base GGUF instead.")] = None,
    base: Annotated[Path | None, typer.Option("--base", help="The carrier's GGUF; the staged one where not given.")] = None,
    json: Json = False,
) -> None:
    """The adapter as a LoRA GGUF for llama.cpp, or merged into a base GGUF.

    Example: penname -C bronte export gguf --merged q8_0 --base qwen3-1.7b-f16.gguf
    """
    from penname.core.errors import BadInput
    from penname.core.folder import open_voice
    from penname.serving.export import export_gguf, export_gguf_merged, finish_export
    from penname.serving.voices import open_run

    voice = open_voice(where, overrides)
    served = open_run(voice, run)
    if quant is None:
        if base is not None:
            raise BadInput("--base is for a merged GGUF; add --merged f16 or --merged q8_0, or leave it out")
        _say(finish_export(voice, served, "gguf", lambda out: export_gguf(served, out, scale), {"scale": scale}), json)
        return
    options = {"scale": scale, "quant": quant}
    _say(finish_export(voice, served, "gguf-merged", lambda out: export_gguf_merged(served, out, base, quant, scale), options), json)


@app.command()
def nvfp4a16(where: Where = HERE, overrides: Set = [], run: Run = None, scale: Scale = 1.0, json: Json = False) -> None:
    """The merged model with 4-bit weights (NVFP4A16) for vLLM, made by llmcompressor in an environment of its own.

    Example: penname -C bronte export nvfp4a16 --set serving.quantise_python=nvfp4/bin/python
    """
    from penname.core.folder import open_voice
    from penname.serving.export import finish_export
    from penname.serving.nvfp4 import export_nvfp4
    from penname.serving.voices import open_run

    voice = open_voice(where, overrides)
    served = open_run(voice, run)
    python = voice.config.serving.quantise_python
    _say(finish_export(voice, served, "nvfp4a16", lambda out: export_nvfp4(served, out, scale, python), {"scale": scale}), json)


@app.command()
def arm(where: Where = HERE, overrides: Set = [], run: Run = None, scale: Scale = 0.5, json: Json = False) -> None:
    """The run's adapter at another strength, as a run of its own: an arm that judge scores beside the others.

    Example: penname -C bronte export arm --scale 0.5
    """
    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.serving.scaled import export_arm
    from penname.serving.voices import open_run

    voice = open_voice(where, overrides)
    name = export_arm(voice, open_run(voice, run), scale)
    print(json_text({"run": name, "folder": str(voice.runs / name)}) if json else f"{voice.runs / name}\n", end="")


def _say(place: Path, json: bool) -> None:
    """The folder on stdout, or with ``json`` all that is known of it; how it binds and how it is served on stderr."""
    from penname.core.files import json_text, read_json
    from penname.core.progress import say

    facts = read_json(place / "export.json")
    if json:
        print(json_text({"folder": str(place), **facts}), end="")
        return
    binding = facts["binding"]
    note = f" ({binding['note']})" if binding["note"] else ""
    say(f"bound at depth {binding['depth']} in {binding['where']}: {binding['matched']} of {binding['total']}{note}")
    say(f"serve it with: {facts['serve']}")
    print(place)
