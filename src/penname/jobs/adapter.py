"""Whether an adapter is worth keeping: complete, not zero, and bound. Read from the file's bytes; nothing here needs torch."""

from __future__ import annotations

import json
import struct
from pathlib import Path

from penname.core.errors import PennameError
from penname.core.files import read_json
from penname.core.hashing import ADAPTER_CONFIG, ADAPTER_WEIGHTS, adapter_digest


def check_adapter(run_folder: Path) -> None:
    """PennameError, saying why, unless the run's adapter has a configuration, no zero ``lora_B``, and a proof that it binds."""
    adapter = run_folder / "adapter"
    name = run_folder.name
    if adapter.is_symlink() or not adapter.is_dir():
        raise PennameError(f"the run {name} has no adapter folder of its own; finish it with: penname train")
    for file in (ADAPTER_CONFIG, ADAPTER_WEIGHTS):
        if not (adapter / file).is_file():
            raise PennameError(f"the adapter of {name} has no {file}; it cannot be used, so it is not archived")
    read_json(adapter / ADAPTER_CONFIG)
    zero = zero_tensors(adapter / ADAPTER_WEIGHTS)
    if zero:
        raise PennameError(f"the adapter of {name} does nothing: {zero[0]} is all zeros ({len(zero)} such); train it again")
    proof = run_folder / "bind.json"
    bound = read_json(proof) if proof.exists() else {}
    if bound.get("state") != "bound" or bound.get("adapter") != adapter_digest(adapter):
        raise PennameError(f"the adapter of {name} was not shown to bind as it is now; run: penname bind --run {name}")


def zero_tensors(path: Path) -> list[str]:
    """Names of the ``lora_B`` tensors of a safetensors file that hold only zero bytes. PennameError for a file that is none."""
    size = path.stat().st_size
    with path.open("rb") as file:
        try:
            (length,) = struct.unpack("<Q", file.read(8))
            header = json.loads(file.read(min(length, size)))
            found = {name: entry["data_offsets"] for name, entry in header.items() if "lora_B" in name}
            spans = {name: (int(low), int(high)) for name, (low, high) in found.items()}
        except (struct.error, ValueError, LookupError, TypeError, AttributeError):
            raise PennameError(f"{path} is no safetensors file, or is cut short") from None
        start = 8 + length
        zero = []
        for name, (low, high) in spans.items():
            if start + high > size:
                raise PennameError(f"{path} is cut short: {name} ends at byte {start + high} of {size}")
            file.seek(start + low)
            if not any(file.read(high - low)):
                zero.append(name)
    return zero
