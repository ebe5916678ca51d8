"""Safetensors headers: names, types and shapes of the tensors of a checkpoint, without reading a weight and without torch.

Format: eight bytes, little-endian, the length N of the header; N bytes of JSON; the data (safetensors README, "Format").
"""

from __future__ import annotations

import json
import math
import struct
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penname.core.errors import BadInput
from penname.core.files import read_json

INDEX = "model.safetensors.index.json"
_HEADER_BYTES_MAX = 100_000_000  # the reference implementation's own limit
_DTYPE_BITS = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "U16": 16, "I16": 16, "F16": 16, "BF16": 16,
    "U32": 32, "I32": 32, "F32": 32, "U64": 64, "I64": 64, "F64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6, "C64": 64,
}  # fmt: skip
_PICKLES = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")


@dataclass(frozen=True)
class TensorInfo:
    """One tensor of a checkpoint: its shape, type and the file that holds it."""

    shape: tuple[int, ...]
    dtype: str
    file: str

    @property
    def numel(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


def parse_header(read: Callable[[int, int], bytes], size: int, name: str) -> dict[str, TensorInfo]:
    """Tensors of one safetensors file of ``size`` bytes. ``read(start, stop)`` gives bytes of it, from disk or by range.

    Raises BadInput for a file that is truncated, foreign, or whose offsets do not add up to its size.
    """
    if size < 8:
        raise BadInput(f"{name} is no safetensors file: it has only {size} bytes; fetch it again")
    (length,) = struct.unpack("<Q", read(0, 8))
    if length > _HEADER_BYTES_MAX:
        raise BadInput(f"{name} is no safetensors file: it does not begin with a header length; fetch it again")
    if 8 + length > size:
        raise BadInput(f"{name} is cut off inside its header ({size} bytes of at least {8 + length}); fetch it again")
    try:
        header = json.loads(read(8, 8 + length))
        assert isinstance(header, dict)
        header.pop("__metadata__", None)
        tensors = {key: (TensorInfo(tuple(row["shape"]), row["dtype"], name), *row["data_offsets"]) for key, row in header.items()}
    except (ValueError, AssertionError, KeyError, TypeError):
        raise BadInput(f"{name} is no safetensors file: its header is not the JSON of one; fetch it again") from None
    end = _checked_end(tensors, name)
    if 8 + length + end != size:
        kind = "cut off" if 8 + length + end > size else "longer than its header says"
        raise BadInput(f"{name} is {kind}: {size} bytes on disk, {8 + length + end} by its header; fetch it again")
    return {key: info for key, (info, _, _) in tensors.items()}


def _checked_end(tensors: dict[str, tuple[TensorInfo, int, int]], name: str) -> int:
    at = 0
    for key, (info, start, stop) in sorted(tensors.items(), key=lambda item: (item[1][1], item[1][2])):
        if info.dtype not in _DTYPE_BITS:
            raise BadInput(f"{name}: the tensor {key} has the type {info.dtype}, which this version of Penname does not know")
        if start != at or stop - start != math.ceil(info.numel * _DTYPE_BITS[info.dtype] / 8):
            raise BadInput(f"{name}: the tensor {key} does not lie where its header says; the file is damaged, fetch it again")
        at = stop
    return at


def read_header(path: Path) -> dict[str, TensorInfo]:
    """Tensors of one safetensors file on disk."""
    with path.open("rb") as file:

        def read(start: int, stop: int) -> bytes:
            file.seek(start)
            return file.read(stop - start)

        return parse_header(read, path.stat().st_size, path.name)


def read_checkpoint(folder: Path) -> dict[str, TensorInfo]:
    """Tensors of all safetensors files of a carrier folder, by its index where it has one.

    Raises BadInput for a pickle checkpoint (refused unread), an index that does not fit its files, a bad file.
    """
    if (folder / INDEX).is_file():
        return _by_index(folder)
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        pickles = sorted(path.name for pattern in _PICKLES for path in folder.glob(pattern))
        if pickles:
            raise BadInput(
                f"{folder} holds a pickle checkpoint ({pickles[0]}), which could run code when loaded, so it is refused; convert it"
            )
        raise BadInput(f"{folder} holds no *.safetensors, so there are no weights; stage the carrier again")
    return merge_headers({path.name: read_header(path) for path in files})


def index_files(index: Any, name: str) -> dict[str, str]:
    """The ``weight_map`` of an index (tensor -> file); BadInput where it is none."""
    weight_map = index.get("weight_map") if isinstance(index, dict) else None
    if not isinstance(weight_map, dict) or not weight_map or not all(isinstance(v, str) for v in weight_map.values()):
        raise BadInput(f"{name} is no index of a checkpoint: it has no weight_map; stage the carrier again")
    foreign = next((v for v in weight_map.values() if "/" in v or "\\" in v or not v.endswith(".safetensors")), None)
    if foreign:
        raise BadInput(f"{name} names {foreign!r}, which is no safetensors file beside it; stage the carrier again")
    return weight_map


def _by_index(folder: Path) -> dict[str, TensorInfo]:
    weight_map = index_files(read_json(folder / INDEX), INDEX)
    files = sorted(set(weight_map.values()))
    missing = [name for name in files if not (folder / name).is_file()]
    if missing:
        raise BadInput(
            f"{folder}: {INDEX} names {missing[0]}, which is not there ({len(missing)} of {len(files)} files are missing); stage it again"
        )
    tensors = merge_headers({name: read_header(folder / name) for name in files})
    check_index(weight_map, tensors)
    return tensors


def check_index(weight_map: dict[str, str], tensors: dict[str, TensorInfo]) -> None:
    """Refuse an index that names a tensor which its file does not hold, or that leaves one out."""
    for key, file in weight_map.items():
        if key not in tensors or tensors[key].file != file:
            raise BadInput(f"{INDEX} says that {key} lies in {file}, and it does not; stage the carrier again")
    if extra := sorted(set(tensors) - set(weight_map)):
        raise BadInput(f"{INDEX} leaves out {extra[0]}, which lies in {tensors[extra[0]].file}; stage the carrier again")


def merge_headers(headers: dict[str, dict[str, TensorInfo]]) -> dict[str, TensorInfo]:
    """Tensors of several files as one checkpoint; BadInput where two files hold the same tensor."""
    merged: dict[str, TensorInfo] = {}
    for name, header in headers.items():
        if twice := sorted(set(header) & set(merged)):
            raise BadInput(f"{twice[0]} lies in both {merged[twice[0]].file} and {name}; stage the carrier again")
        merged |= header
    return merged
