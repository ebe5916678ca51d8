"""Signs of a broken sample: it repeats itself, ends in nothing, or is no prose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from statistics import mean

REPEATED_MAX = 0.2  # share of four-word runs that a passage has had before; prose stays under 0.05
SHORT_WORDS = 20
ODD_MAX = 0.02  # share of characters that the author never uses


@dataclass(frozen=True)
class Degeneration:
    """Over all samples of a group."""

    words_mean: float
    short_share: float  # samples of under 20 words
    repeated_mean: float  # share of four-word runs that stood before in the same sample
    repeating_share: float  # samples in which that share is above 0.2
    odd_share: float  # characters outside the author's alphabet
    broken: bool

    def to_json(self) -> dict[str, float | bool]:
        """Rounded."""
        return {key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(self).items()}


def degeneration(samples: Sequence[str], alphabet: frozenset[str]) -> Degeneration:
    """Measure a group of samples. No sample at all counts as broken."""
    if not samples:
        return Degeneration(0.0, 1.0, 0.0, 0.0, 0.0, True)
    repeats = [repeated_share(sample) for sample in samples]
    lengths = [len(sample.split()) for sample in samples]
    characters = max(1, sum(map(len, samples)))
    odd = sum(char not in alphabet for sample in samples for char in sample) / characters
    short = mean(length < SHORT_WORDS for length in lengths)
    repeating = mean(share > REPEATED_MAX for share in repeats)
    return Degeneration(mean(lengths), short, mean(repeats), repeating, odd, short > 0.2 or repeating > 0.2 or odd > ODD_MAX)


def repeated_share(text: str, n: int = 4) -> float:
    """Share of the n-word runs of a text that stood in it before."""
    words = text.lower().split()
    runs = [tuple(words[i : i + n]) for i in range(len(words) - n + 1)]
    return 1 - len(set(runs)) / len(runs) if runs else 0.0
