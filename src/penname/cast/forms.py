"""The forms of a text: every name as it is written, its mentions, and what they say together."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from penname.cast.detect import Span
from penname.cast.evidence import Evidence, form_signs, mention_signs
from penname.cast.kinds import best_kind, weigh
from penname.cast.lexicon import Lexicon
from penname.cast.scan import Scan

Key = tuple[tuple[str, ...], tuple[str, ...]]  # (titles, words)


@dataclass(slots=True)
class Form:
    """One way of writing a name: titles and words, all its mentions, and the kind they speak for."""

    key: Key
    spans: list[Span] = field(default_factory=list)
    evidence: Evidence = field(default_factory=Evidence)
    scores: tuple[float, float, float] = (0.0, 0.0, 0.0)
    kind: str = "other"

    @property
    def titles(self) -> tuple[str, ...]:
        return self.key[0]

    @property
    def words(self) -> tuple[str, ...]:
        return self.key[1]

    @property
    def count(self) -> int:
        return len(self.spans)

    @property
    def shown(self) -> str:
        """The form as it is most often written."""
        surfaces = Counter(" ".join(span.surface.split()) for span in self.spans)
        return min(surfaces, key=lambda s: (-surfaces[s], s))


def gather_forms(scan: Scan, spans: list[Span], lexicon: Lexicon) -> dict[Key, Form]:
    """Forms by key, with their kinds; forms that are most likely no names are left out."""
    forms: dict[Key, Form] = {}
    for span in spans:
        form = forms.setdefault((span.titles, span.words), Form((span.titles, span.words)))
        form.spans.append(span)
        form.evidence.count += 1
        form.evidence.signs.update(mention_signs(scan, span, lexicon))
    _judge(forms, lexicon)
    return {key: form for key, form in forms.items() if form.kind != "none"}


def _judge(forms: dict[Key, Form], lexicon: Lexicon) -> None:
    surnames: Counter[str] = Counter()  # words that stand last after a title or a first name
    for form in forms.values():
        if form.titles:
            surnames[form.words[-1]] += form.count
    for form in forms.values():
        signs = form_signs(form.words, form.titles, lexicon)
        scores = list(weigh(form.evidence, signs))
        if not form.titles and len(form.words) == 1 and surnames[form.words[0]]:
            scores[0] += 3.0 * surnames[form.words[0]] / (surnames[form.words[0]] + form.count) + 1.0
        form.scores = (scores[0], scores[1], scores[2])
        form.kind = best_kind(form.scores)
        if all(span.alone for span in form.spans):
            evidence = form.evidence
            strong = evidence.share("said", "says", "did", "call", "who", "'s")
            if form.kind != "person" or evidence.count < 4 or strong < 0.4 or evidence.share("the", "my") > 0.2:
                form.kind = "none"
