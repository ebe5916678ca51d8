"""One work twice among the sources: what is held out of one would be trained on in the other, and nothing later could see it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from penname.core.errors import BadInput
from penname.core.values import Book

SHARED_SHARE = 0.3  # of the shorter one's long paragraphs; editions of one novel share nearly all, two novels none
_LONG_WORDS = 12  # shorter paragraphs ("Yes, sir.") stand in any novel
_WORD = re.compile(r"[^\W\d_]+")


def refuse_doubles(books: Sequence[Book], sources: Sequence[str]) -> None:
    """BadInput where two of the books hold the same work, or one holds the other; ``sources`` are their names in ``voice.toml``."""
    long = [long_paragraphs(book.text) for book in books]
    for k, own in enumerate(long):
        for j in range(k):
            if shared_share(long[j], own) > SHARED_SHARE:
                both = " and ".join(dict.fromkeys(f'"{books[n].title}" ({sources[n]})' for n in (j, k)))
                raise BadInput(
                    f"voice.toml names one work twice: {both}; what is held out of one would be trained on in the other, "
                    "so take one of them out of books or others"
                )


def shared_share(one: set[str], other: set[str]) -> float:
    """How much of the shorter one the two sets of long paragraphs share."""
    return len(one & other) / max(1, min(len(one), len(other)))


def long_paragraphs(text: str) -> set[str]:
    """The words of each paragraph of twelve words and more."""
    # Editions differ in punctuation, capitals and line breaks.
    rows = (_WORD.findall(paragraph.casefold()) for paragraph in text.split("\n"))
    return {" ".join(words) for words in rows if len(words) >= _LONG_WORDS}
