"""Copied spans, held to a count by brute force."""

from __future__ import annotations

import random

from cpu import cpu_seconds
from penname.judging.memorisation import LENGTHS, Copied, Reference


def brute_force(sample, references):
    def stands(run):
        return any(word != "_" for word in run) and any(
            list(text[i : i + len(run)]) == run for text in references for i in range(len(text) - len(run) + 1)
        )

    longest = 0
    for i in range(len(sample)):
        for j in range(i + longest + 1, len(sample) + 1):
            if stands(sample[i:j]):
                longest = j - i
    covered = []
    for n in LENGTHS:
        words = [False] * len(sample)
        for i in range(len(sample) - n + 1):
            if stands(sample[i : i + n]):
                words[i : i + n] = [True] * n
        covered.append(sum(words))
    return Copied(len(sample), *covered, longest)


def test_counts_equal_brute_force():
    rng = random.Random(1)
    for _ in range(60):
        references = [[rng.choice("abc_") for _ in range(rng.randrange(0, 60))] for _ in range(3)]
        sample = [rng.choice("abcx_") for _ in range(rng.randrange(0, 50))]
        if references[0]:
            k = rng.randrange(len(references[0]))
            sample = sample[:5] + references[0][k : k + 25] + sample[5:]
        assert Reference(references).copied(sample) == brute_force(sample, references)


def test_a_planted_span_is_counted_to_the_word():
    reference = list("abcdefghijklmno")
    sample = ["so", *reference[2:12], "said", "he"]
    assert Reference([reference]).copied(sample) == Copied(13, 10, 0, 10)


def test_hidden_names_alone_are_no_copy():
    assert Reference([["_"] * 40]).copied(["_"] * 30) == Copied(30, 0, 0, 0)


def test_nothing_to_compare_with():
    assert Reference([]).copied(["a", "b"]) == Copied(2, 0, 0, 0)
    assert Reference([["a"]]).copied([]) == Copied(0, 0, 0, 0)


def test_200_samples_against_a_million_words_take_seconds():
    rng = random.Random(2)
    vocabulary = [f"w{i}" for i in range(20_000)]
    text = rng.choices(vocabulary, weights=[1 / (i + 1) for i in range(20_000)], k=1_000_000)
    found = []

    def count():
        reference = Reference([text])
        found.extend(reference.copied([*text[i * 4000 : i * 4000 + 150], "zz", *text[5000:5012]]) for i in range(200))

    seconds = cpu_seconds(count)
    assert len(found) == 200 and all(one.over_20 >= 150 and one.longest >= 150 for one in found)
    print(f"{seconds:.1f} s of CPU")
    assert seconds < 10
