"""A small line plot as SVG, for curves: points, their runs, axes with the values that occur."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 560, 320, 70, 50, 24, 20


def line_plot(curve: Mapping[str, Any]) -> str:
    """The curve's points joined by a line, with a dot for each run; SVG text."""
    points, y = curve["points"], curve["y"]
    values = [value for point in points for value in (point[y], *_runs(point, y))]
    low, high = min(0.0, *values), max(0.0, *values)
    high = high if high > low else low + 1
    xs = [_across(i, len(points)) for i in range(len(points))]

    def up(value: float) -> float:
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - BOTTOM - TOP)

    line = " ".join(f"{x:.1f},{up(point[y]):.1f}" for x, point in zip(xs, points, strict=True))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" role="img">',
        f"<title>{escape(curve['sentence'])}</title>",
        f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{up(0):.1f}" y2="{up(0):.1f}" stroke="#999"/>',
        f'<polyline points="{line}" fill="none" stroke="#2b6cb0" stroke-width="2"/>',
    ]
    for x, point in zip(xs, points, strict=True):
        parts += [f'<circle cx="{x:.1f}" cy="{up(value):.1f}" r="3" fill="#999"/>' for value in _runs(point, y)]
        parts.append(f'<circle cx="{x:.1f}" cy="{up(point[y]):.1f}" r="4" fill="#2b6cb0"/>')
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{point["x"]:,}</text>')
    for value in (low, high):
        parts.append(f'<text x="{LEFT - 8}" y="{up(value) + 4:.1f}" text-anchor="end">{value:.0%}</text>')
    parts.append(f'<text x="{(WIDTH + LEFT) / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(curve["x_label"])}</text>')
    parts.append(f'<text x="{LEFT}" y="14">{escape(curve["y_label"])}</text></svg>')
    return "\n".join(parts) + "\n"


def _across(i: int, n: int) -> float:
    """Points stand at equal distances: the sizes that are compared double or more from one to the next."""
    return LEFT + 30 + i * (WIDTH - LEFT - RIGHT - 60) / max(1, n - 1)


def _runs(point: Mapping[str, Any], y: str) -> list[float]:
    return list(point.get("per_run" if y == "share" else f"{y}_per_run", ()))
