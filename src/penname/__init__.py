"""Penname takes an author's books to a voice: a LoRA adapter that writes in that author's prose."""

__version__ = "0.1.0"
