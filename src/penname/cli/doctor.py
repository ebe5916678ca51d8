"""``penname doctor``."""

from __future__ import annotations

from penname.cli.options import Json


def doctor(json: Json = False) -> None:
    """Show versions, device, kernels present and absent, tools, carriers and disk.

    Example: penname doctor
    """
    from penname.core.files import json_text
    from penname.voice.doctor import look

    facts = look()
    if json:
        print(json_text(facts), end="")
        return

    from rich.text import Text

    from penname.cli.tables import console, new_table

    table = new_table("", "", "", show_header=False)
    for section, rows in facts.items():
        table.add_row(Text(section, style="bold"), "", "")
        for name, value in rows.items():
            table.add_row("", Text(name), Text("absent" if value is None else str(value), style="bright_black" if value is None else ""))
    console().print(table)
