"""What is fixed before training: metric, lengths, samples, sampling, seeds, floors and thresholds, with a hash and a time."""

from __future__ import annotations

import time
from typing import Any

from penname.core.config import Config
from penname.core.hashing import sha256_value
from penname.judging.heldout import HeldOut, choose_prompts

METRIC = "mean log odds of blocks under the instrument, as a share of the way from base model to author"
REGISTRATION_VERSION = 1


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
            "copied_share_max": judging.copied_share_max,
        },
    }
    return {**content, "hash": sha256_value(content), "registered_unix": now_unix}


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
