"""Every run of a voice, measured against the base model and the author under the registration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import mean
from typing import Any

from penname.core.folder import VoiceFolder
from penname.core.store import load_books
from penname.judging.controls import AUTHOR, BASE, OTHERS, Sighted, cluster_of, fit_and_score, score_block
from penname.judging.degeneration import degeneration
from penname.judging.heldout import HeldOut, Material, choose_prompts
from penname.judging.likelihood import Likelihood, likelihood
from penname.judging.maps import style_map
from penname.judging.memorisation import HIDDEN_WORD, Copied, Reference
from penname.judging.pooling import pool, pool_text
from penname.judging.sampling import base_writer, with_adapter, without_adapter
from penname.judging.stage import PASSAGES_SHOWN, SENSITIVITY_PASSAGES
from penname.judging.tokens import Lexicon, hide_names, tokenise
from penname.judging.verdict import Baseline, RunScores, Verdict, decide

MAP_BLOCKS = 24  # at most so many dots a group


def judge_runs(
    voice: VoiceFolder,
    material: Material,
    prompts: Sequence[HeldOut],
    base_texts: Sequence[str],
    controls: Mapping[str, Any],
    registered: Mapping[str, Any],
    registration_fault: str,
    records: Sequence[Mapping[str, Any]],
) -> tuple[Verdict, dict[str, list[dict[str, Any]]]]:
    """The verdict, and each run's samples as rows. Generation dominates; everything else takes seconds."""
    sighted = fit_and_score(material, prompts, base_texts, registered["block_words"])
    words = _Words([*material.train_texts, *material.other_texts])
    reference = Reference([words(text) for text in material.train_texts])
    alphabet = frozenset(char for book in load_books(voice.books) for char in book.text)
    asked = choose_prompts(material.heldout, min(SENSITIVITY_PASSAGES, len(material.heldout)), voice.config.voice.seed)
    base = base_writer(voice.config)
    runs, samples = [], {}
    for record in records:
        adapted = with_adapter(base, voice.runs / record["run"] / "adapter")
        texts = [sample.text for sample in adapted.write(prompts, record["run"])]
        found = likelihood(adapted.model, base.tokenizer, asked, voice.config.voice.seed)
        base = without_adapter(base, adapted)
        samples[record["run"]] = [
            {"passage": one.passage_id, "beat": one.beat, "text": text} for one, text in zip(prompts, texts, strict=True)
        ]
        blocks = pool([(text, one.beat, cluster_of(one)) for one, text in zip(prompts, texts, strict=True)], registered["block_words"])
        copied = [reference.copied(words(text)) for text in texts]
        runs.append(
            RunScores(
                record["run"],
                record["arm"]["id"],
                record["seed"],
                [score_block(sighted.instrument, block).value for block in blocks],
                _share(copied, "over_8"),
                _share(copied, "over_20"),
                max(one.longest for one in copied),
                sum(_holds_name(text, material.original_names) for text in texts),
                degeneration(texts, alphabet),
                found,
            )
        )
    held = [reference.copied(words(one.text)) for one in material.heldout]
    not_copied = max(_share(held, "over_8"), _share([reference.copied(words(text)) for text in base_texts], "over_8"))
    scores = sighted.scores
    baseline = Baseline(_mean(scores[AUTHOR]), _mean(scores[BASE]), not_copied, Likelihood(**controls["likelihood"]))
    verdict = decide(controls, registration_fault, baseline, runs, registered["thresholds"])
    verdict.plots.update(_plots(sighted, runs, words, material, prompts, base_texts, samples, registered["block_words"]))
    verdict.passages.extend(_side_by_side(prompts, base_texts, samples))
    return verdict, samples


class _Words:
    """A text's words with names hidden, as the memorisation count and the map see them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._lexicon = Lexicon(tokenise(text) for text in texts)

    def __call__(self, text: str) -> list[str]:
        spelled = hide_names(tokenise(text), self._lexicon).spelled()
        return [word for word in spelled if word == HIDDEN_WORD or word[0].isalpha()]


def _mean(values: Sequence[float]) -> float:
    return mean(values) if values else 0.0


def _share(copied: Sequence[Copied], which: str) -> float:
    return sum(getattr(one, which) for one in copied) / max(1, sum(one.words for one in copied))


def _holds_name(text: str, names: frozenset[str]) -> bool:
    return any(word.strip(".,;:!?\"'") in names for word in text.split())


def _plots(
    sighted: Sighted,
    runs: Sequence[RunScores],
    words: _Words,
    material: Material,
    prompts: Sequence[HeldOut],
    base_texts: Sequence[str],
    samples: Mapping[str, Sequence[Mapping[str, Any]]],
    block_words: int,
) -> dict[str, Any]:
    scores = {name: list(sighted.scores[name]) for name in (AUTHOR, BASE, OTHERS)} | {run.run: list(run.scores) for run in runs}
    groups = {
        AUTHOR: pool([(one.text, one.beat, cluster_of(one)) for one in material.heldout], block_words),
        "author, training": [b for text in material.train_texts for b in pool_text(text, block_words, "")],
        OTHERS: [b for text in material.other_texts for b in pool_text(text, block_words, "")],
        BASE: pool([(text, one.beat, cluster_of(one)) for one, text in zip(prompts, base_texts, strict=True)], block_words),
    }
    for run, rows in samples.items():
        groups[run] = pool([(row["text"], row["beat"], "") for row in rows], block_words)
    dots = [(name, block) for name, blocks in groups.items() for block in blocks[:: max(1, len(blocks) // MAP_BLOCKS)][:MAP_BLOCKS]]
    places = style_map([words(block.text) for _, block in dots])
    return {
        "scores": {name: [round(value, 4) for value in values] for name, values in scores.items()},
        "map": [{"group": name, "x": x, "y": y} for (name, _), (x, y) in zip(dots, places, strict=True)],
    }


def _side_by_side(
    prompts: Sequence[HeldOut], base_texts: Sequence[str], samples: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    rows = []
    for i, one in enumerate(prompts[:PASSAGES_SHOWN]):
        texts = {"author": one.text, "base model": base_texts[i]} | {run: str(rows_[i]["text"]) for run, rows_ in samples.items()}
        rows.append({"beat": one.beat, "passage": one.passage_id, "texts": texts})
    return rows
