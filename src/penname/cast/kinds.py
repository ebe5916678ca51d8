"""Person, place, other or no name at all: weighed evidence, for a form over all its mentions."""

from __future__ import annotations

from penname.cast.evidence import Evidence

# Weight of one form sign, and of a sign that every mention carries, for each kind; set by hand, checked on both golds.
_FORM = {
    "title": (6.0, -3.0, -2.0),
    "place-head": (-2.0, 4.0, 0.5),
    "place-opener": (-1.0, 3.0, 0.0),
    "thing-head": (-2.0, -1.0, 3.5),
    "first-name": (2.0, -0.5, -0.5),
    "first-name+": (2.5, -0.5, -0.5),
    "rare-first-name": (0.8, 0.0, 0.0),
    "surname": (0.6, 0.0, 0.0),
    "gazetteer1": (-0.3, 0.7, 0.0),
    "gazetteer2": (-0.8, 1.6, 0.0),
    "gazetteer3": (-2.0, 3.5, 0.0),
    "place-ending": (-0.3, 1.0, 0.0),
    "people-ending": (-1.5, -1.0, 1.0),
}
_MENTION = {
    "the": (-3.0, -1.0, 3.0),
    "my": (0.0, -2.0, 0.0),
    "in": (-3.0, 6.0, 0.0),
    "near": (-1.0, 4.0, 0.0),
    "from": (0.0, 2.0, 0.0),
    "to": (0.0, 2.0, 0.0),
    "of": (0.0, 1.0, 0.5),
    "said": (6.0, -3.0, -1.0),
    "says": (6.0, -3.0, -1.0),
    "with": (2.0, -1.0, 0.0),
    "'s": (2.0, -1.0, -0.5),
    "is": (3.0, -1.0, 0.0),
    "did": (5.0, -2.0, -0.5),
    "who": (5.0, -3.0, -2.0),
    "and": (1.0, 0.0, 0.0),
    "call": (3.5, -0.5, 0.0),
    "quoted": (-0.5, 0.0, 2.0),
}
KINDS = ("person", "place", "other")


def weigh(evidence: Evidence, form_signs: list[str]) -> tuple[float, float, float]:
    """Scores for person, place and other; the form counts once, mentions by their share, damped for thin evidence."""
    scores = [0.3, 0.0, 0.2]
    for sign in form_signs:
        for k, weight in enumerate(_FORM[sign]):
            scores[k] += weight
    damped = evidence.count + 1.5
    for sign, count in evidence.signs.items():
        if sign in _MENTION:
            for k, weight in enumerate(_MENTION[sign]):
                scores[k] += weight * count / damped
    return scores[0], scores[1], scores[2]


def best_kind(scores: tuple[float, float, float]) -> str:
    """The kind with the highest score; the first wins a tie."""
    return KINDS[max(range(3), key=lambda k: (scores[k], -k))]
