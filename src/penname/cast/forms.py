"""The forms of a text: every name as it is written, its mentions, and what they say together."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from penname.cast.detect import MAYBE, Span, calling_names
from penname.cast.evidence import form_signs, mention_signs
from penname.cast.kinds import Scores, best_kind, weigh
from penname.cast.lexicon import Lexicon
from penname.cast.scan import MID, Scan
from penname.cast.vocabulary import CAPITAL_PARTICLES, MONTHS_DAYS, PLACE_HEADS

Key = tuple[tuple[str, ...], tuple[str, ...]]  # (titles, words)


@dataclass(slots=True, eq=False)
class Form:
    """One way of writing a name: titles and words, all its mentions, and the kind they speak for."""

    key: Key
    spans: list[Span] = field(default_factory=list)
    mention_signs: list[list[str]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)  # of mention signs
    signs: dict[str, float] = field(default_factory=dict)
    scores: Scores = (0.0, 0.0, 0.0)
    kind: str = "none"
    _shown: str = ""

    @property
    def titles(self) -> tuple[str, ...]:
        """Keys of the titles before the name, in order."""
        return self.key[0]

    @property
    def words(self) -> tuple[str, ...]:
        """Keys of the words of the name, in order."""
        return self.key[1]

    @property
    def count(self) -> int:
        """Number of mentions."""
        return len(self.spans)

    @property
    def shown(self) -> str:
        """The form as it is most often written."""
        if not self._shown:
            surfaces = Counter(" ".join(span.surface.split()) for span in self.spans)
            self._shown = min(surfaces, key=lambda s: (-surfaces[s], s))
        return self._shown

    def has_sign(self, start: str) -> bool:
        """Whether a sign of the form itself begins so."""
        return any(sign.startswith(start) for sign in self.signs)

    def share(self, *signs: str) -> float:
        """Mentions that carry one of the signs, as a share (signs may overlap)."""
        return sum(self.counts[sign] for sign in signs) / len(self.spans)


def collect_forms(scan: Scan, spans: list[Span], classes: Mapping[str, str], lexicon: Lexicon) -> dict[Key, Form]:
    """Every form with its signs, not yet judged."""
    forms: dict[Key, Form] = {}
    for span in spans:
        key = (span.titles, span.words)
        form = forms.get(key)
        if form is None:
            form = forms[key] = Form(key)
        form.spans.append(span)
        form.mention_signs.append(mention_signs(scan, span, lexicon))
    _mark_lists(scan.text, spans, forms, lexicon)
    for form in forms.values():
        for row in form.mention_signs:
            form.counts.update(row)
    titled_last: Counter[str] = Counter()
    titled_first: Counter[str] = Counter()
    named_last: Counter[str] = Counter()
    uses: Counter[str] = Counter()
    for form in forms.values():
        form.signs = _signs(form, scan, classes, lexicon)
        for word in {form.words[0], form.words[-1]}:
            uses[word] += form.count
        if form.titles:
            titled_last[form.words[-1]] += form.count
            titled_first[form.words[0]] += form.count
        elif "form first-name+" in form.signs:
            named_last[form.words[-1]] += form.count
    for form in forms.values():
        last, first = form.words[-1], form.words[0]
        form.signs["titled-last"] = titled_last[last] / (uses[last] + 1)
        form.signs["named-last"] = min(1.0, named_last[last] / (uses[last] + 1) * 3)
        form.signs["titled-first"] = titled_first[first] / (uses[first] + 1) if len(form.words) > 1 else 0.0
    _mark_families(forms, scan)
    return forms


_LIST = re.compile(r",?[ \n]+(?:(?:and|or)[ \n]+)?|,[ \n]*")


def _mark_lists(text: str, spans: list[Span], forms: dict[Key, Form], lexicon: Lexicon) -> None:
    """Names that stand in one list with places or with people: "Siberia, Spitzbergen, Nova Zembla"."""
    cursors: Counter[Key] = Counter()
    kinds: list[str] = []
    rows: list[list[str]] = []
    for span in spans:
        key = (span.titles, span.words)
        rows.append(forms[key].mention_signs[cursors[key]])
        cursors[key] += 1
        name = " ".join(word.capitalize() for word in span.words)
        entry = lexicon.first_names.get(name)
        place = not span.titles and lexicon.places.get(name, 0) >= 2
        kinds.append("place" if place else "person" if span.titles or (entry and entry[1] < 500) else "")
    for k, (left, right) in enumerate(pairwise(spans)):
        between = right.start - left.end
        if between > 8 or not _LIST.fullmatch(text, left.end, right.start):
            continue
        if kinds[k]:
            rows[k + 1].append(f"list {kinds[k]}")
        if kinds[k + 1]:
            rows[k].append(f"list {kinds[k + 1]}")


def _signs(form: Form, scan: Scan, classes: Mapping[str, str], lexicon: Lexicon) -> dict[str, float]:
    signs = {"bias": 1.0, "count": min(math.log1p(form.count), 5.0) / 5}
    for sign in form_signs(form.words, form.titles, lexicon):
        signs[f"form {sign}"] = 1.0
    for sign, count in form.counts.items():
        signs[f"share {sign}"] = count / (form.count + 1.0)
    if form.count >= 4:  # where a name stands often, how it is mostly used says more than the sum of its shares
        signs["place use"] = float(form.share("in", "city-of") >= 0.15)
        signs["person use"] = float(form.share("said", "says", "did", "who", "call") >= 0.25)
    first, last = form.words[0], form.words[-1]
    signs["common"] = max(0.0, math.log10(lexicon.per_million(last) + 0.1) + 1) / 3
    signs["common first"] = max(0.0, math.log10(lexicon.per_million(first) + 0.1) + 1) / 3 if len(form.words) > 1 else 0.0
    lower = scan.lower[last]
    signs["lower"] = lower / (lower + scan.mid[last] + scan.initial[last] + 1.0)
    signs["maybe"] = float(classes.get(last) == MAYBE)
    signs["maybe first"] = float(len(form.words) > 1 and classes.get(first) == MAYBE)
    signs["forced only"] = float(all(span.place != MID for span in form.spans))
    signs["caps only"] = float(all(span.tokens[-1].caps for span in form.spans))
    if form.spans[0].joined:
        signs[f"joined {form.spans[0].joined}"] = 1.0
    return signs


def _mark_families(forms: dict[Key, Form], scan: Scan) -> None:
    """A plural of a known name is a family ("the Reeds"); so may be an unknown plural after "the"."""
    known = {
        word for form in forms.values() for word in (form.words[0], form.words[-1]) if form.count > 1 or form.titles or len(form.words) > 1
    }
    for form in forms.values():
        word = form.words[-1]
        if form.titles or not CAPITAL_PARTICLES.issuperset(form.words[:-1]) or not word.endswith("s") or word.endswith("ss"):
            continue  # "the Reeds", "the Van Rensselaers"
        if word[:-1] in known or (word.endswith("es") and word[:-2] in known):
            form.signs["family plural"] = 1.0
            form.signs["family plural the"] = form.share("the")
        elif form.share("the") >= 0.5 and not scan.lower[word]:
            form.signs["unknown plural"] = 1.0


def mention_scores(form: Form, index: int) -> Scores:
    """Scores of one mention: those of its form and those of the signs around it."""
    around = weigh({f"here {sign}": 1.0 for sign in form.mention_signs[index]})
    return tuple(a + b for a, b in zip(form.scores, around, strict=True))  # type: ignore[return-value]


def judge_forms(forms: dict[Key, Form], scan: Scan, lexicon: Lexicon) -> None:
    """Give each form its kind: that of its mentions taken together."""
    for form in sorted(forms.values(), key=lambda f: -len(f.words)):
        form.scores = weigh(form.signs)
        # LitBank is too small to teach it: a first name with a surname is a person's, and so is that surname alone.
        if (
            ("form first-name+" in form.signs and "form place-head" not in form.signs)
            or form.signs["named-last"] > 0.3
            or (form.signs["titled-last"] > 0.25 and form.share("in", "near", "the") < 0.1)
        ):
            form.scores = (form.scores[0] + 1.2, *form.scores[1:])
        elif "form first-name" in form.signs and not form.signs["maybe"] and not form.has_sign("form gazetteer"):
            sure = not scan.lower[form.words[0]] and not lexicon.per_million(form.words[0])
            form.scores = (form.scores[0] + (1.6 if sure else 0.8), *form.scores[1:])
    surnames = {
        f.words[-1]
        for f in forms.values()
        if len(f.words) > 1 and not f.titles and "form place-head" not in f.signs and _mean_kind(f) == "person"
    }
    callings = calling_names(scan)
    for form in forms.values():
        if len(form.words) == 1 and form.words[0] in surnames:
            form.scores = (form.scores[0] + 1.2, *form.scores[1:])
        form.kind = _mean_kind(form)
        calling = len(form.words) == 1 and form.words[0] in callings and (form.count > 1 or form.counts["call"])
        if form.titles or (calling and form.kind == "none"):
            form.kind = "person"
        elif form.counts["named"] and "form first-name" in form.signs and form.count < 30:
            form.kind = "person"  # "Her name was Victoria", whatever else is called so
        elif _is_praised_land(form, lexicon) or (form.words[-1] in PLACE_HEADS and len(form.words) == 1 and form.share("owned") >= 0.5):
            form.kind = "place"
        elif form.words[-1] in surnames and not form.has_sign("form gazetteer"):
            pass  # "the House of Usher" says nothing against Roderick Usher
        elif form.count >= 8 and form.share("in", "city-of") >= 0.25 and form.share("said", "says", "did", "who", "call") < 0.1:
            form.kind = "place"
        elif len(form.words) == 1 and form.words[0] in MONTHS_DAYS:
            acts = form.share("said", "says", "did", "call", "is")
            form.kind = "person" if form.count >= 8 and acts > 0.35 and form.share("in", "the") < 0.1 else "none"
        elif (
            form.kind == "none" and form.signs["maybe"] and form.scores[1] > form.scores[2] - 1.2 and form.share("the", "in", "near") >= 0.4
        ):
            form.kind = "place"  # "the Battery": an ordinary word that names a place here
        if form.kind == "none" and _is_named_ground(form):
            form.kind = "place"
        if form.kind == "none" and _is_named_thing(form, scan, lexicon):
            form.kind = "person" if _is_rare_surname(form, lexicon) or _has_family(form, forms) else "other"


def _mean_kind(form: Form) -> str:
    totals = [0.0, 0.0, 0.0]
    for index in range(form.count):
        for k, score in enumerate(mention_scores(form, index)):
            totals[k] += score / form.count
    return best_kind((totals[0], totals[1], totals[2]))


def _is_named_ground(form: Form) -> bool:
    """Whether a lone kind of place is one place's name here: "the Grange", "the Hollow"."""
    stands = form.share("the", "in", "at", "to", "from", "near", "of")
    return len(form.words) == 1 and form.words[0] in PLACE_HEADS and form.count > 1 and stands > 0.5 and form.signs["lower"] < 0.9


