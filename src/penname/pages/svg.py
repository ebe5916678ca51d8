"""Plots as SVG that follows the page: colours are CSS classes (so light and dark both work), and each has a text alternative.

Small on purpose: four shapes of plot, a few kilobytes each. A plotting library's SVG would be a hundred times larger and
could not change colour with the page.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from penname.pages.markup import plain

WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 58, 16, 14, 44


@dataclass(frozen=True)
class Series:
    """One line of a chart: points (x, y) in order of x."""

    name: str
    points: Sequence[tuple[float, float]]
    dashed: bool = False
    colour: int = 0


@dataclass(frozen=True)
class Dot:
    """One point of a map."""

    x: float
    y: float
    group: str
    label: str = ""


@dataclass(frozen=True)
class _Scale:
    """Data to pixels, with round ticks."""

    low: float
    high: float
    start: float
    end: float

    def at(self, value: float) -> float:
        return self.start + (value - self.low) / (self.high - self.low) * (self.end - self.start)

    def ticks(self, about: int = 5) -> list[float]:
        raw = (self.high - self.low) / about
        power = 10.0 ** math.floor(math.log10(raw))
        step = next(m * power for m in (1, 2, 5, 10) if m * power >= raw)
        first = math.ceil(self.low / step) * step
        return [first + i * step for i in range(int((self.high - first) / step + 1e-9) + 1)]


def line_chart(series: Sequence[Series], x_label: str, y_label: str, title: str, dots: Sequence[tuple[float, float]] = ()) -> Markup:
    """Lines over a shared axis, each with its name in the legend, and loose dots. Empty Markup where there is no point at all."""
    points = [point for one in (*(one.points for one in series), dots) for point in one if math.isfinite(point[1])]
    if not points:
        return Markup("")
    xs, ys = _scale([x for x, _ in points], LEFT, WIDTH - RIGHT), _scale([y for _, y in points], HEIGHT - BOTTOM, TOP)
    body = [_axes(xs, ys, x_label, y_label)]
    for one in series:
        drawn = [(x, y) for x, y in one.points if math.isfinite(y)]
        path = " ".join(f"{'L' if i else 'M'}{xs.at(x):.1f} {ys.at(y):.1f}" for i, (x, y) in enumerate(drawn))
        dash = ' stroke-dasharray="5 4"' if one.dashed else ""
        body.append(f'<path class="line c{one.colour % 6}" d="{path}"{dash}/>')
        if len(drawn) <= 12:
            body += [f'<circle class="dot c{one.colour % 6}" cx="{xs.at(x):.1f}" cy="{ys.at(y):.1f}" r="3"/>' for x, y in drawn]
    body += [f'<circle class="dot c5" cx="{xs.at(x):.1f}" cy="{ys.at(y):.1f}" r="3"/>' for x, y in dots if math.isfinite(y)]
    told = "; ".join(f"{one.name}: from {one.points[0][1]:.3g} to {one.points[-1][1]:.3g}" for one in series if one.points)
    legend = [(one.name, one.colour, one.dashed) for one in series if one.points]
    return _figure(body, title, told, legend)


def strip_chart(groups: Mapping[str, Sequence[float]], label: str, title: str) -> Markup:
    """One row a group: every value as a dot, the median as a bar. Empty Markup where there is no value."""
    filled = {name: [v for v in values if math.isfinite(v)] for name, values in groups.items()}
    filled = {name: values for name, values in filled.items() if values}
    if not filled:
        return Markup("")
    left = 150
    height = TOP + 34 * len(filled) + BOTTOM
    xs = _scale([v for values in filled.values() for v in values], left, WIDTH - RIGHT)
    body = [_x_axis(xs, label, height, left)]
    for row, (name, values) in enumerate(filled.items()):
        y = TOP + 34 * row + 17
        body.append(f'<text class="name" x="{left - 10}" y="{y + 4}" text-anchor="end">{_text(_short(name, 22))}</text>')
        for i, value in enumerate(values):
            spread = (i * 7919 % 13 - 6) * 0.9  # keeps equal values apart, the same on every run
            body.append(f'<circle class="dot c{row % 6}" cx="{xs.at(value):.1f}" cy="{y + spread:.1f}" r="3.2"/>')
        middle = xs.at(sorted(values)[len(values) // 2])
        body.append(f'<line class="median" x1="{middle:.1f}" x2="{middle:.1f}" y1="{y - 12}" y2="{y + 12}"/>')
    told = "; ".join(f"{name}: median {sorted(v)[len(v) // 2]:.3g} of {len(v)}" for name, v in filled.items())
    return _figure(body, title, told, (), height)


def scatter(dots: Sequence[Dot], title: str) -> Markup:
    """A map of texts: nearness means likeness, the axes have no unit. Empty Markup where there is no dot."""
    dots = [dot for dot in dots if math.isfinite(dot.x) and math.isfinite(dot.y)]
    if not dots:
        return Markup("")
    xs, ys = _scale([d.x for d in dots], LEFT, WIDTH - RIGHT), _scale([d.y for d in dots], HEIGHT - 20, TOP)
    names = list(dict.fromkeys(dot.group for dot in dots))
    body = [f'<rect class="frame" x="{LEFT - 10}" y="4" width="{WIDTH - LEFT - RIGHT + 20}" height="{HEIGHT - 14}"/>']
    for dot in dots:
        body.append(
            f'<circle class="dot c{names.index(dot.group) % 6}" cx="{xs.at(dot.x):.1f}" cy="{ys.at(dot.y):.1f}" r="4">'
            f"<title>{_text(dot.label or dot.group)}</title></circle>"
        )
    told = "; ".join(f"{name}: {sum(d.group == name for d in dots)} texts" for name in names)
    return _figure(body, title, told, [(name, i, False) for i, name in enumerate(names)])


def bar_chart(rows: Sequence[tuple[str, float]], label: str, title: str) -> Markup:
    """Horizontal bars with their values. Empty Markup where there is no row."""
    if not rows:
        return Markup("")
    left = 190
    height = 22 * len(rows) + 30
    xs = _Scale(0.0, max(value for _, value in rows) or 1.0, left, WIDTH - 70)
    body = []
    for i, (name, value) in enumerate(rows):
        y = 8 + 22 * i
        body.append(f'<text class="name" x="{left - 8}" y="{y + 12}" text-anchor="end">{_text(_short(name, 30))}</text>')
        body.append(f'<rect class="bar c0" x="{left}" y="{y}" width="{max(1.0, xs.at(value) - left):.1f}" height="15"/>')
        body.append(f'<text class="tick" x="{xs.at(value) + 6:.1f}" y="{y + 12}">{value:,.6g}</text>')
    body.append(f'<text class="label" x="{left}" y="{height - 6}">{_text(label)}</text>')
    return _figure(body, title, "; ".join(f"{name}: {value:,.6g}" for name, value in rows), (), height)


def pair_map(pairs: Sequence[tuple[str, str, int]], title: str) -> Markup:
    """Names in a ring, each pair joined by a line whose width is its count. Empty Markup where there is no pair."""
    if not pairs:
        return Markup("")
    names = list(dict.fromkeys(name for a, b, _ in pairs for name in (a, b)))
    most, height = max(n for _, _, n in pairs), 420
    places = {}
    for i, name in enumerate(names):
        turn = 2 * math.pi * i / len(names)
        places[name] = WIDTH / 2 + 165 * math.cos(turn), height / 2 + 165 * math.sin(turn)
    body = []
    for a, b, n in pairs:
        (x1, y1), (x2, y2) = places[a], places[b]
        line = f'x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke-width="{0.5 + 6 * n / most:.1f}"'
        body.append(f'<line class="pair" {line}><title>{_text(f"{a} and {b}: {n}")}</title></line>')
    for name, (x, y) in places.items():
        anchor = "start" if x >= WIDTH / 2 else "end"
        away = f'x="{x + (9 if anchor == "start" else -9):.1f}" y="{y + 4:.1f}" text-anchor="{anchor}"'
        body.append(f'<circle class="dot c0" cx="{x:.1f}" cy="{y:.1f}" r="4"/><text class="name" {away}>{_text(_short(name, 24))}</text>')
    return _figure(body, title, "; ".join(f"{a} and {b}: {n}" for a, b, n in pairs), (), height)


def _scale(values: Sequence[float], start: float, end: float) -> _Scale:
    low, high = min(values), max(values)
    margin = (high - low) * 0.05 or abs(high) * 0.1 or 1.0
    return _Scale(low - margin, high + margin, start, end)


def _axes(xs: _Scale, ys: _Scale, x_label: str, y_label: str) -> str:
    lines = [_x_axis(xs, x_label, HEIGHT, LEFT)]
    for tick in ys.ticks():
        y = ys.at(tick)
        lines.append(f'<line class="grid" x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'<text class="tick" x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:.4g}</text>')
    middle = (TOP + HEIGHT - BOTTOM) / 2
    lines.append(f'<text class="label" transform="translate(14 {middle}) rotate(-90)" text-anchor="middle">{_text(y_label)}</text>')
    return "".join(lines)


def _x_axis(xs: _Scale, label: str, height: float, left: float) -> str:
    base = height - BOTTOM
    lines = [f'<line class="axis" x1="{left}" x2="{WIDTH - RIGHT}" y1="{base}" y2="{base}"/>']
    lines += [f'<text class="tick" x="{xs.at(tick):.1f}" y="{base + 16}" text-anchor="middle">{tick:.4g}</text>' for tick in xs.ticks()]
    lines.append(f'<text class="label" x="{(left + WIDTH - RIGHT) / 2}" y="{height - 8}" text-anchor="middle">{_text(label)}</text>')
    return "".join(lines)


def _figure(body: Sequence[str], title: str, told: str, legend: Sequence[tuple[str, int, bool]], height: float = HEIGHT) -> Markup:
    keys = "".join(
        f'<span class="key"><span class="swatch c{colour % 6}{" dashed" if dashed else ""}"></span>{_text(name)}</span>'
        for name, colour, dashed in legend
    )
    caption = f"<figcaption>{_text(title)}{f'<span class=legend>{keys}</span>' if keys else ''}</figcaption>"
    picture = f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img"><title>{_text(title)}</title><desc>{_text(told)}</desc>'
    return Markup(f"<figure>{caption}{picture}{''.join(body)}</svg></figure>")


def _text(value: str) -> Markup:
    return escape(plain(value))


def _short(name: str, most: int) -> str:
    """The name with its middle left out where it is too long: runs of one arm differ at their end."""
    tail = most // 2
    return name if len(name) <= most else f"{name[: most - tail - 1]}…{name[-tail:]}"
