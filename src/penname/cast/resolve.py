"""From linked people to entities: a person's decisions applied, shared forms given out mention by mention."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from penname.cast.decisions import Decision, plain_name
from penname.cast.detect import Span
from penname.cast.forms import Form
from penname.cast.linking import Linker
from penname.cast.people import Person

_NEAR_CHARS = 2500  # a bearer named within so many characters is meant, where the usual one is not
_FAR_CHARS = 6000


@dataclass(slots=True, eq=False)
class Group:
    """Forms that are one entity."""

    kind: str
    forms: list[Form]
    gender: str = "unknown"
    person: Person | None = None
    fixed: bool = False
    evidence: list[str] = field(default_factory=list)
    spans: list[Span] = field(default_factory=list)
    plural: bool = False

    @property
    def shown(self) -> str:
        """The fullest of the frequent names."""
        return max(self.forms, key=lambda f: (f.count * (1 + len(f.words)), f.key)).shown

    @property
    def count(self) -> int:
        """Number of mentions of its forms."""
        return sum(form.count for form in self.forms)


def form_names(form: Form) -> set[str]:
    """The plain names of every way in which the form is written."""
    return {plain_name(surface) for surface in {span.surface for span in form.spans}}


def drop_and_sort(forms: Sequence[Form], decisions: Sequence[Decision]) -> list[Form]:
    """The forms without those that are no names, and with the kinds that a person gave; these come before linking."""
    verdict: dict[str, str] = {}
    for decision in decisions:
        if decision.action in ("drop", "kind"):
            for name in decision.names:
                verdict[plain_name(name)] = decision.value or "none"
    kept = []
    for form in forms:
        for name in sorted(form_names(form) & verdict.keys()):
            form.kind = verdict[name]
        if form.kind != "none":
            kept.append(form)
    return kept


class Resolution:
    """Groups of forms, changed by decisions in order."""

    def __init__(self, people: Sequence[Person], things: Sequence[Form]) -> None:
        self.groups = [Group("person", list(p.forms), p.tally.gender(), p, evidence=list(p.evidence), plural=p.plural) for p in people]
        self.groups += _things(things)
        self.shared: dict[Form, list[Group]] = {}
        self.by_name: dict[str, list[Form]] = {}
        self.settled: set[Form] = set()  # a person said whose these are, every mention of them

    def apply(self, decisions: Sequence[Decision]) -> None:
        """Apply merge, link, share, split, gender and keep; names that the book does not have are passed over."""
        for decision in decisions:
            groups = [g for g in map(self.bearer, decision.names) if g]
            forms = [f for f in map(self.form, decision.names) if f]
            if not groups or not forms:
                continue
            if decision.action in ("link", "split") and decision.by != "auto":
                self.settled.add(forms[0])
            if decision.action == "merge":
                self._merge(groups)
            elif decision.action == "link" and len(groups) > 1 and groups[0] is not groups[1]:
                self._move([forms[0]], groups[1])
            elif decision.action == "share" and len(groups) > 2:
                self.shared[forms[0]] = list(dict.fromkeys(groups[1:]))
                self._move([forms[0]], groups[1])
            elif decision.action == "split":
                self._split(forms)
            elif decision.action == "gender":
                for group in dict.fromkeys(groups):
                    group.gender = decision.value
            elif decision.action == "keep":
                for group in dict.fromkeys(groups):
                    group.fixed = True
            for group in dict.fromkeys(groups):
                group.evidence.append(f"{decision.by} decided: {decision.action} {', '.join(decision.names)}")
        self.groups = [g for g in self.groups if g.forms]

    def form(self, name: str) -> Form | None:
        """The most frequent form that is written so."""
        if not self.by_name:
            for form in [f for g in self.groups for f in g.forms]:
                for plain in form_names(form):
                    self.by_name.setdefault(plain, []).append(form)
        found = self.by_name.get(plain_name(name), [])
        return max(found, key=lambda f: (f.count, f.key), default=None)

    def bearer(self, name: str) -> Group | None:
        """The group that holds the name."""
        form = self.form(name)
        return next((g for g in self.groups if form in g.forms), None) if form else None

    def _merge(self, groups: list[Group]) -> None:
        first, *rest = dict.fromkeys(groups)
        for group in rest:
            first.forms += group.forms
            if first.gender == "unknown":
                first.gender = group.gender
            first.evidence += group.evidence
            group.forms = []
        self.groups = [g for g in self.groups if g.forms]

    def _move(self, forms: list[Form], into: Group) -> None:
        for group in self.groups:
            group.forms = [f for f in group.forms if f not in forms]
        into.forms += forms
        self.groups = [g for g in self.groups if g.forms]

    def _split(self, forms: list[Form]) -> None:
        home = next(g for g in self.groups if forms[0] in g.forms)
        if set(home.forms) == set(forms):
            return
        self._move(forms, group := Group(home.kind, []))
        self.groups.append(group)

    def give_out(self, linker: Linker) -> None:
        """Give every mention to its group; forms with several bearers mention by mention, by who is named nearby."""
        shared = dict(self.shared)
        for doubt in linker.doubts:
            home = next((g for g in self.groups if doubt.form in g.forms), None)
            if not any(first[0] == doubt.form.words[0] for first in doubt.chosen.firsts):
                continue  # a surname alone stays with its usual bearer; a first name goes to whom the scene names
            if home is None or doubt.form in shared or doubt.margin > 2.0 or doubt.form.titles or doubt.form in self.settled:
                continue
            others = [g for g in self.groups if g is not home and any(p in doubt.others for p in [g.person]) and g.count >= 3]
            if others:
                shared[doubt.form] = [home, *others]
        anchors: dict[int, list[int]] = {}
        for group in self.groups:
            anchors[id(group)] = sorted(s.start for f in group.forms if f not in shared for s in f.spans)
        for group in self.groups:
            for form in group.forms:
                for span in form.spans:
                    _nearest(span, shared[form], anchors).spans.append(span) if form in shared else group.spans.append(span)


def _nearest(span: Span, bearers: list[Group], anchors: dict[int, list[int]]) -> Group:
    """The usual bearer, unless another is named nearby and the usual one is far."""
    distances = [_distance(anchors[id(bearer)], span.start) for bearer in bearers]
    best = min(range(len(bearers)), key=lambda k: (distances[k], k))
    return bearers[best] if distances[best] <= _NEAR_CHARS and distances[0] > _FAR_CHARS else bearers[0]


def _distance(starts: list[int], at: int) -> float:
    k = bisect_left(starts, at)
    # What was named before counts more than what is named later.
    return min(at - starts[k - 1] if k else float("inf"), 2 * (starts[k] - at) if k < len(starts) else float("inf"))


def _things(forms: Sequence[Form]) -> list[Group]:
    """Places and other things; "Thornfield" and "Thornfield Hall" are one place."""
    groups: list[Group] = []
    heads: Counter[str] = Counter(f.words[0] for f in forms if len(f.words) == 2 and "form place-head" in f.signs)
    by_word: dict[tuple[str, str], Group] = {}
    for form in sorted(forms, key=lambda f: (len(f.words), -f.count, f.key)):
        key = (form.kind, " ".join(form.words))
        if len(form.words) == 2 and "form place-head" in form.signs and heads[form.words[0]] == 1 and (form.kind, form.words[0]) in by_word:
            by_word[form.kind, form.words[0]].forms.append(form)
            continue
        group = by_word.setdefault(key, Group(form.kind, []))
        if not group.forms:
            groups.append(group)
        group.forms.append(form)
    return groups
