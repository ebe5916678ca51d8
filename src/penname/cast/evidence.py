"""What stands around a name: signs of a person, of a place, of neither, and of a woman or a man."""

# ruff: noqa: SIM905 - word lists read better as text
from __future__ import annotations

import re
from collections.abc import Iterable

from penname.cast.detect import Span
from penname.cast.lexicon import Lexicon
from penname.cast.scan import MID, Scan
from penname.cast.vocabulary import (
    FEMALE_KIN,
    FEMALE_TITLES,
    MALE_KIN,
    MALE_TITLES,
    MONTHS_DAYS,
    PLACE_HEADS,
    PLACE_OPENERS,
    PLACE_PREPOSITIONS,
    SPEECH_VERBS,
    THING_HEADS,
)

_BEFORE = re.compile(r"(?:([^\W\d_]+)([,.;:!?]?)[ \t\n]+)?([^\W\d_]+)([,;:.!?]?)[ \t\n]*[\"“”‘'’_(-]*$")
_OWNER = re.compile(r"\b(?!(?:Where|That|He|She|It|What|There|Here|Who|How|When|Let)['’])[A-Z][^\W\d_]*['’]s[ \t\n]+$")
_AFTER = re.compile(r"(['’]s?(?!\w)| s(?= ))?_?([,.;:!?)\"”-]*)[ \t\n]*[\"“_]?[ \t\n]*([^\W\d_]+(?:['’][a-z]+)?)?")


def _table(*rows: tuple[str, Iterable[str]]) -> dict[str, str]:
    # The first row that holds a word wins.
    table: dict[str, str] = {}
    for sign, words in rows:
        for word in words:
            table.setdefault(word, sign)
    return table


_PREVIOUS = _table(
    ("the", "the a an this that these those some any no every each another such".split()),
    ("my", "my his her our your their".split()),
    ("in", ("in", "at")),
    ("from", ("from",)),
    ("to", ("to", "through", "via")),
    ("of", ("of", "between", "off", "within", "outside", "beyond", "round")),
    ("said", SPEECH_VERBS - {"told", "called", "thought", "began", "returned", "left"}),
    ("named", "named called christened".split()),
    ("near", PLACE_PREPOSITIONS),
    ("dear", "dear poor dearest little old young darling".split()),
    ("kin", MALE_KIN | FEMALE_KIN | frozenset("cousin friend servant doctor lawyer child baby".split())),
    ("with", "told asked married and with by for than like that as when if but because while as".split()),
)
_FOLLOWING = _table(
    ("says", SPEECH_VERBS),
    ("is", "is was has had would could should might must may can shall will did does do seemed looked".split()),
    ("who", "who whose whom himself herself".split()),
    ("place-after", "street road river station square lane county valley hills mountains bridge hotel inn church coast harbour".split()),
    ("and", ("and",)),
    ("family", ("family", "household", "girls", "boys", "sisters", "brothers")),
)


