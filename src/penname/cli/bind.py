"""``penname bind``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Set, Where


def bind(
    where: Where = HERE,
    overrides: Set = [],
    run: Annotated[list[str], typer.Option("--run", help="A run; every finished one where not given.")] = [],
    adapter: Annotated[Path | None, typer.Option("--adapter", help="An adapter folder instead of a run.")] = None,
    serving: Annotated[list[str], typer.Option("--class", help="transformers, transformers-multimodal, vllm or llama.cpp.")] = [],
    depth: Annotated[int, typer.Option("--depth", min=1, max=2, help="1 compares names; 2 also merges and compares weights.")] = 2,
    server: Annotated[str | None, typer.Option("--server", metavar="URL", help="Also ask a running server (depth 3).")] = None,
    base_model: Annotated[str, typer.Option("--base-model", help="What the server calls the base model, where it does not say.")] = "",
    adapter_model: Annotated[
        str, typer.Option("--adapter-model", help="What the server calls the adapter; for llama.cpp its number or file name.")
    ] = "",
    json: Json = False,
) -> None:
    """Prove that an adapter binds where it is served: by names, by weights, and by what a server says. Exit 1 where it does not.

    Example: penname -C bronte bind --class vllm --server http://localhost:8000
    """
    from penname.core.errors import BadInput
    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.serving.check import bind_adapter, bind_run
    from penname.serving.client import open_server

    voice = open_voice(where, overrides)
    if (base_model or adapter_model) and not server:
        raise BadInput("--base-model and --adapter-model name models of a server; give its address with --server URL")
    if server and not adapter and len(run or voice.finished_runs()) > 1:
        raise BadInput(f"a server is bound to one run at a time; name it with --run: {', '.join(run or voice.finished_runs())}")
    target = open_server(server, adapter_model, base_model) if server else None
    classes = serving or ["transformers"]
    if adapter is not None:
        results = {str(adapter): bind_adapter(adapter, voice.config.carrier.name, classes, depth, target)}
    else:
        results = {name: bind_run(voice, name, classes, depth, target) for name in (run or voice.finished_runs() or [""])}
    rows = [{"adapter": name, **binding.to_json()} for name, bindings in results.items() for binding in bindings]
    if json:
        print(json_text(rows), end="")
    else:
        for row in rows:
            print(f"{row['adapter']}: {row['state']} at depth {row['depth']} in {row['where']}, {row['matched']} of {row['total']}")
            for reason in row["reasons"][:10]:
                print(f"  {reason}")
            if len(row["reasons"]) > 10:
                print(f"  and {len(row['reasons']) - 10} more")
            if row["note"]:
                print(f"  ({row['note']})")
    if any(row["state"] != "bound" for row in rows):
        raise typer.Exit(1)
