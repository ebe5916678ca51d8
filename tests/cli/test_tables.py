"""Tables that go to a pipe: nothing is folded, and square brackets of a name stay."""

from __future__ import annotations

from penname.cli.tables import console, new_table


def test_a_pipe_gets_whole_lines_with_their_brackets(capsys):
    table = new_table("job", "loss", right=(1,))
    path = "/home/somebody/[voices]/" + "x" * 120
    table.add_row(path, "2.31")
    console().print(table)
    heading, row = capsys.readouterr().out.splitlines()
    assert row.split() == [path, "2.31"]
    assert heading.index("loss") == row.index("2.31")
