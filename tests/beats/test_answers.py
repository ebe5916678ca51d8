"""What models put around a line comes off; the line itself and anything that is no line stay for the gate."""

from __future__ import annotations

import pytest

from penname.beats.answers import line_of

LINE = "Jane hides with a book; John finds her and throws it."


@pytest.mark.parametrize(
    "raw",
    [
        LINE,
        f'"{LINE}"',
        f"“{LINE}”",
        f"```\n{LINE}\n```",
        f'```text\n"{LINE}"\n```',
        f"Here is the beat:\n\n{LINE}",
        f"Sure! Here is a beat:\n{LINE}",
        f"Sure! Here's one: {LINE}",
        f'Here is the beat for this passage: "{LINE}"',
        f"Beat: {LINE}",
        f"**Beat:** {LINE}",
        f"### Beat\n{LINE}",
        f"The beat is: {LINE}",
        f"Certainly! {LINE}",
        f"Of course.\n\n{LINE}\n\n(Note: 11 words)",
        f"{LINE}\n\nLet me know if you need another.",
        f"- {LINE}",
        f"> {LINE}",
        f"1. {LINE}\n2. Jane reads in peace.\n3. John sulks.",
        f'{{"beat": "{LINE}"}}',
        f'["{LINE}"]',
        f"{LINE} (11 words)",
        f"[{LINE}]",
        f"**{LINE}**",
        f"<think>Jane, John.\n</think>\n\n{LINE}",
        f"Jane, John.</think>{LINE}",
        f"<reasoning>Jane.</reasoning>{LINE}",
    ],
)
def test_wrapping_comes_off(raw: str) -> None:
    assert line_of(raw) == (LINE, None)


@pytest.mark.parametrize(
    "content, reasoning, finish, rule",
    [
        ("", None, "stop", "empty"),
        (None, "Let me think.", "stop", "empty"),
        ("<think>Let me see</think>", None, "stop", "empty"),
        ("<think>Let me see", None, "length", "truncated"),
        ("Jane hides with a", None, "length", "truncated"),
        ("", None, "content_filter", "refusal"),
    ],
)
def test_no_line_has_a_reason(content: str | None, reasoning: str | None, finish: str, rule: str) -> None:
    line, fault = line_of(content, reasoning, finish)
    assert line == "" and fault is not None and fault.rule == rule


@pytest.mark.parametrize(
    "line",
    [
        "The line of carts: empty, it stops at the gate.",
        "A beat of drums: soldiers enter the square.",
        "Jane opens the letter: a line in Helen's hand.",
        "Two lines here.\nAnd a second one.",
    ],
)
def test_prose_is_left_alone(line: str) -> None:
    assert line_of(line) == (line, None)
