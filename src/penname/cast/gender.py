"""Women and men: titles, kinship words beside the name, pronouns near it, and the census as a prior."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from penname.cast.context import Layout, pronoun_after
from penname.cast.evidence import title_gender
from penname.cast.forms import Form
from penname.cast.lexicon import Lexicon
from penname.cast.names import part_name
from penname.cast.vocabulary import FEMALE_KIN, KIN_TITLES, MALE_KIN

_KIN_BEFORE = re.compile(r"\b([a-z]+),?[ \t\n]+$")
_KIN_AFTER = re.compile(r",[ \t\n]+(?:(?:the|his|her|my|your|our|their|a|an)[ \t\n]+)?(?:[a-z]+[ \t\n]+)?([a-z]+)[ \t\n,.;]")
_PRONOUN_WEIGHT = 0.75  # log odds of one pronoun that follows a name; it belongs to somebody else about one time in four
_CENSUS_WEIGHT = 0.75
_SURE = 1.1  # log odds from which a gender is given


@dataclass(slots=True)
class GenderTally:
    """What speaks for a woman and for a man."""

    titles: Counter[str] = field(default_factory=Counter)
    kin: Counter[str] = field(default_factory=Counter)
    pronouns: Counter[str] = field(default_factory=Counter)
    words: Counter[str] = field(default_factory=Counter)  # kinship words beside the name
    census: float = 0.0  # log odds of a man, from first names

    def merge(self, other: GenderTally) -> None:
        """Add another tally to this one."""
        self.titles += other.titles
        self.kin += other.kin
        self.words += other.words
        self.pronouns += other.pronouns
        if abs(other.census) > abs(self.census):
            self.census = other.census

    def log_odds(self) -> float:
        """Log odds that this is a man."""
        pronouns = self.pronouns["male"] - self.pronouns["female"]
        total = self.pronouns.total()
        # Pronouns of one scene are no independent witnesses: their weight grows with the square root from ten on.
        damping = 1.0 if total <= 10 else math.sqrt(10 / total)
        return _CENSUS_WEIGHT * self.census + _PRONOUN_WEIGHT * damping * pronouns + 1.5 * (self.kin["male"] - self.kin["female"])

    def wife(self) -> float:
        """From -1 to 1: whether the words beside a woman's name are those of a wife or of a daughter."""
        score = sum(self.words[w] for w in ("wife", "widow", "mother")) - sum(
            self.words[w] for w in ("daughter", "girl", "maiden", "heiress")
        )
        return max(-1.0, min(1.0, score / 2))

    def gender(self) -> str:
        """female, male or unknown; titles outrank everything else."""
        if self.titles:
            female, male = self.titles["female"], self.titles["male"]
            if female != male:
                return "female" if female > male else "male"
        odds = self.log_odds()
        return "male" if odds >= _SURE else "female" if odds <= -_SURE else "unknown"

    def why(self) -> str:
        """The tally as a sentence."""
        parts = []
        if self.titles:
            parts.append("titles " + ", ".join(f"{g} {n}" for g, n in sorted(self.titles.items())))
        if self.pronouns:
            parts.append("pronouns " + ", ".join(f"{g} {n}" for g, n in sorted(self.pronouns.items())))
        if self.census:
            parts.append(f"the census says {'male' if self.census > 0 else 'female'}")
        return "; ".join(parts) or "nothing speaks for either"


def tally_genders(forms: Iterable[Form], layout: Layout, starts: list[int], lexicon: Lexicon) -> dict[Form, GenderTally]:
    """A tally for each person form; ``starts`` are the starts of all names in the text, sorted, and end the search for a pronoun."""
    follower = dict(zip(starts, [*starts[1:], len(layout.text)], strict=False))
    tallies: dict[Form, GenderTally] = {}
    for form in forms:
        tally = tallies[form] = GenderTally()
        titled = title_gender(form.titles) or (title_gender(form.words) if len(form.words) == 1 and form.words[0] in KIN_TITLES else "")
        if titled:
            tally.titles[titled] += form.count
        first = part_name(*form.key).first[0]
        if not (form.titles and len(form.words) == 1):
            tally.census = census_log_odds(first, lexicon) or _by_look(first, len(form.words) == 1)
        step = max(1, form.count // 60)  # sixty witnesses are enough
        for span in form.spans[::step]:
            _witness(layout, span.start, span.end, follower.get(span.start, span.end + 200), tally)
    return tallies


def _witness(layout: Layout, start: int, end: int, stop: int, tally: GenderTally) -> None:
    text = layout.text
    before = _KIN_BEFORE.search(text, max(0, start - 24), start)
    word = before.group(1) if before else ""
    if not _kin(word):
        after = _KIN_AFTER.match(text, end, end + 48)
        word = after.group(1) if after else ""
    if _kin(word):
        tally.kin[_kin(word)] += 1
        tally.words[word] += 1
    if layout.quoted(start):
        return
    pronoun = pronoun_after(text, end, min(stop, end + 160))
    if pronoun:
        tally.pronouns[pronoun] += 1


def _kin(word: str) -> str:
    return "male" if word in MALE_KIN else "female" if word in FEMALE_KIN else ""


def census_log_odds(first: str, lexicon: Lexicon) -> float:
    """Log odds of a man for a first name, from -3 to 3; short forms take the mean of the names they stand for."""
    entry = lexicon.first_names.get(first.capitalize())
    if entry is None:
        full = [lexicon.first_names[name][0] for name in lexicon.full_forms.get(first.capitalize(), ()) if name in lexicon.first_names]
        if not full:
            return 0.0
        share = sum(full) / len(full)
    else:
        share = entry[0]
    share = min(0.95, max(0.05, share))
    return math.log((1 - share) / share)


def _by_look(name: str, bare: bool) -> float:
    """Log odds of a man for a name that no list has: foreign women's names end in -a, and a bare surname is a man's."""
    return -1.2 if name.endswith("a") else 1.5 if bare else 0.0
