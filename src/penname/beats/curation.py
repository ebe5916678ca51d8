"""What the beats look like as a whole: the figures that show at a glance whether they steer or only fill a column."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from statistics import mean, median
from typing import Any

from penname.beats.gate import RULES
from penname.beats.words import FUNCTION_WORDS, base_form, folded
from penname.core.beatstyle import count_words
from penname.core.values import Beat

_OPENING_WORDS = 2
_OPENINGS_SHOWN = 10
_BE_HAVE_DO = (
    "is",
    "are",
    "has",
    "have",
    "does",
    "do",
    "goes",
    "go",
    "was",
    "were",
    "had",
    "did",
    "says",
    "tells",
    "can",
    "will",
    "must",
    "may",
)
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|[,;:.!?]")


def curate(beats: Sequence[Beat], rejected: Sequence[Mapping[str, Any]], passages: int, fallbacks: int) -> dict[str, Any]:
    """The curation report as JSON. The share of verbs is an estimate from form and place (third person s, -ing, -ed)."""
    lengths = [count_words(beat.text) for beat in beats]
    openings = Counter(" ".join(folded(beat.text)[:_OPENING_WORDS]) for beat in beats)
    styles = Counter(beat.style for beat in beats)
    rules = Counter(row["rule"] for row in rejected)
    names = [len(beat.names) for beat in beats]
    return {
        "passages": passages,
        "beats": len(beats),
        "style": style_of(beats),
        "styles": dict(sorted(styles.items())),
        "sources": dict(sorted(Counter(beat.source for beat in beats).items())),
        "fallbacks": fallbacks,
        "words": _summary(lengths) | {"histogram": {str(n): c for n, c in sorted(Counter(lengths).items())}},
        "names_per_beat": _summary(names) | {"histogram": {str(n): c for n, c in sorted(Counter(names).items())}},
        "verb_share": round(mean(verb_share(beat) for beat in beats), 4) if beats else 0.0,
        "beats_without_verb": sum(verb_share(beat) == 0 for beat in beats),
        "openings": [{"opening": opening, "beats": n} for opening, n in _most(openings) if n > 1],
        "repeated_beats": len(beats) - len({beat.text.lower() for beat in beats}),
        "rejected": len(rejected),
        "rejected_by_rule": {rule: rules[rule] for rule in (*RULES, *sorted(set(rules) - set(RULES))) if rules[rule]},
    }


def style_of(beats: Sequence[Beat]) -> str:
    """ "sentence", "keywords", or "mixed" where neither makes nine tenths: what a voice records of how it was steered."""
    styles = Counter(beat.style for beat in beats)
    for style, n in styles.most_common(1):
        return style if n >= 0.9 * len(beats) else "mixed"
    return "keywords"


def verb_share(beat: Beat) -> float:
    """Estimated share of a beat's words that are verbs, 0 to 1."""
    name_at = {i for span in beat.names for i in range(span.start, span.end)}
    verbs = words = 0
    after_subject = True
    for match in _WORD.finditer(beat.text):
        word = match.group().lower()
        if not word[0].isalpha():
            after_subject = True
            continue
        words += 1
        if match.start() in name_at or word in ("he", "she", "they", "it", "who", "and", "then", "i", "we", "you"):
            after_subject = True
            continue
        third_person = beat.style == "sentence" and after_subject and word.endswith("s") and not word.endswith(("ss", "ous", "'s"))
        if word in _BE_HAVE_DO or third_person or (word.endswith(("ing", "ed")) and len(base_form(word)) > 2):
            verbs += 1
        after_subject = word in FUNCTION_WORDS["en"] and word not in (
            "the",
            "a",
            "an",
            "his",
            "her",
            "their",
            "its",
            "of",
            "in",
            "with",
            "to",
        )
    return verbs / words if words else 0.0


def _summary(values: Sequence[int]) -> dict[str, Any]:
    if not values:
        return {"mean": 0.0, "median": 0.0, "min": 0, "max": 0}
    return {"mean": round(mean(values), 3), "median": float(median(values)), "min": min(values), "max": max(values)}


def _most(counts: Counter[str]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:_OPENINGS_SHOWN]
