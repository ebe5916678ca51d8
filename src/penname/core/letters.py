"""Letters that do not tell names apart."""

from __future__ import annotations

import unicodedata


def without_accents(word: str) -> str:
    """ "Adèle" -> "Adele"."""
    return word if word.isascii() else "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
