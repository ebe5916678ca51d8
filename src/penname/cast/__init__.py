"""Books to a Cast a book: people and places, their names, gender, families, and what a person must decide."""

from penname.cast.build import build_cast

__all__ = ["build_cast"]
