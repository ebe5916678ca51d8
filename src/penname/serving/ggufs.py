"""Adapters and merged models as GGUF, for llama.cpp.

A LoRA GGUF holds, for each tensor of the base, ``<name>.lora_a`` (r, in) and ``<name>.lora_b`` (out, r), and the key
``adapter.lora.alpha``; llama.cpp scales by alpha / r. The rows of Llama's q and k stand in another order in GGUF than in
transformers (rotary pairs interleaved), so the rows of B move the same way.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from penname.carriers.facts import read_config, text_config
from penname.core.errors import BadInput, ProofFailed
from penname.serving.adapter import Adapter, adapter_tensors
from penname.serving.bind import Binding, state_of
from penname.serving.changes import bind_changes
from penname.serving.classes import gguf_names, serving_class

QUANTS = ("f16", "q8_0")


def write_lora_gguf(adapter: Adapter, carrier: Path, target: Path, scale: float = 1.0) -> int:
    """Write the adapter as a LoRA GGUF, ``scale`` in its alpha; the number of tensors. BadInput where a module has no GGUF name."""
    import gguf

    names = _names_for(adapter, carrier)
    writer = gguf.GGUFWriter(target, _architecture(carrier))
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    # llama.cpp computes alpha / r itself; with rsLoRA the same scaling needs another alpha.
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, scale * adapter.scaling * adapter.lora_rank)
    heads = _permuted_heads(carrier)
    tensors = adapter_tensors(adapter)
    for module, (a, b) in sorted(tensors.items(), key=lambda item: names[item[0]]):
        rows = b.numpy()
        if (n := heads.get(module.rpartition(".")[2])) is not None:
            rows = permute_rows(rows, n)
        writer.add_tensor(f"{names[module]}.weight.lora_a", np.ascontiguousarray(a.numpy(), np.float32))
        writer.add_tensor(f"{names[module]}.weight.lora_b", np.ascontiguousarray(rows, np.float32))
    _close(writer)
    return 2 * len(tensors)


def bind_lora_gguf(adapter: Adapter, carrier: Path, written: Path, scale: float = 1.0) -> Binding:
    """Depth 2 of a LoRA GGUF: read back, each pair stands under its tensor's name and is the adapter's own B and A."""
    import gguf

    names, heads = _names_for(adapter, carrier), _permuted_heads(carrier)
    reader = open_gguf(written, carrier)
    found = {tensor.name: np.asarray(tensor.data) for tensor in reader.tensors}
    reasons, matched = [], 0
    alpha, wanted = float(reader.fields[gguf.Keys.Adapter.LORA_ALPHA].contents()), scale * adapter.scaling * adapter.lora_rank
    if not np.isclose(alpha, wanted):
        reasons.append(f"{written.name} scales by alpha {alpha:g}, and the adapter asks for {wanted:g}")
    for module, (a, b) in adapter_tensors(adapter).items():
        rows = found.pop(f"{names[module]}.weight.lora_b", None)
        columns = found.pop(f"{names[module]}.weight.lora_a", None)
        if rows is None or columns is None:
            reasons.append(f"{module} is not in {written.name}")
            continue
        if (n := heads.get(module.rpartition(".")[2])) is not None:
            rows = permuted_back(rows, n)
        if not np.any(rows):
            reasons.append(f"{module} would change nothing; its lora_B is all zeros")
        elif not (np.array_equal(columns, a.numpy()) and np.array_equal(rows, b.numpy())):
            reasons.append(f"{module} holds other numbers in {written.name} than in the adapter")
        else:
            matched += 1
    reasons += [f"{name} is in {written.name} and no part of the adapter" for name in sorted(found)]
    return Binding(2, "llama.cpp, LoRA read back", state_of(matched, len(names), reasons), matched, len(names), tuple(reasons))


def write_merged_gguf(adapter: Adapter, carrier: Path, base: Path, target: Path, quant: str, scale: float = 1.0) -> int:
    """Write ``base`` with the adapter merged into its tensors, as F16 or Q8_0; the number of changed tensors.

    Every other tensor keeps its bytes. ProofFailed where a target's shape in the GGUF is not the adapter's.
    """
    import gguf

    if quant not in QUANTS:
        raise BadInput(f'"{quant}" is no kind of merged GGUF; there are {", ".join(QUANTS)}')
    reader = open_gguf(base, carrier)
    deltas = _deltas(adapter, carrier, scale)
    kind = gguf.GGMLQuantizationType.F16 if quant == "f16" else gguf.GGMLQuantizationType.Q8_0
    writer = gguf.GGUFWriter(target, _architecture(carrier))
    _copy_fields(reader, writer)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16 if quant == "f16" else gguf.LlamaFileType.MOSTLY_Q8_0)
    changed = 0
    for tensor in reader.tensors:
        if tensor.name not in deltas:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
            continue
        weight = _full(tensor)
        if weight.shape != deltas[tensor.name].shape:
            raise ProofFailed(
                f"{tensor.name} is {weight.shape} in {base.name} and {deltas[tensor.name].shape} in the adapter: not the same carrier"
            )
        writer.add_tensor(tensor.name, gguf.quantize(weight + deltas[tensor.name], kind), raw_dtype=kind)
        changed += 1
    _close(writer)
    if changed != len(deltas):
        raise ProofFailed(
            f"{base.name} holds {changed} of the {len(deltas)} tensors that the adapter changes; it is not this carrier's GGUF"
        )
    return changed


def bind_merged_gguf(adapter: Adapter, carrier: Path, base: Path, written: Path, scale: float = 1.0) -> Binding:
    """Depth 2 of a merged GGUF: read back, its targets moved by the adapter's B A but for rounding, and no other byte changed."""
    deltas = _deltas(adapter, carrier, scale)
    before = {tensor.name: tensor for tensor in open_gguf(base, carrier).tensors}
    after = {tensor.name: tensor for tensor in open_gguf(written, carrier).tensors}

    def changes() -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
        for name, delta in sorted(deltas.items()):
            if name in before and name in after:
                yield name, _full(before[name]), _full(after[name]), delta

    others = [
        name
        for name in sorted({*before, *after} - set(deltas))
        if name not in before or name not in after or before[name].data.tobytes() != after[name].data.tobytes()
    ]
    return bind_changes("llama.cpp, merged", changes(), len(deltas), others)


