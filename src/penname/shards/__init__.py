"""Copies and beats -> token shards: tokenise, mask, pack, order, and an account of what is not trained on."""

from penname.core.tokens import Shards, open_shards
from penname.shards.build import build_shards
from penname.shards.stage import VERSION, run_shards, shards_inputs, shards_settings

__all__ = ["VERSION", "Shards", "build_shards", "open_shards", "run_shards", "shards_inputs", "shards_settings"]
