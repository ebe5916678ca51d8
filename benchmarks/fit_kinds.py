"""Fit the weights of penname.cast.kinds to LitBank and write src/penname/cast/data/kinds.tsv.

    python benchmarks/fit_kinds.py ../shared [--show] [--folds-only]

Prints how the fit does on novels that it has not seen (--folds parts) before it is made on all of them.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sklearn.feature_extraction import DictVectorizer
from sklearn.linear_model import LogisticRegression

from penname.cast.detect import classify_words, find_spans
from penname.cast.forms import collect_forms
from penname.cast.kinds import KINDS
from penname.cast.lexicon import load_lexicon
from penname.cast.scan import scan_text

DATA = Path(__file__).parent.parent / "src/penname/cast/data/kinds.tsv"


def gold_kinds(scorer, ann: Path) -> tuple[list, dict[int, str]]:
    """The scorer's gold words, and for each counted one its kind ; ORG and VEH count as none."""
    gold = scorer.litbank_gold(ann, ann.with_suffix(".txt"))
    kinds = {k: kind or "none" for k, (_, kind, counted) in enumerate(gold) if counted}
    return gold, kinds


def examples(scorer, shared: Path):
    lexicon = load_lexicon()
    for ann in sorted((shared / "gold/litbank/coref/tsv").glob("*.ann")):
        name = ann.name.removesuffix("_brat.ann")
        with (shared / f"gold/litbank/original/{name}.txt").open(encoding="utf-8", newline="") as file:
            text = file.read()
        gold, kinds = gold_kinds(scorer, ann)
        where = scorer.align(gold, text)
        by_start = {a: (k, b) for k, (a, b) in where.items()}
        last = max(b for _, b in where.values())
        scan = scan_text(text)
        classes = classify_words(scan, lexicon)
        rows = []
        for form in collect_forms(scan, find_spans(scan, classes, lexicon), classes, lexicon).values():
            for span, signs in zip(form.spans, form.mention_signs, strict=True):
                if span.end > last:
                    continue
                words = [kinds[by_start[t.start][0]] for t in span.tokens if t.start in by_start and by_start[t.start][0] in kinds]
                if words:
                    label = max(KINDS, key=lambda kind: (words.count(kind), words[-1] == kind))
                    rows.append((form.signs | {f"here {s}": 1.0 for s in signs}, label, span.surface))
        yield name, rows


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("shared", type=Path)
    parser.add_argument("--c", type=float, default=3.0)
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--folds-only", action="store_true")
    args = parser.parse_args()
    sys.path.insert(0, str(args.shared / "score"))
    import score_cast

    novels = list(examples(score_cast, args.shared))
    wrong = []
    hits = dict.fromkeys(KINDS, (0, 0, 0))
    for fold in range(args.folds):
        vec, model = fit([row for k, (_, rows) in enumerate(novels) if k % args.folds != fold for row in rows], args.c)
        for name, rows in novels[fold :: args.folds]:
            guess = model.predict(vec.transform([r[0] for r in rows])) if rows else []
            for kind in KINDS:
                pairs = [(g == kind, r[1] == kind) for g, r in zip(guess, rows, strict=True)]
                hits[kind] = tuple(
                    a + b
                    for a, b in zip(
                        hits[kind], (sum(g and t for g, t in pairs), sum(g for g, _ in pairs), sum(t for _, t in pairs)), strict=True
                    )
                )
            wrong += [(r[1], g, name[:20], " ".join(r[2].split())) for g, r in zip(guess, rows, strict=True) if g != r[1]]
    print("right, guessed, true:", hits, "wrong", len(wrong))
    if args.show:
        for row in sorted(wrong):
            print("  ", *row)
    if not args.folds_only:
        vec, model = fit([row for _, rows in novels for row in rows], args.c)
        order = [list(model.classes_).index(kind) for kind in KINDS]
        lines = ["# sign\tperson\tplace\tnone; written by benchmarks/fit_kinds.py from LitBank (CC BY 4.0)\n"]
        for k, sign in enumerate(vec.feature_names_):
            row = [model.coef_[c][k] + (model.intercept_[c] if sign == "bias" else 0) for c in order]
            if max(map(abs, row)) >= 0.05:
                lines.append(sign + "".join(f"\t{x:.2f}" for x in row) + "\n")
        DATA.write_text("".join(lines), encoding="utf-8")


def fit(rows, c: float):
    vec = DictVectorizer()
    x = vec.fit_transform([r[0] for r in rows])
    model = LogisticRegression(C=c, max_iter=3000).fit(x, [r[1] for r in rows])
    return vec, model


if __name__ == "__main__":
    main()
