"""Judging: an instrument that must first show that it can see; registration, controls, memorisation, the verdict."""

from penname.judging.instrument import Instrument

__all__ = ["Instrument"]
