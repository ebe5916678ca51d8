"""From a source (file or Gutenberg id) to a Book: clean text, chapters, held-out split, and an account of every line."""

from penname.books.heldout import split_heldout
from penname.books.read import decode_source, read_book

__all__ = ["decode_source", "read_book", "split_heldout"]