def _is_rare_surname(form: Form, lexicon: Lexicon) -> bool:
    """Whether a lone unknown word is a surname of the census, or the plural of one, that stands as a person's would."""
    name = form.words[-1].capitalize()
    known = name in lexicon.surnames or (name.endswith("s") and name[:-1] in lexicon.surnames and not form.share("in", "to", "from"))
    return len(form.words) == 1 and known and form.scores[0] > form.scores[1] and form.share("the") < 0.5 + name.endswith("s")


def _is_praised_land(form: Form, lexicon: Lexicon) -> bool:
    """Whether an adjective that is no first name stands before a place that everybody knows: "Merry England"."""
    first, last = form.words[0], form.words[-1].capitalize()
    adjective = "a" in lexicon.words.get(first, ("", 0.0))[0] and not lexicon.is_first_name(first.capitalize())
    return len(form.words) == 2 and adjective and lexicon.places.get(last, 0) == 3


def _has_family(form: Form, forms: dict[Key, Form]) -> bool:
    """Whether the book speaks of the family of that name: "an Elphberg", since "the Elphbergs" are known."""
    family = forms.get(((), (form.words[-1] + "s",)))
    return family is not None and len(form.words) == 1 and family.count > 1 and family.share("the") >= 0.5


def _is_named_thing(form: Form, scan: Scan, lexicon: Lexicon) -> bool:
    """Whether a form that is no person and no place is yet a name: a ship, a house, a company, a newspaper."""
    if "form thing-head" in form.signs and form.signs["maybe first"] == 0:
        return True
    if form.signs["maybe"] or form.signs["forced only"] or form.signs["caps only"] or "form people-ending" in form.signs:
        return False
    return all(not scan.lower[word] and not lexicon.per_million(word) for word in form.words) and form.words[-1] not in MONTHS_DAYS


