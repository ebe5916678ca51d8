"""The model card (README.md) that PEFT users expect beside an adapter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penname.core.files import write_text

_CARD = """---
base_model: {base_model}
library_name: peft
pipeline_tag: text-generation
tags:
- lora
- penname
---

# {run}

A voice: a LoRA adapter on `{carrier}` ({source}) that writes in one author's prose, steered by a one-line beat. Made by Penname {penname}.

```python
from penname.carriers import load_tokenizer, resolve_carrier
from peft import PeftModel
from transformers import AutoModelForCausalLM

model = AutoModelForCausalLM.from_pretrained(resolve_carrier("{carrier}"))
model = PeftModel.from_pretrained(model, "adapter")
```

A prompt is the beat in square brackets, an empty line, and nothing else: `[{beat}]\\n\\n`. Passages end with `{stop}`.

| | |
|---|---|
| arm, seed | {arm}, {seed} |
| LoRA | r={rank}, alpha={alpha}, {modules} modules, {parameters:,} parameters, {adapter_dtype} |
| trained tokens | {trained:,} in {steps} steps |
| held-out loss | {heldout} |
| device | {device}, {dtype}, {threads} threads; {resolved} |
| shards | `{shards}` |
| adapter | `{adapter}` |

Completion tokens are the author's own, with names changed; beats were masked out of the loss. `run.json` beside this folder holds every
setting and hash. Whether the voice is one is for `penname judge` to say.
"""


def write_card(path: Path, record: dict[str, Any]) -> None:
    """Write the card of a finished run."""
    settings = record["settings"]["training"]
    heldout = record["heldout"]
    loss = (
        f"{heldout[0]['loss']:.3f} at step {heldout[0]['step']}, {heldout[-1]['loss']:.3f} at step {heldout[-1]['step']}"
        if heldout
        else "none"
    )
    write_text(
        path,
        _CARD.format(
            carrier=record["carrier"]["name"],
            source=record["carrier"]["source"],
            base_model=record["carrier"]["source"].split(" at ")[0] if " at " in record["carrier"]["source"] else record["carrier"]["name"],
            penname=record["libraries"]["penname"],
            run=record["run"],
            beat="She opens the door and finds the room empty.",
            stop=record["stop_token"],
            arm=record["arm"]["name"],
            seed=record["seed"],
            rank=settings["lora_rank"],
            alpha=settings["lora_alpha"],
            adapter_dtype=settings["adapter_dtype"],
            modules=record["lora"]["modules"],
            parameters=record["lora"]["parameters"],
            trained=record["trained_tokens"],
            steps=record["steps_done"],
            heldout=loss,
            device=record["device"],
            dtype=record["dtype"],
            threads=record["threads"],
            resolved=", ".join(f"{key} {value}" for key, value in record["resolved"].items()),
            shards=record["inputs"]["shards"],
            adapter=record["adapter_sha256"],
        ),
    )
