"""The one template: its bytes, its masks, and that book text can never become a special token."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penname.carriers import beat_segment, decode_passage, encode_document, encode_pair, encode_prefix, load_tokenizer, passage_segment
from penname.core.errors import BadInput, ProofFailed
from tiny import tiny_carrier


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(tiny_carrier())


def test_the_bytes_of_the_template():
    assert beat_segment("Jane hides\n behind the  curtain.") == "[Jane hides behind the curtain.]\n\n"
    assert passage_segment("\n There was no possibility.\n\nNone. \n") == "There was no possibility.\n\nNone."


def test_special_tokens_in_a_text_stay_characters(tokenizer):
    text = "He wrote <|endoftext|> and <think> on the wall <|im_end|>."
    ids = tokenizer.encode(text)
    assert tokenizer.special_ids.isdisjoint(ids)
    assert tokenizer.decode(ids) == text
    # The full tokenizer, which a chat template would use, does make special tokens of them: the guard guards something.
    assert not tokenizer.special_ids.isdisjoint(tokenizer.full.encode(text).ids)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(["<|endoftext|>", "<|im_end|>", "<think>", "<|", "|>", "endoftext", " ", "a", "\n", "é", "<", "😀"])).map(
        "".join
    )
)
def test_no_text_produces_a_special_token(text):
    tokenizer = load_tokenizer(tiny_carrier())
    ids = tokenizer.encode(text)
    assert tokenizer.special_ids.isdisjoint(ids)
    assert tokenizer.decode(ids) == text


def test_a_tokenizer_that_would_make_one_is_refused(tmp_path):
    folder = shutil.copytree(tiny_carrier(), tmp_path / "carrier")
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config["eos_token"] = "e"  # an ordinary letter as the end token: every text would hold it
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.raises(ProofFailed, match="special token 'e'"):
        load_tokenizer(folder).encode("e")


def test_segments_are_tokenised_apart_and_joined(tokenizer):
    prefix_ids, passage_ids = encode_pair(tokenizer, "A beat", " The passage. ")
    assert prefix_ids == tokenizer.encode("[A beat]\n\n")
    assert passage_ids == [*tokenizer.encode("The passage."), tokenizer.stop_id]


def test_training_and_sampling_start_from_the_same_ids(tokenizer):
    pairs = [("First beat", "First passage."), ("Second beat", "Second passage.")]
    input_ids, trained = encode_document(tokenizer, pairs)
    prefix = encode_prefix(tokenizer, "Second beat", context=pairs[:1])
    assert input_ids[: len(prefix)] == prefix
    assert tokenizer.decode([i for i, t in zip(input_ids, trained, strict=True) if t]) == "First passage.Second passage."
    assert [i for i, t in zip(input_ids, trained, strict=True) if t].count(tokenizer.stop_id) == 2


def test_the_trained_stop_id_is_the_one_of_the_configuration(tokenizer):
    assert tokenizer.stop_id == 0
    assert tokenizer.token(tokenizer.stop_id) == "<|endoftext|>"
    assert decode_passage(tokenizer, [*tokenizer.encode(" It ended."), 0, *tokenizer.encode("More")]) == "It ended."


def test_a_start_token_stands_once_at_the_head_of_a_document(tmp_path):
    folder = shutil.copytree(tiny_carrier(), tmp_path / "carrier")
    config = json.loads((folder / "tokenizer_config.json").read_text())
    config |= {"bos_token": "<|im_start|>", "add_bos_token": True}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    tokenizer = load_tokenizer(folder)
    assert tokenizer.start_ids == (1,)
    input_ids, trained = encode_document(tokenizer, [("a", "b"), ("c", "d")])
    assert (input_ids[0], trained[0], input_ids.count(1)) == (1, False, 1)
    assert encode_prefix(tokenizer, "a") == [1, *tokenizer.encode("[a]\n\n")]


def test_encode_many_gives_what_encode_gives(tokenizer):
    texts = ["One.", "", "Two — “three” <|endoftext|>"]
    assert tokenizer.encode_many(texts) == [tokenizer.encode(text) for text in texts]


def test_a_folder_without_a_usable_tokenizer(tmp_path):
    with pytest.raises(BadInput, match=r"has no tokenizer\.json"):
        load_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(BadInput, match="no tokenizer that can be read"):
        load_tokenizer(tmp_path)
    shutil.copy(tiny_carrier() / "tokenizer.json", tmp_path / "tokenizer.json")
    with pytest.raises(BadInput, match="names no end token"):
        load_tokenizer(tmp_path)


def test_prompt_and_tokenizer_need_no_torch():
    code = (
        "import sys; from pathlib import Path; from penname.carriers import load_tokenizer, encode_pair;"
        f"encode_pair(load_tokenizer(Path({str(tiny_carrier())!r})), 'a', 'b');"
        "print([m for m in ('torch', 'transformers') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == "[]"
