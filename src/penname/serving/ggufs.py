"""Adapters and merged models as GGUF, for llama.cpp.

A LoRA GGUF holds, for each tensor of the base, ``<name>.lora_a`` (r, in) and ``<name>.lora_b`` (out, r), and the key
``adapter.lora.alpha``; llama.cpp scales by alpha / r. The rows of Llama's q and k stand in another order in GGUF than in
transformers (rotary pairs interleaved), so the rows of B move the same way.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from penname.carriers.facts import read_config, text_config
from penname.core.errors import BadInput, ProofFailed
from penname.serving.adapter import Adapter, adapter_tensors
from penname.serving.classes import gguf_names

QUANTS = ("f16", "q8_0")


def write_lora_gguf(adapter: Adapter, carrier: Path, target: Path) -> int:
    """Write the adapter as a LoRA GGUF; the number of tensors. BadInput where a module has no GGUF name."""
    import gguf

    names = _names_for(adapter, carrier)
    writer = gguf.GGUFWriter(target, _architecture(carrier))
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    # llama.cpp computes alpha / r itself; with rsLoRA the same scaling needs another alpha.
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, adapter.scaling * adapter.lora_rank)
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


def write_merged_gguf(adapter: Adapter, carrier: Path, base: Path, target: Path, quant: str, scale: float = 1.0) -> int:
    """Write ``base`` with the adapter merged into its tensors, as F16 or Q8_0; the number of changed tensors.

    Every other tensor keeps its bytes. ProofFailed where a target's shape in the GGUF is not the adapter's.
    """
    import gguf

    if quant not in QUANTS:
        raise BadInput(f'"{quant}" is no kind of merged GGUF; there are {", ".join(QUANTS)}')
    reader = gguf.GGUFReader(base)
    names = _names_for(adapter, carrier)
    heads = _permuted_heads(carrier)
    deltas = {}
    for module, (a, b) in adapter_tensors(adapter).items():
        delta = (scale * adapter.scaling * (b @ a)).numpy()
        if (n := heads.get(module.rpartition(".")[2])) is not None:
            delta = permute_rows(delta, n)
        deltas[f"{names[module]}.weight"] = delta
    kind = gguf.GGMLQuantizationType.F16 if quant == "f16" else gguf.GGMLQuantizationType.Q8_0
    writer = gguf.GGUFWriter(target, _architecture(carrier))
    _copy_fields(reader, writer)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16 if quant == "f16" else gguf.LlamaFileType.MOSTLY_Q8_0)
    changed = 0
    for tensor in reader.tensors:
        if tensor.name not in deltas:
            writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
            continue
        weight = gguf.dequantize(tensor.data, tensor.tensor_type).astype(np.float32)
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


def permute_rows(rows: np.ndarray, heads: int) -> np.ndarray:
    """Rows of a Llama q or k projection, (out, any), from transformers' order (halves) to GGUF's (interleaved pairs)."""
    out, width = rows.shape
    return rows.reshape(heads, 2, out // heads // 2, width).swapaxes(1, 2).reshape(out, width)


def _permuted_heads(carrier: Path) -> dict[str, int]:
    config = text_config(read_config(carrier))
    if config.get("model_type") != "llama":
        return {}
    heads = int(config["num_attention_heads"])
    return {"q_proj": heads, "k_proj": int(config.get("num_key_value_heads", heads))}


def _names_for(adapter: Adapter, carrier: Path) -> dict[str, str]:
    names = gguf_names(carrier)
    lost = sorted(module for module in adapter.pairs if module not in names)
    if lost or adapter.strange:
        raise BadInput(f"{(lost or list(adapter.strange))[0]} has no tensor in a GGUF of this carrier; bind the adapter by names first")
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