def _full(tensor: Any) -> np.ndarray:
    """A GGUF tensor in fp32."""
    import gguf

    values: np.ndarray = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
    return values


def open_gguf(path: Path, carrier: Path) -> Any:
    """A reader of a GGUF file of this carrier's kind. BadInput: it is none, is cut off, or is of another architecture."""
    import gguf

    if not path.is_file():
        raise BadInput(f"there is no file {path}; name the carrier's GGUF with --base FILE.gguf")
    with path.open("rb") as file:
        if file.read(4) != b"GGUF":
            raise BadInput(f"{path} is no GGUF file (it does not begin with GGUF); name the carrier's GGUF")
    try:
        reader = gguf.GGUFReader(path)
        architecture = str(reader.fields[gguf.Keys.General.ARCHITECTURE].contents())
    except (ValueError, IndexError, KeyError, OverflowError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} is cut off or damaged ({str(error) or type(error).__name__}); fetch it again") from None
    if architecture != _architecture(carrier):
        raise BadInput(f"{path} is a GGUF of a {architecture} model, and the carrier is {_architecture(carrier)}; name its own GGUF")
    return reader


def _deltas(adapter: Adapter, carrier: Path, scale: float) -> dict[str, np.ndarray]:
    """GGUF tensor name -> scale x scaling x B A, rows in GGUF's order."""
    names, heads = _names_for(adapter, carrier), _permuted_heads(carrier)
    deltas = {}
    for module, (a, b) in adapter_tensors(adapter).items():
        delta = (scale * adapter.scaling * (b @ a)).numpy()
        if (n := heads.get(module.rpartition(".")[2])) is not None:
            delta = permute_rows(delta, n)
        deltas[f"{names[module]}.weight"] = delta
    return deltas


def permute_rows(rows: np.ndarray, heads: int) -> np.ndarray:
    """Rows of a Llama q or k projection, (out, any), from transformers' order (halves) to GGUF's (interleaved pairs)."""
    out, width = rows.shape
    return rows.reshape(heads, 2, out // heads // 2, width).swapaxes(1, 2).reshape(out, width)


def permuted_back(rows: np.ndarray, heads: int) -> np.ndarray:
    """The inverse of ``permute_rows``."""
    out, width = rows.shape
    return rows.reshape(heads, out // heads // 2, 2, width).swapaxes(1, 2).reshape(out, width)


def _permuted_heads(carrier: Path) -> dict[str, int]:
    config = text_config(read_config(carrier))
    if config.get("model_type") != "llama":
        return {}
    heads = int(config["num_attention_heads"])
    return {"q_proj": heads, "k_proj": int(config.get("num_key_value_heads", heads))}


def _names_for(adapter: Adapter, carrier: Path) -> dict[str, str]:
    names, shapes = gguf_names(carrier), serving_class(carrier, "llama.cpp").modules
    lost = [module for module, pair in adapter.pairs.items() if shapes.get(module) != (pair.b.shape[0], pair.a.shape[1])]
    lost += adapter.strange
    if lost:
        raise BadInput(
            f"{lost[0]} has no tensor of that name and shape in a GGUF of this carrier ({len(lost)} such in the adapter), "
            "so no GGUF is written; see: penname bind"
        )
    return {module: names[module] for module in adapter.pairs}


def _architecture(carrier: Path) -> str:
    return str(text_config(read_config(carrier))["model_type"])


def _copy_fields(reader: Any, writer: Any) -> None:
    import gguf

    skip = {gguf.Keys.General.ARCHITECTURE, gguf.Keys.General.FILE_TYPE}
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name in skip:
            continue
        kind = field.types[0]
        sub = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name, field.contents(), kind, sub)


def _close(writer: Any) -> None:
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