def mention_signs(scan: Scan, span: Span, lexicon: Lexicon) -> list[str]:
    """The signs around one mention."""
    text, signs = scan.text, []
    before = _BEFORE.search(text, max(0, span.start - 48), span.start)
    after = _AFTER.match(text, span.end, min(len(text), span.end + 48))
    previous = previous2 = stop = ""
    if before:
        previous, stop = before.group(3).lower(), before.group(4)
        previous2 = (before.group(1) or "").lower() if not before.group(2) else ""
    possessive, punctuation, word = after.groups(default="") if after else ("", "", "")
    if previous and not stop:
        sign = _PREVIOUS.get(previous)
        if previous == "of" and previous2 in PLACE_HEADS:
            sign = "city-of"
        elif previous in ("is", "was") and previous2 == "name":
            sign = "named"
        if sign and not (possessive and word.islower() and sign in ("in", "from", "to", "near")):
            signs.append(sign)  # "in Clarke's library" says nothing of Clarke
        if previous == "s" and _OWNER.search(text, max(0, span.start - 24), span.start):
            signs.append("owned")  # "Lynde's Hollow"
        if sign == "the" and previous2 in ("in", "at"):
            signs.append("in-the")
    if possessive:
        signs.append("'s")
    elif not punctuation and word.islower():
        sign = _FOLLOWING.get(word) or ("did" if lexicon.is_past(word) else None)
        if sign:
            signs.append(sign)
    elif punctuation[:1] == ",":
        if word in ("who", "whose", "whom"):
            signs.append("who")
        elif word[:1].isupper() and word.capitalize() in lexicon.places:
            signs.append("place-next")
    quoted = span.tokens[0].quoted
    if punctuation[:1] in (",", "!", "?", ".") and punctuation and (stop == "," or quoted) and previous not in PLACE_PREPOSITIONS:
        signs.append("call")
    if previous in ("dear", "dearest") and punctuation[:1] in (",", "!", "?", "."):
        signs.append("dearly")
    if quoted and punctuation[-1:] in ('"', "”", "'", "’") and stop != "," and punctuation[:1] not in ("!", "?"):
        signs.append("quoted")
    if span.place != MID:
        signs.append("initial")
    return signs


def form_signs(words: tuple[str, ...], titles: tuple[str, ...], lexicon: Lexicon) -> list[str]:
    """What the form itself says, whatever stands around it."""
    last, first = words[-1], words[0]
    many = len(words) > 1
    name = first.capitalize()
    signs = ["many" if many else "one"]
    if titles:
        signs.append("title")
    if many and last in PLACE_HEADS:
        signs.append("place-head")
    if many and first in PLACE_OPENERS:
        signs.append("place-opener")
    if many and last in THING_HEADS:
        signs.append("thing-head")
    entry = lexicon.first_names.get(name)
    known = lexicon.is_first_name(name)
    if many and lexicon.places.get(last.capitalize(), 0) == 3:
        pass  # "Merry England"
    elif known or (many and _before_surname(name, last, lexicon)):
        signs.append("first-name+" if many else "first-name")
        if "place-head" in signs:
            signs.append("first-name+place-head")
    elif entry and entry[1] < 2500:
        signs.append("rare-first-name")
    strength = lexicon.places.get(" ".join(w.capitalize() for w in words), 0)
    if strength:
        signs.append(f"gazetteer{strength}")
    if lexicon.knows_surname(last.capitalize()):
        signs.append("surname+" if many else "surname")
    if _PLACE_ENDING.search(last):
        signs.append("place-ending")
    if _PEOPLE_ENDING.search(last):
        signs.append("people-ending")
    return signs


def _before_surname(name: str, last: str, lexicon: Lexicon) -> bool:
    """Whether a rare first name, or a short form that is a word as well, counts because a surname may follow: "Kit Small"."""
    entry = lexicon.first_names.get(name)
    rare = entry is not None and entry[1] < 1500 and lexicon.per_million(name.lower()) < 1
    short = name in lexicon.full_forms and name.lower() not in MONTHS_DAYS and last not in PLACE_HEADS
    return rare or (short and lexicon.knows_surname(last.capitalize()))


_PLACE_ENDING = re.compile(
    r"\w\w(?:shire|ville|bury|burgh|borough|mouth|minster|cester|wick|thorpe|stead|chester|grad|stan|land|ton|ham|ford|field|port|worth|wood|dale|ley)$"
)
_PEOPLE_ENDING = re.compile(r"\w\w(?:ese|ish|ism|ists?|ians?|eans?|ites?|men|woman|women|tion|ness|ity)$")


def title_gender(titles: tuple[str, ...]) -> str:
    """The gender that the titles of a name imply, or nothing."""
    for title in titles:
        if title in FEMALE_TITLES:
            return "female"
    for title in titles:
        if title in MALE_TITLES:
            return "male"
    return ""
