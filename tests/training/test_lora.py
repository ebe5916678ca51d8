"""Which modules are adapted, and which saved adapter may be put into them."""

from __future__ import annotations

import re

import pytest
import torch

from penname.core.errors import BadInput
from penname.training.lora import adapter_tensors, load_adapter_tensors, planned_modules
from tiny_training import Tiny


def test_an_adapter_of_other_modules_is_not_put_in(dense: Tiny) -> None:
    peft_model, _ = dense.attached()
    tensors = adapter_tensors(peft_model)
    gone, _ = tensors.popitem()
    with pytest.raises(BadInput, match=rf"does not fit this carrier and these target modules \(first difference: {re.escape(gone)}\)"):
        load_adapter_tensors(peft_model, tensors)


def test_a_carrier_without_the_modules_is_refused(dense: Tiny) -> None:
    model = dense.model()
    for name, module in list(model.named_modules()):
        if isinstance(module, torch.nn.Linear) and name != "lm_head":
            model.set_submodule(name, torch.nn.Identity())
    with pytest.raises(BadInput, match=r"training\.target_modules names no module of this carrier"):
        planned_modules(model, "attention+mlp")
