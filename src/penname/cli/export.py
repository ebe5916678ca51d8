"""``penname export``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penname.cli.export_dataset import dataset
from penname.cli.options import HERE, Set, Where

app = typer.Typer(no_args_is_help=True, help="Export the adapter, a merged model, GGUF, or the dataset. Each is bound before it counts.")
app.command("dataset")(dataset)

Run = Annotated[str | None, typer.Option("--run", help="Which run; the one with the lowest held-out loss where not given.")]
Scale = Annotated[float, typer.Option("--scale", help="A weaker (0.5) or stronger (1.2) voice.")]


@app.command()
def adapter(
    where: Where = HERE,
    overrides: Set = [],
    run: Run = None,
    full: Annotated[bool, typer.Option("--full", help="Under the names of the full multimodal class.")] = False,
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
    print(finish_export(voice, served, kind, lambda out: export_adapter(served, out, full), {}))


@app.command()
def merged(where: Where = HERE, overrides: Set = [], run: Run = None, scale: Scale = 1.0) -> None:
    """The carrier with the adapter merged in: bf16 safetensors that transformers and vLLM load.

    Example: penname -C bronte export merged
    """
    from penname.core.folder import open_voice
    from penname.serving.export import export_merged, finish_export
    from penname.serving.voices import open_run

    voice = open_voice(where, overrides)
    served = open_run(voice, run)
    print(finish_export(voice, served, "merged", lambda out: export_merged(served, out, scale), {"scale": scale}))


@app.command()
def gguf(
    where: Where = HERE,
    overrides: Set = [],
    run: Run = None,
    scale: Scale = 1.0,
    quant: Annotated[str | None, typer.Option("--merged", metavar="f16|q8_0", help="Merge into a base GGUF instead.")] = None,
    base: Annotated[Path | None, typer.Option("--base", help="The carrier's GGUF; the staged one where not given.")] = None,
) -> None:
    """The adapter as a LoRA GGUF for llama.cpp, or merged into a base GGUF.

    Example: penname -C bronte export gguf --merged q8_0 --base qwen3-1.7b-f16.gguf
    """
    from penname.core.folder import open_voice
    from penname.serving.export import export_gguf, export_gguf_merged, finish_export
    from penname.serving.voices import open_run

    voice = open_voice(where, overrides)
    served = open_run(voice, run)
    if quant is None:
        print(finish_export(voice, served, "gguf", lambda out: export_gguf(served, out), {}))
        return
    options = {"scale": scale, "quant": quant}
    print(finish_export(voice, served, "gguf-merged", lambda out: export_gguf_merged(served, out, base, quant, scale), options))
