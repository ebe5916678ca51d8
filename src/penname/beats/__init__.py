"""Passages of a book, each with a beat: the one line that steers it."""

from penname.beats.curation import curate, style_of
from penname.beats.gate import Gate
from penname.beats.keywords import KeywordAnnotator
from penname.beats.names import NameBook
from penname.beats.passages import cut_passages
from penname.beats.stage import VERSION, beats_inputs, beats_settings, run_beats

__all__ = [
    "VERSION",
    "Gate",
    "KeywordAnnotator",
    "NameBook",
    "beats_inputs",
    "beats_settings",
    "curate",
    "cut_passages",
    "run_beats",
    "style_of",
]