def _part_neighbours(forms: dict[Key, Form]) -> dict[Key, Form]:
    """Cut a run that stands once and is two names side by side: "to Margaret Oniton seemed", "from Freetown John Clayton and"."""
    kept: dict[Key, Form] = {}
    for key, form in forms.items():
        halves = _neighbours(form, forms)
        if not halves:
            kept[key] = form
            continue
        span = form.spans[0]
        cut = len(halves[0].words)
        for half, tokens in zip(halves, (span.tokens[:cut], span.tokens[cut:]), strict=True):
            start, end = tokens[0].start, tokens[-1].end
            surface = span.surface[start - span.start : end - span.start]
            half.spans.append(Span(start, end, (), half.words, surface, tokens[0].place, tokens))
            half.mention_signs.append([])
    for form in kept.values():
        order = sorted(range(form.count), key=lambda k: form.spans[k].start)
        form.spans = [form.spans[k] for k in order]
        form.mention_signs = [form.mention_signs[k] for k in order]
    return kept


def _neighbours(form: Form, forms: dict[Key, Form]) -> tuple[Form, Form] | None:
    """The person and the place whose names stand side by side in a form; both must stand alone elsewhere."""
    if form.titles or form.count > 1 or len(form.words) == 1 or form.spans[0].joined or len(form.spans[0].tokens) != len(form.words):
        return None
    for cut in range(1, len(form.words)):
        first, last = forms.get(((), form.words[:cut])), forms.get(((), form.words[cut:]))
        if not first or not last:
            continue
        pair = len(form.words) == 2
        kinds = ("person", "place") if pair else ("place", "person")  # two words may as well be a first name and a surname
        if (first.kind, last.kind) == kinds and min(first.count, last.count) >= (5 if pair else 2):
            return first, last
    return None


def gather_forms(scan: Scan, spans: list[Span], classes: Mapping[str, str], lexicon: Lexicon) -> dict[Key, Form]:
    """Forms by key, with their kinds; forms that are most likely no names are left out."""
    forms = collect_forms(scan, spans, classes, lexicon)
    judge_forms(forms, scan, lexicon)
    return {key: form for key, form in _part_neighbours(forms).items() if form.kind != "none"}
