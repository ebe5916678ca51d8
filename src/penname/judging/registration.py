"""What is fixed before training: metric, lengths, samples, sampling, seeds, floors and thresholds, with a hash and a time."""

from __future__ import annotations

import time
from math import ceil
from typing import Any

from penname.core.config import Config
from penname.core.hashing import sha256_value
from penname.judging.heldout import HeldOut, choose_prompts
from penname.judging.pooling import pool

METRIC = "mean log odds of blocks under the instrument, as a share of the way from base model to author"
REGISTRATION_VERSION = 1
BLOCKS_NEEDED = 2  # of author and base model each: one block has no spread
# English prose has about .75 words a token, and passages that end early have fewer than they may. No token holds two words.
WORDS_PER_TOKEN_LIKELY, WORDS_PER_TOKEN_MOST = 0.6, 1.0


def registration(config: Config, heldout: tuple[HeldOut, ...], now_unix: int) -> dict[str, Any]:
    """The registration as it stands on disk. ``hash`` is over everything but the time."""
    judging = config.judging
    content: dict[str, Any] = {
        "version": REGISTRATION_VERSION,
        "metric": METRIC,
        "carrier": config.carrier.name,
        "seeds": list(config.training.seeds),
        "samples": judging.samples,
        "block_words": judging.block_words,
        "sampling": config.sampling.model_dump(mode="json"),
        "sampling_seed": config.voice.seed,
        "passages": [one.passage_id for one in choose_prompts(heldout, judging.samples, config.voice.seed)],
        "thresholds": {
            "auc_floor": judging.auc_floor,
            "null_ceiling": judging.null_ceiling,
            "pass_share": judging.pass_share,
            "odds_min": judging.odds_min,
            "copied_share_max": judging.copied_share_max,
        },
    }
    return {**content, "hash": sha256_value(content), "registered_unix": now_unix}


def too_little_text(config: Config, heldout: tuple[HeldOut, ...]) -> tuple[list[str], list[str]]:
    """(cannot, may not): why the controls will have fewer than two blocks of a side, whatever is written, or by a cautious estimate.

    Half of the base model's passages fit the instrument, so the other half must make the blocks.
    """
    judging, most_tokens = config.judging, config.sampling.max_tokens
    cannot: list[str] = []
    may_not: list[str] = []
    blocks = len(pool([(one.text, one.beat, one.cluster) for one in heldout], judging.block_words))
    if blocks < BLOCKS_NEEDED:
        words = sum(len(one.text.split()) for one in heldout)
        cannot.append(
            f"the held-out passages have {words:,} words, which make {blocks} block{'s' * (blocks != 1)} of judging.block_words = "
            f"{judging.block_words:,}, and the controls need {BLOCKS_NEEDED}: raise books.heldout_share or lower judging.block_words"
        )
    if _base_blocks(judging.samples, most_tokens * WORDS_PER_TOKEN_LIKELY, judging.block_words) < BLOCKS_NEEDED:
        never = _base_blocks(judging.samples, most_tokens * WORDS_PER_TOKEN_MOST, judging.block_words) < BLOCKS_NEEDED
        per_block = ceil(judging.block_words / (most_tokens * WORDS_PER_TOKEN_LIKELY))
        (cannot if never else may_not).append(
            f"judging.samples = {judging.samples} passages of at most sampling.max_tokens = {most_tokens} "
            f"{'cannot' if never else 'may not'} give the controls {BLOCKS_NEEDED} blocks of judging.block_words = {judging.block_words:,} "
            f"by the base model: raise judging.samples to {2 * BLOCKS_NEEDED * per_block} or sampling.max_tokens, "
            "or lower judging.block_words"
        )
    return cannot, may_not


def _base_blocks(samples: int, words: float, block_words: int) -> int:
    """Blocks that the scored half of ``samples`` passages of ``words`` words makes; a block takes whole passages."""
    return samples // 2 // ceil(block_words / words)


def registration_fault(registered: dict[str, Any], now: dict[str, Any], runs_started_unix: list[int]) -> str:
    """Why a verdict under this registration is unregistered; "" where it holds.

    ``now`` is what would be registered today. The registration must be its own hash's, still say what the configuration says,
    and be older than every run.
    """
    content = {key: value for key, value in registered.items() if key not in ("hash", "registered_unix")}
    if sha256_value(content) != registered.get("hash"):
        return "registration.json was edited after it was written"
    if registered["hash"] != now["hash"]:
        changed = sorted(key for key in now if key not in ("hash", "registered_unix") and now[key] != registered.get(key))
        return f"{', '.join(changed)} changed after registration"
    if any(registered["registered_unix"] > started for started in runs_started_unix):
        return "a run had started before the thresholds were registered"
    return ""


def unix_now() -> int:
    """Seconds since 1970; the one clock of this room."""
    return int(time.time())
