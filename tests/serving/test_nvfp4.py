"""export nvfp4a16: the other environment, what it writes, and what is refused. The stand-in is compared with the real one where it is."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.torch import load_file, save_file

import fake_quantiser
from penname.core.errors import BadInput, PennameError, ProofFailed
from penname.serving.changes import bind_changes, moved_along
from penname.serving.export import export_merged, finish_export
from penname.serving.nvfp4 import bind_nvfp4, dequantise, export_nvfp4, quantising_python
from penname.serving.voices import open_run


@pytest.fixture
def python(tmp_path):
    """Makes the Python of another environment, with a fault or none."""

    def make(fault="none"):
        path = tmp_path / f"python-{fault}"
        path.write_text(f'#!/bin/sh\nexec "{sys.executable}" "{fake_quantiser.__file__}" {fault} "$@"\n')
        path.chmod(0o755)
        return str(path)

    return make


def export(voice, python, scale=1.0):
    run = open_run(voice)
    return finish_export(voice, run, "nvfp4a16", lambda out: export_nvfp4(run, out, scale, python), {"scale": scale})


def test_the_quantised_model_is_bound_with_its_recipe_and_versions(voice, python):
    place = export(voice, python())
    facts = json.loads((place / "export.json").read_text())
    assert (facts["kind"], facts["binding"]["state"], facts["binding"]["depth"]) == ("nvfp4a16", "bound", 2)
    assert (facts["binding"]["matched"], facts["binding"]["total"]) == (14, 14)
    assert "14 matrices in 4 bits; untested: no server has run it yet" in facts["binding"]["note"]
    assert {"model.safetensors", "nvfp4.json", "recipe.yaml", "tokenizer.json", "config.json"} <= set(facts["files"])
    assert json.loads((place / "nvfp4.json").read_text())["versions"]["llmcompressor"] == "0.14.0.1"
    assert facts["serve"] == f"vllm serve exports/{facts['run']}/nvfp4a16 --served-model-name voice"
    assert sorted(path.name for path in place.parent.iterdir()) == [".lock", "nvfp4a16"]


def test_without_that_environment_the_command_that_makes_it_is_said(tmp_path, python):
    install = (
        r"python -m venv nvfp4 && nvfp4/bin/pip install llmcompressor==0\.14\.0\.1, then --set serving\.quantise_python=nvfp4/bin/python"
    )
    with pytest.raises(BadInput, match=f"serving.quantise_python names none: {install}"):
        quantising_python("")
    with pytest.raises(BadInput, match=f"there is no such file; make one with: {install}"):
        quantising_python(str(tmp_path / "none"))
    with pytest.raises(
        BadInput, match=r"has no llmcompressor; install it there with: .*python-no-llmcompressor -m pip install llmcompressor"
    ):
        quantising_python(python("no-llmcompressor"))
    (tmp_path / "text").write_text("no program")
    with pytest.raises(BadInput, match="does not run: "):
        quantising_python(str(tmp_path / "text"))


@pytest.mark.parametrize(
    ("fault", "error", "sentence"),
    [
        ("crash", PennameError, r"llmcompressor did not finish \(exit 1\): RuntimeError: out of memory; nothing was written"),
        ("silent", ProofFailed, "left no nvfp4.json"),
        ("pickle", ProofFailed, r"wrote a pickle \(scheme\.pt\)"),
        ("halves", ProofFailed, "does not bind in NVFP4A16, read back: model.layers.0.mlp.down_proj.weight moved by"),
    ],
)
def test_what_goes_wrong_there_leaves_nothing_here(voice, python, fault, error, sentence):
    with pytest.raises(error, match=sentence):
        export(voice, python(fault))
    assert [path.name for path in (voice.path / "exports/tiny-all-x6-am-s1").iterdir()] == [".lock"]


def test_another_format_or_another_weight_is_seen_when_it_is_read_back(voice, tmp_path):
    run, merged, out = open_run(voice), tmp_path / "merged", tmp_path / "out"
    export_merged(run, merged, 1.0)
    fake_quantiser.main("none", "-I", "nvfp4_recipe.py", str(merged), str(out))
    assert bind_nvfp4(run.adapter, run.carrier, merged, out, 1.0).state == "bound"
    tensors = load_file(out / "model.safetensors")
    save_file(tensors | {"model.norm.weight": 1.01 * tensors["model.norm.weight"]}, out / "model.safetensors")
    changed = bind_nvfp4(run.adapter, run.carrier, merged, out, 1.0)
    assert (changed.state, changed.reasons) == ("partly bound", ("model.norm.weight changed and is no target",))
    config = out / "config.json"
    config.write_text(config.read_text().replace("nvfp4-pack-quantized", "int4"))
    with pytest.raises(ProofFailed, match="its format is 'int4', not nvfp4-pack-quantized"):
        bind_nvfp4(run.adapter, run.carrier, merged, out, 1.0)


def test_four_bit_floats_are_read_as_they_are_written():
    packed = np.array([[0x21, 0x43, 0x65, 0x87, 0xA9, 0xCB, 0xED, 0x0F]], np.uint8)
    got = dequantise(packed, np.array([[2.0]], np.float32), 4.0)
    assert got.tolist() == [[0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, -0.0, -0.25, -0.5, -0.75, -1.0, -1.5, -2.0, -3.0, 0.0]]


def test_a_change_is_seen_through_rounding_and_its_absence_too():
    draw = np.random.default_rng(1)
    before, delta = draw.standard_normal((128, 128)), 0.05 * draw.standard_normal((128, 128))
    after = np.round((before + delta) * 4) / 4  # rounding by an eighth: more than the change itself
    share, error = moved_along(before, after, delta)
    assert abs(share - 1) < 4 * error and error < 0.05
    assert abs(moved_along(before, np.round(before * 4) / 4, delta)[0]) < 4 * error
    bound = bind_changes("here", [("w", before, after, delta)], 1, [])
    assert (bound.state, bound.matched) == ("bound", 1)
    lost = bind_changes("here", [("w", before, np.round(before * 4) / 4, delta)], 1, ["lm_head.weight"])
    assert lost.state == "not bound"
    assert lost.reasons[1] == "lm_head.weight changed and is no target"
    coarse = bind_changes("here", [("w", before[:8], np.round((before + delta)[:8] / 4) * 4, delta[:8])], 2, [])
    assert coarse.state == "not bound" and "so coarsely that the adapter cannot be seen" in coarse.reasons[0]
    assert coarse.reasons[1] == "1 of the 2 tensors that the adapter changes are not in the file"
    holed = bind_changes("here", [("w", before, np.full_like(after, np.nan), delta)], 1, [])
    assert (holed.state, holed.reasons) == ("not bound", ("w holds values that are no numbers",))
    still = bind_changes("here", [("w", before, before, 0 * delta)], 1, [])
    assert "its lora_B is all zeros" in still.reasons[0]


@pytest.mark.parametrize(
    ("share", "state"), [(0.0, "not bound"), (0.89, "not bound"), (0.91, "bound"), (1.09, "bound"), (1.11, "not bound")]
)
def test_without_rounding_a_tenth_is_allowed(share, state):
    before, delta = np.zeros((4, 4)), np.ones((4, 4))
    assert bind_changes("here", [("w", before, share * delta, delta)], 1, []).state == state


@pytest.mark.slow
def test_the_real_llmcompressor(voice):
    """Needs PENNAME_QUANTISE_PYTHON, the Python of an environment with llmcompressor."""
    python = os.environ.get("PENNAME_QUANTISE_PYTHON", "")
    if not Path(python).is_file():
        pytest.skip("PENNAME_QUANTISE_PYTHON names no Python that has llmcompressor")
    place = export(voice, python)
    facts = json.loads((place / "export.json").read_text())
    assert (facts["binding"]["state"], facts["binding"]["matched"]) == ("bound", 14)
    assert "14 matrices in 4 bits" in facts["binding"]["note"]
