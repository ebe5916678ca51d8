"""Names in a beat line: replaced as in a copy, with the article before them put right. Also the one rule for a/an."""

from __future__ import annotations

import re
from collections.abc import Mapping

from penname.core.values import Beat

# By spelling, with the usual exceptions: a European, a ewer, a one, a unit, a use; an hour, an heir, an honest man.
VOWEL_SOUND = re.compile(
    r"(?!eu|ew|one\b|once|ou[ai])(?:[aeioàâäáéèêëíìîïóòôöæœ]|u(?!n[ai]|se|su|ti|ro|r[iy]|ly)|hon(?!or[aeé]|e\b|dur)|hour|heir)", re.I
)
ARTICLE_BEFORE = re.compile(r"(?<![\w’'-])(an?)(\s+[\"“‘'_(]*)$", re.I)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_ENDINGS = ("'s", "’s", "s'", "s’", "'", "’", "es", "s")


def starts_with_vowel(word: str) -> bool:
    """Whether "an" stands before the word."""
    return bool(VOWEL_SOUND.match(word))


def fitting_article(article: str, old: str, new: str) -> str:
    """The article that stands before ``new`` where ``article`` stood before ``old``; the author's own slips stay as they are."""
    before, after = starts_with_vowel(old), starts_with_vowel(new)
    if before == after or (article.lower() == "an") != before:
        return article
    if len(article) == 1:
        return article + ("N" if old[:2].isupper() and article.isupper() else "n")
    return article[0]


def new_surface(surface: str, names: Mapping[str, str], entity_id: str = "") -> str | None:
    """What ``surface`` becomes: looked up whole, without an ending ("Jane's"), or word by word. None where nothing is known."""
    flat = " ".join(surface.split())
    for ending in ("", *_ENDINGS):
        if flat.endswith(ending):
            stem = flat[: len(flat) - len(ending)]
            for key in (f"{entity_id}|{stem}", stem):
                if stem and key in names:
                    return _like(surface, names[key] + ending)
    found = False

    def swap(match: re.Match[str]) -> str:
        nonlocal found
        word = match.group()
        for ending in ("", *_ENDINGS):
            stem = word[: len(word) - len(ending)]
            if stem and word.endswith(ending):
                for form in (stem, stem.title() if stem.isupper() and len(stem) > 1 else stem):
                    new = names.get(f"{entity_id}|{form}", names.get(form))
                    if new is not None:
                        found = True
                        return (new.upper() if form != stem else new) + ending
        return word

    swapped = _WORD.sub(swap, surface)
    return swapped if found else None


def _like(surface: str, new: str) -> str:
    return new.upper() if surface.isupper() and len(surface) > 2 else new


def rename_beat(beat: Beat | str, names: Mapping[str, str]) -> str:
    """The beat's line with its names as they are in the copy whose ``RenamedCopy.names`` is given.

    A ``Beat``'s own name spans are replaced; in a plain line every key of ``names`` that stands as whole words is, longest first.
    Names that the copy keeps stay. An article before a changed name follows it.
    """
    text = beat if isinstance(beat, str) else beat.text
    spans = _spans(text, names) if isinstance(beat, str) else [(m.start, m.end, m.entity_id) for m in sorted(beat.names)]
    parts: list[str] = []
    at = 0
    for start, end, entity_id in spans:
        old = text[start:end]
        new = new_surface(old, names, entity_id)
        if new is None or start < at:
            continue
        between = text[at:start]
        article = ARTICLE_BEFORE.search(between)
        if article:
            between = between[: article.start(1)] + fitting_article(article.group(1), old, new) + article.group(2)
        parts += (between, new)
        at = end
    return "".join(parts) + text[at:]


def _spans(text: str, names: Mapping[str, str]) -> list[tuple[int, int, str]]:
    keys = sorted((key for key in names if "|" not in key), key=lambda key: (-len(key), key))
    if not keys:
        return []
    whole = re.compile(r"(?<!\w)(?:" + "|".join(re.escape(key).replace(r"\ ", r"\s+") for key in keys) + r")(?!\w)")
    return [(match.start(), match.end(), "") for match in whole.finditer(text)]
