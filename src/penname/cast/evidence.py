"""What stands around a name: signs of a person, of a place, of neither, and of a woman or a man."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from penname.cast.detect import Span
from penname.cast.lexicon import Lexicon
from penname.cast.scan import Scan
from penname.cast.vocabulary import (
    FEMALE_TITLES,
    MALE_TITLES,
    PLACE_HEADS,
    PLACE_OPENERS,
    PLACE_PREPOSITIONS,
    SPEECH_VERBS,
    THING_HEADS,
    WEAK_PLACE_PREPOSITIONS,
)

_BEFORE = re.compile(r"(?:([^\W\d_]+)([,.;:!?]?)[ \t\n]+)?([^\W\d_]+)([,;:.!?]?)[ \t\n]*[\"“”‘'’_(-]*$")
_AFTER = re.compile(r"(['’]s?(?!\w))?_?([,.;:!?)\"”-]*)[ \t\n]*[\"“_]?[ \t\n]*([^\W\d_]+(?:['’][a-z]+)?)?")
_DETERMINERS = frozenset("the a an this that these those some any no every each another such".split())
_POSSESSIVES = frozenset("my his her our your their".split())
_AUXILIARIES = frozenset(
    "is was has had would could should might must may can shall will did does do seemed looked".split()
)
_SPEECH_BEFORE = SPEECH_VERBS - {"told", "called", "thought", "began", "returned"}
_PERSON_BEFORE = frozenset("dear poor dearest little old young told asked married and with by for than like".split())


@dataclass(slots=True)
class Evidence:
    """Counts over the mentions of one form."""

    count: int = 0
    signs: Counter[str] = field(default_factory=Counter)

    def share(self, *names: str) -> float:
        """Share of the mentions that carry one of the signs (they may overlap)."""
        return sum(self.signs[name] for name in names) / self.count if self.count else 0.0


def mention_signs(scan: Scan, span: Span, lexicon: Lexicon) -> list[str]:
    """The signs around one mention."""
    text, signs = scan.text, []
    before = _BEFORE.search(text, max(0, span.start - 40), span.start)
    after = _AFTER.match(text, span.end, min(len(text), span.end + 40))
    previous, previous2, stop = "", "", ""
    if before:
        previous, stop = before.group(3).lower(), before.group(4)
        previous2 = (before.group(1) or "").lower() if not before.group(2) else ""
    possessive = bool(after and after.group(1))
    punctuation = after.group(2) if after else ""
    following_word = (after.group(3) or "") if after else ""
    following = following_word.lower()
    if previous and not stop:
        if previous in _DETERMINERS:
            signs.append("the")
        elif previous in _POSSESSIVES:
            signs.append("my")
        elif previous in ("in", "at"):
            signs.append("in")
        elif previous in PLACE_PREPOSITIONS:
            signs.append("near")
        elif previous in WEAK_PLACE_PREPOSITIONS:
            signs.append("from" if previous == "from" else "to" if previous in ("to", "through", "via") else "of")
        elif previous in _SPEECH_BEFORE:
            signs.append("said")
        elif previous in _PERSON_BEFORE:
            signs.append("with")
    if possessive:
        signs.append("'s")
    elif not punctuation and following_word.islower():
        if following in SPEECH_VERBS:
            signs.append("says")
        elif following in _AUXILIARIES:
            signs.append("is")
        elif lexicon.is_past(following):
            signs.append("did")
        elif following in ("who", "whose", "whom", "himself", "herself"):
            signs.append("who")
        elif following == "and":
            signs.append("and")
    elif punctuation[:1] == "," and following in ("who", "whose", "whom"):
        signs.append("who")
    if punctuation[:1] in (",", "!", "?", ".") and punctuation and (stop == "," or span.tokens[0].quoted) and previous2 not in PLACE_PREPOSITIONS:
        signs.append("call")
    if span.tokens[0].quoted and punctuation[1:2] in ("\"", "”", "'", "’") and stop != ",":
        signs.append("quoted")
    return signs


def form_signs(words: tuple[str, ...], titles: tuple[str, ...], lexicon: Lexicon) -> list[str]:
    """What the form itself says, whatever stands around it."""
    signs = []
    last, first = words[-1], words[0]
    if titles:
        signs.append("title")
    if len(words) > 1 and last in PLACE_HEADS:
        signs.append("place-head")
    if len(words) > 1 and first in PLACE_OPENERS:
        signs.append("place-opener")
    if len(words) > 1 and last in THING_HEADS:
        signs.append("thing-head")
    name = first.capitalize()
    entry = lexicon.first_names.get(name)
    if entry and entry[1] < 700 or name in lexicon.full_forms and lexicon.per_million(first) < 1:
        signs.append("first-name" if len(words) == 1 else "first-name+")
    elif entry and entry[1] < 2500:
        signs.append("rare-first-name")
    full = " ".join(w.capitalize() for w in words)
    strength = lexicon.places.get(full, 0)
    if strength:
        signs.append(f"gazetteer{strength}")
    if len(words) == 1 and lexicon.surnames.get(name, 99999) < 3000:
        signs.append("surname")
    if len(words) == 1 and re.search(r"(?:shire|ville|bury|burgh|borough|mouth|minster|cester|wick|thorpe|stead|chester|grad|stan|land)$", first):
        signs.append("place-ending")
    if len(words) == 1 and re.search(r"(?:ese|ish|ism|ist|ists|ians?|ians|eans?|ites?|men|woman|women)$", first):
        signs.append("people-ending")
    return signs


def title_gender(titles: tuple[str, ...]) -> str:
    """The gender that the titles of a name imply, or nothing."""
    for title in titles:
        if title in FEMALE_TITLES:
            return "female"
    for title in titles:
        if title in MALE_TITLES:
            return "male"
    return ""
