"""``penname judge``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from penname.cli.options import HERE, Json, Set, Where

if TYPE_CHECKING:
    from penname.core.folder import VoiceFolder


def judge(
    where: Where = HERE,
    overrides: Set = [],
    curve: Annotated[str, typer.Option("--curve", help="Draw a curve instead: words, steps, copies or carriers.")] = "",
    json: Json = False,
) -> None:
    """Give the verdict: style covered, memorisation, degeneration, beat sensitivity, under the registered thresholds. Exit 4 for a no.

    Example: penname -C bronte judge
    """
    from penname.core.errors import JudgeSaysNo
    from penname.core.files import json_text, read_json
    from penname.core.folder import open_voice
    from penname.core.lock import hold
    from penname.judging.stage import run_judge

    voice = open_voice(where, overrides)
    if curve:
        with hold(voice.path, "judge"):
            _curve(voice, curve, json)
        return
    with hold(voice.path, "judge"):
        run_judge(voice)
    verdict = read_json(voice.judging / "verdict.json")
    if json:
        print(json_text(verdict), end="")
    else:
        from penname.cli.tables import console, new_table

        table = new_table("run", "covered", "copied >8", "longest", "perplexity", "true beat wins", right=(1, 2, 3, 4, 5))
        for row in verdict["runs"]:
            wins, copied = f"{row['true_beat_wins']:.0%}", f"{row['copied_share']:.1%}"
            table.add_row(row["run"], f"{row['share']:.0%}", copied, str(row["longest_copy"]), f"{row['perplexity']:.1f}", wins)
        console().print(table)
        print(verdict["sentence"])
        for line in (*verdict["reasons"], *verdict["claims"]):
            print(f"- {line}")
    if verdict["verdict"] != "passed":
        raise JudgeSaysNo(f"the verdict is {verdict['verdict']}")


def _curve(voice: VoiceFolder, which: str, json: bool) -> None:
    from penname.core.errors import BadInput
    from penname.core.files import json_text
    from penname.judging.curves import CURVES, draw_curve

    known = next((name for name in CURVES if name == which), None)
    if known is None:
        raise BadInput(f'there is no curve "{which}"; the curves are {", ".join(CURVES)}')
    drawn = draw_curve(voice, known)
    if json:
        print(json_text(drawn), end="")
        return
    for point in drawn["points"]:
        print(f"{drawn['x_label']} {point['x']:,}: {drawn['y_label']} {point[drawn['y']]:.1%}")
    print(drawn["sentence"])
    print(voice.judging / f"curve-{which}.svg")
