"""Small texts for the tests of the cast room."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from penname.cast import Decisions, build_cast
from penname.core.values import Book, Cast


def book_of(text: str, id: str = "tale") -> Book:
    return Book(id, id, "", text, ())


@pytest.fixture
def cast_of() -> Callable[..., Cast]:
    """Text to its Cast, with decisions where given."""

    def build(text: str, decisions: Decisions | None = None) -> Cast:
        return build_cast([book_of(text)], decisions)[0]

    return build
