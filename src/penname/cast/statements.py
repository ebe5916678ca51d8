"""Sentences that say outright that two names are one person's: "Miss Hamilton, now Mrs. Smith", "her real name is Annie"."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise

from penname.cast.context import Layout
from penname.cast.forms import Form

Mention = tuple[int, int, Form]
Wedding = tuple[int, Form, Form]  # where, the woman, the man
_OWN = r"(?:real|own|right|true|full|proper|first|christian|given|maiden|mortal|other|baptismal)"
_IS = r"(?: is| was|['’]s|,)"
_BETWEEN = re.compile(
    r"(?:, | \()(?:now|formerly|once|alias|otherwise),? "
    r"|(?:,| was| is| had been| has been) (?:always |commonly |usually )?(?:called|nicknamed|surnamed|christened|dubbed) [\"“'‘]?"
    r"|[.,]?[\"”]? ?[\"“]?(?:who was |who is )?(?:better |generally |commonly |usually )?known (?:\w+ ){0,4}as "
    rf"|,? whose (?:{_OWN} )?name (?:was|is) "
    rf"|['’]s {_OWN} name{_IS} "
    r"|,? or,? as (?:\w+ ){1,6}call(?:ed|s)? (?:him|her|it|himself|herself),? [\"“'‘]?",
    re.IGNORECASE,
)
_OR = re.compile(r"(?:, |--|—| )?\(?or,? [\"“'‘]?", re.IGNORECASE)
_AS_CALLED = re.compile(r"[\"”'’]?(?:(?:,|--|—)\s*as\s+\w+\s+(?:\w+\s+){0,4}call|\s+for\s+short\b)")
_OWNED_AFTER = re.compile(rf"['’]s {_OWN} name\b", re.IGNORECASE)
_THEIR = re.compile(rf"\b(?:(his)|her) {_OWN} name{_IS} $", re.IGNORECASE)
_MINE = re.compile(rf"(?<!not )\bmy (?:{_OWN} )?name(?: is|['’]s) $", re.IGNORECASE)
_WEDDING = re.compile(
    r",? the (?:wife|bride|widow|betrothed|husband) of |['’ ]s (?:marriage|engagement|wedding) (?:with|to) "
    r"|['’ ]s (?:wife|bride|husband),? "
    r"|,? and (?:his|her) (?:wife|bride|husband),? "
    r"|(?: is| was| had| has|['’]s)?(?: been)?(?: just)?(?: to be| going to be)? (?:married|engaged|betrothed)(?: to)? "
    r"|(?: is| was)(?: going)? to marry |['’ ]s marrying "
)
_GAP_CHARS = 60
_BACK_CHARS = 300  # so far back the owner of "his real name" is looked for


def stated(
    layout: Layout, mentions: Sequence[Mention], speakers: dict[int, Form], gender: Callable[[Form], str]
) -> list[tuple[Form, tuple[Form, ...]]]:
    """Names with the forms whose person is said to bear them, the likeliest first.

    ``mentions`` are in order; ``speakers`` names the speaker of a paragraph; ``gender`` tells that of a form.
    """
    text = layout.text
    starts = [start for start, _, _ in mentions]
    found: list[tuple[Form, tuple[Form, ...]]] = []
    for left, right in pairwise(mentions):
        if right[0] - left[1] > _GAP_CHARS:
            continue
        between = _plain(text[left[1] : right[0]])
        if (
            _BETWEEN.fullmatch(between)
            or (between in (" was ", " is ") and _OWNED_AFTER.match(text, right[1]))
            or (_OR.fullmatch(between) and _AS_CALLED.match(text, right[1]))
        ):
            found.append((right[2], (left[2],)))
    for match in re.finditer(r"\b(?:his|her|my)\s+(?:\w+\s+)?name\b", text, re.IGNORECASE):
        k = bisect_left(starts, match.end())
        if k == len(mentions) or starts[k] - match.end() > 6:
            continue
        start, _, form = mentions[k]
        before = _plain(text[max(0, start - _GAP_CHARS) : start])
        if _MINE.search(before) and layout.quoted(start):
            speaker = speakers.get(layout.paragraph(start))
            if speaker:
                found.append((form, (speaker,)))
        elif theirs := _THEIR.search(before):
            wanted = "male" if theirs.group(1) else "female"
            back = mentions[bisect_left(starts, match.start() - _BACK_CHARS) : k]
            owners = dict.fromkeys(other for _, end, other in reversed(back) if end <= match.start() and gender(other) == wanted)
            found.append((form, tuple(owners)))
    return found


def weddings(layout: Layout, mentions: Sequence[Mention], gender: Callable[[Form], str]) -> list[Wedding]:
    """Where the text says that a woman and a man marry: "Evie is going to marry Percy Cahill"; in order."""
    found: list[Wedding] = []
    for left, right in pairwise(mentions):
        if right[0] - left[1] > _GAP_CHARS or not _WEDDING.fullmatch(_plain(layout.text[left[1] : right[0]])):
            continue
        pair = {gender(form): form for form in (left[2], right[2])}
        if pair.keys() == {"female", "male"}:
            found.append((left[0], pair["female"], pair["male"]))
    return found


def _plain(text: str) -> str:
    return re.sub(r"\s+", " ", text)
