"""From a source (file or Gutenberg id) to a Book: clean text, chapters, held-out split, and an account of every line."""

from penname.books.heldout import split_heldout
from penname.books.read import read_book

__all__ = ["read_book", "split_heldout"]
