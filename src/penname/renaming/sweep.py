"""The second look over a book: name words and names that stand outside the cast's mentions, and signatures by initials."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from penname.core.values import Entity, Mention
from penname.renaming.dictionary import bare
from penname.renaming.namewords import NameWord
from penname.renaming.survey import Piece, Pieces, Slot, word_piece
from penname.renaming.words import SURNAME_TITLES, WORD, base_word, is_capital, split_name

_CAPITALISED = re.compile(
    r"(?<![^\W\d_])[A-ZÀ-ÖØ-ÞŒŠŽ][^\W\d_]*(?:['’][^\W\d_]+)*|(?<![^\W\d_])[a-z]['’][A-ZÀ-Þ][^\W\d_]+(?:['’][^\W\d_]+)*"
)
_INITIALS = re.compile(r"(?<![\w.])[A-Z]\.(?:[ -]?[A-Z]\.)+(?!\w)")
_NO_SIGNATURES = frozenset(
    {"MP", "JP", "MD", "DD", "MA", "BA", "AM", "PM", "PS", "NB", "RN", "US", "USA", "AD", "BC", "QC", "KC", "LLD", "RSVP"}
)
_COMMA_BEFORE = re.compile(r",\s+$")
_TITLE_BEFORE = re.compile(r"(?:\b|_)([A-Z][a-zé]+)\.?\s+$")

Span = tuple[int, int]


def sweep(
    text: str,
    words: Mapping[str, NameWord],
    slots: Sequence[Slot],
    closed: Sequence[Span],
    phrases: Mapping[str, str],
    mentions: Sequence[Mention],
) -> list[Slot]:
    """The given slots, and one for every name that stands outside them and outside the ``closed`` spans."""
    taken = sorted([(slot.start, slot.end) for slot in slots] + list(closed))
    found = list(slots)
    if phrases:
        extra = [
            Slot(*span, phrases[" ".join(text[span[0] : span[1]].split())], loose_pieces(text[span[0] : span[1]], words, sure=True))
            for span in _free(_any_of(phrases), text, taken)
        ]
        found += extra
        taken = sorted(taken + [(slot.start, slot.end) for slot in extra])
    waiting = iter(mentions)
    mention = next(waiting, None)
    known: dict[str, tuple[Pieces, Pieces]] = {}  # surface -> its pieces where it is sure that it is a name, and where it is not
    for start, end in _free(_CAPITALISED, text, taken):
        surface = text[start:end]
        if surface not in known:
            known[surface] = loose_pieces(surface, words, sure=True), loose_pieces(surface, words, sure=False)
        sure, unsure = known[surface]
        pieces = sure if sure == unsure or _after_title(text, start) else unsure
        keys = [piece.key for piece in pieces if isinstance(piece, Piece)]
        if not keys:
            continue
        while mention and mention.end <= start:
            mention = next(waiting, None)
        word = words[keys[0]]
        inside = mention.entity_id if mention and mention.start <= start and mention.entity_id in word.owners else None
        found.append(Slot(start, end, inside or word.owner, pieces))
    return found


def _any_of(phrases: Mapping[str, str]) -> re.Pattern[str]:
    longest_first = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return re.compile(r"(?<!\w)(?:" + "|".join(r"\s+".join(map(re.escape, p.split())) for p in longest_first) + r")(?![^\W_])")


def _free(pattern: re.Pattern[str], text: str, taken: Sequence[Span]) -> Iterator[Span]:
    """The matches that touch none of the sorted spans."""
    i = 0
    for match in pattern.finditer(text):
        start, end = match.span()
        while i < len(taken) and taken[i][1] <= start:
            i += 1
        if i >= len(taken) or taken[i][0] >= end:
            yield start, end


def _after_title(text: str, at: int) -> bool:
    before = _TITLE_BEFORE.search(text, max(0, at - 16), at)
    return bool(before) and bare(before.group(1)) in SURNAME_TITLES if before else False


def loose_pieces(surface: str, words: Mapping[str, NameWord], sure: bool) -> Pieces:
    """Pieces of a span that is no mention; ordinary words change only where it is sure that they are names."""
    out: list[str | Piece] = []
    at = 0
    for match in WORD.finditer(surface):
        token = base_word(match.group())
        candidates = [(match.start(), token)]
        if ("'" in token or "’" in token) and bare(token) not in words:
            candidates = [(match.start() + part.start(), part.group()) for part in re.finditer(r"[^\W\d_]+", token)]
        for start, candidate in candidates:
            piece = word_piece(candidate, words) if is_capital(candidate) else None
            # "Wills" may be nothing but a name where "will" is a word.
            if piece and (sure or not words.get(bare(candidate), words[piece.key]).ordinary):
                out += (surface[at:start], piece)
                at = start + len(candidate)
    out.append(surface[at:])
    return tuple(piece for piece in out if piece != "")


def signatures(text: str, words: Mapping[str, NameWord], slots: Sequence[Slot], renamed: Mapping[str, Entity]) -> list[Slot]:
    """Slots for "J. E." where a person has a name with these initials: the one who is met most often."""
    bearers: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for entity in renamed.values():
        for name in entity.names if entity.kind == "person" else ():
            keys = tuple(bare(part.text) for part in split_name(name) if part.kind == "name")
            if len(keys) > 1 and all(key in words and words[key].stem_of is None for key in keys):
                bearers["".join(words[key].text[0] for key in keys)].setdefault(entity.id, keys)
    out = []
    ends = {slot.end for slot in slots}
    for start, end in _free(_INITIALS, text, sorted((slot.start, slot.end) for slot in slots)):
        comma = _COMMA_BEFORE.search(text, max(0, start - 4), start)
        if comma and comma.start() in ends:
            continue  # "the Rev. T. Waters, C. C.": what he is
        letters = text[start:end]
        initials = "".join(c for c in letters if c.isupper())
        owners = bearers.get(initials, {})
        if owners and initials not in _NO_SIGNATURES:
            entity_id = min(owners, key=lambda id: (-sum(words[key].owners[id] for key in owners[id]), id))
            keys = owners[entity_id]
            pieces: list[str | Piece] = []
            for key, after in zip(keys, re.split(r"[A-Z]", letters)[1:], strict=True):
                pieces += (Piece(key, "initial"), after)
            out.append(Slot(start, end, entity_id, tuple(pieces)))
    return out
