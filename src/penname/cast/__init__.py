"""Books to a Cast a book: people and places, their names, gender, families, and what a person must decide."""

from penname.cast.build import build_cast
from penname.cast.decisions import Decision, Decisions, load_decisions, save_decisions
from penname.cast.stage import run_cast

__all__ = ["Decision", "Decisions", "build_cast", "load_decisions", "run_cast", "save_decisions"]
