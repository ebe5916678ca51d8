"""``penname judge``."""

from __future__ import annotations

from penname.cli.options import HERE, Json, Set, Where


def judge(where: Where = HERE, overrides: Set = [], json: Json = False) -> None:
    """Give the verdict: style covered, memorisation, degeneration, beat sensitivity, under the registered thresholds. Exit 4 for a no.

    Example: penname -C bronte judge
    """
    from penname.core.errors import JudgeSaysNo
    from penname.core.files import json_text, read_json
    from penname.core.folder import open_voice
    from penname.core.lock import hold
    from penname.judging.stage import run_judge

    voice = open_voice(where, overrides)
    with hold(voice.path, "judge"):
        run_judge(voice)
    verdict = read_json(voice.judging / "verdict.json")
    if json:
        print(json_text(verdict), end="")
    else:
        from rich.console import Console
        from rich.table import Table

        table = Table(box=None, padding=(0, 2, 0, 0))
        for heading in ("run", "covered", "copied >8", "longest", "perplexity", "true beat wins"):
            table.add_column(heading, justify="left" if heading == "run" else "right")
        for row in verdict["runs"]:
            wins, copied = f"{row['true_beat_wins']:.0%}", f"{row['copied_share']:.1%}"
            table.add_row(row["run"], f"{row['share']:.0%}", copied, str(row["longest_copy"]), f"{row['perplexity']:.1f}", wins)
        Console(highlight=False).print(table)
        print(verdict["sentence"])
        for line in (*verdict["reasons"], *verdict["claims"]):
            print(f"- {line}")
    if verdict["verdict"] != "passed":
        raise JudgeSaysNo(f"the verdict is {verdict['verdict']}")
