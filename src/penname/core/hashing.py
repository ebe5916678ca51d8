"""Hashes of files and of plain values."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

ADAPTER_WEIGHTS, ADAPTER_CONFIG = "adapter_model.safetensors", "adapter_config.json"  # as PEFT names them
_BLOCK_BYTES = 1 << 20


def sha256_bytes(data: bytes) -> str:
    """Hex SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """Hex SHA-256 of a file, read in blocks."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK_BYTES):
            digest.update(block)
    return digest.hexdigest()


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no spaces, so equal values have equal bytes. NaN and infinity raise ValueError."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256_value(value: Any) -> str:
    """Hex SHA-256 of a JSON-able value's canonical form."""
    return sha256_bytes(canonical_json(value).encode())


def adapter_digest(folder: Path) -> str:
    """One hash over an adapter folder's weights and configuration: what a proof of binding names and an archive compares."""
    return sha256_value([sha256_file(folder / name) for name in (ADAPTER_WEIGHTS, ADAPTER_CONFIG)])
