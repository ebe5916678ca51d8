"""``penname shard``."""

from __future__ import annotations

from penname.cli.options import HERE, Json, Set, Where


def shard(where: Where = HERE, overrides: Set = [], json: Json = False) -> None:
    """Tokenise, mask and pack the training documents of every copy, and the held-out ones.

    Prints how many tokens there are, how many of them are learned, and what is not trained on (truncation.json names each passage).

    Example: penname -C bronte shard --set shards.seq_len=4096
    """
    from penname.core.files import json_text, read_json
    from penname.core.folder import open_voice
    from penname.core.lock import hold
    from penname.shards import run_shards

    voice = open_voice(where, overrides)
    with hold(voice.path, "shards"):
        run_shards(voice)
    counts = read_json(voice.current_shards / "index.json")
    if json:
        print(
            json_text({"folder": str(voice.current_shards), **{k: v for k, v in counts.items() if k not in ("books", "passages")}}), end=""
        )
        return
    documents, rows = counts["train_documents"], counts["train_rows"]
    print(f"{voice.current_shards}: {counts['train_tokens']:,} tokens in {documents:,} documents, {rows:,} rows")
    print(f"learned: {counts['train_trained_tokens']:,} tokens; rows are {counts['packed_share']:.1%} full")
    print(f"held out: {counts['heldout_trained_tokens']:,} learned tokens in {counts['heldout_documents']:,} documents")
    if counts["not_trained_passages"]:
        print(f"not trained on, whole or in part: {counts['not_trained_passages']:,} passages, see truncation.json")
