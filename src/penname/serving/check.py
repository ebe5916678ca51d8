"""All the depths of a binding for one adapter, and the proof of it beside a run: ``runs/<run>/bind.json``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from penname.carriers.store import resolve_carrier
from penname.core.files import write_json
from penname.core.folder import VoiceFolder
from penname.serving.adapter import Adapter, read_adapter
from penname.serving.bind import Binding, bind_names, bind_weights, overall
from penname.serving.classes import serving_class
from penname.serving.client import Server
from penname.serving.export import verify_export
from penname.serving.server import bind_server
from penname.serving.voices import open_run


def bind_adapter(folder: Path, carrier: str, classes: Sequence[str], depth: int = 2, server: Server | None = None) -> list[Binding]:
    """Bindings of an adapter folder on a carrier, depth by depth; a depth is left out where a shallower one does not hold."""
    verify_export(folder)
    return _bind(read_adapter(folder), resolve_carrier(carrier), classes, depth, server)


def bind_run(voice: VoiceFolder, run: str | None, classes: Sequence[str], depth: int = 2, server: Server | None = None) -> list[Binding]:
    """Bindings of a run's adapter; ``bind.json`` beside it records what was proved and for which bytes."""
    served = open_run(voice, run)
    bindings = _bind(served.adapter, served.carrier, classes, depth, server)
    proof = {"state": overall(bindings), "adapter": served.adapter.digest, "bindings": [binding.to_json() for binding in bindings]}
    write_json(served.folder / "bind.json", proof)
    return bindings


def _bind(adapter: Adapter, carrier: Path, classes: Sequence[str], depth: int, server: Server | None) -> list[Binding]:
    found = []
    for name in classes:
        binding = bind_names(adapter, serving_class(carrier, name))
        found.append(binding)
        if depth >= 2 and binding.state == "bound" and name.startswith("transformers"):
            found.append(bind_weights(adapter, carrier, multimodal=name == "transformers-multimodal"))
    if server is not None:
        found.append(bind_server(server, adapter, carrier))
    return found
