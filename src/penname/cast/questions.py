"""What a person must decide: names whose bearer, kind or gender the rules leave open, most frequent first."""

from __future__ import annotations

from collections.abc import Iterator

from penname.cast.decisions import plain_name
from penname.cast.forms import Form
from penname.cast.kinds import KINDS, surety
from penname.cast.linking import Linker
from penname.cast.resolve import Group, Resolution
from penname.core.config import CastConfig
from penname.core.values import Question

_LINK_MARGIN = 3.5  # log odds between the chosen bearer and the next, below which a person is asked
_KIND_SURETY = 0.75
_SNIPPET_CHARS = 90


def open_questions(
    text: str, resolution: Resolution, linker: Linker, ids: dict[int, str], answered: set[str], settings: CastConfig
) -> tuple[Question, ...]:
    """The questions of one book that nobody has answered, most mentions first, at most ``settings.max_questions``."""
    found: dict[str, Question] = {}
    for question in (
        *_links(text, resolution, linker, ids),
        *_merges(text, resolution, linker, ids),
        *_kinds(text, resolution, ids),
        *_genders(text, resolution, ids),
    ):
        if question.count >= settings.min_mentions and question.id not in answered:
            found.setdefault(question.id, question)
    return tuple(sorted(found.values(), key=lambda q: (-q.count, q.id))[: settings.max_questions])


def _links(text: str, resolution: Resolution, linker: Linker, ids: dict[int, str]) -> Iterator[Question]:
    for doubt in linker.doubts:
        home = next((g for g in resolution.groups if doubt.form in g.forms), None)
        if home is None or doubt.margin > _LINK_MARGIN:
            continue
        others = [g for g in (next((g for g in resolution.groups if g.person is p), None) for p in doubt.others) if g and g is not home]
        others = [g for g in others if g.count >= max(3, doubt.form.count // 30)]  # who is hardly named is hardly meant
        if not others:
            continue
        name = doubt.form.shown
        options = [_row("link", name, other.shown) for other in others[:4]]
        options += [_row("share", name, home.shown, *(o.shown for o in others[:4])), _row("split", name)]
        yield Question(
            f"link:{plain_name(name)}",
            "link",
            name,
            tuple(ids[id(g)] for g in (home, *others) if id(g) in ids),
            doubt.form.count,
            _row("link", name, _other_name(home, doubt.form)),
            f"{name} can be {home.shown} ({home.count} mentions) or {' or '.join(f'{o.shown} ({o.count})' for o in others[:4])}",
            _snippets(text, doubt.form),
            tuple(options),
        )


def _merges(text: str, resolution: Resolution, linker: Linker, ids: dict[int, str]) -> Iterator[Question]:
    """Two groups that may be one: a first name without a surname, and a surname without a first name."""
    groups = {id(g.person): g for g in resolution.groups if g.person}
    for one, other, score in linker.near:
        a, b = groups.get(id(one)), groups.get(id(other))
        if a is None or b is None or a is b:
            continue
        small = min(a, b, key=lambda g: (g.count, g.shown))
        yield Question(
            f"merge:{plain_name(small.shown)}",
            "link",
            small.shown,
            (ids[id(a)], ids[id(b)]),
            small.count,
            _row("split", small.shown),
            f"{a.shown} and {b.shown} may be one person: their names hardly ever stand together (score {score:.1f})",
            _snippets(text, small.forms[0]),
            (_row("merge", small.shown, (a if small is b else b).shown),),
        )


def _kinds(text: str, resolution: Resolution, ids: dict[int, str]) -> Iterator[Question]:
    for group in resolution.groups:
        for form in group.forms:
            if form.titles or len(group.forms) > 3 or surety(form.scores) >= _KIND_SURETY:
                continue
            name = form.shown
            best = sorted(zip(form.scores, KINDS, strict=True), reverse=True)
            options = [_row("drop", name) if kind == "none" else _row("kind", name, value=kind) for _, kind in best if kind != form.kind]
            if form.kind != "other":
                options.append(_row("kind", name, value="other"))
            yield Question(
                f"kind:{plain_name(name)}",
                "kind",
                name,
                (ids[id(group)],),
                form.count,
                _row("kind", name, value=form.kind),
                f"{name} looks like {_said(best[0][1])}, but might be {_said(best[1][1])}",
                _snippets(text, form),
                tuple(options),
            )


def _genders(text: str, resolution: Resolution, ids: dict[int, str]) -> Iterator[Question]:
    for group in resolution.groups:
        if group.kind != "person" or group.gender != "unknown" or group.plural or not group.person:
            continue
        odds = group.person.tally.log_odds()
        likely = "male" if odds > 0.3 else "female" if odds < -0.3 else "unknown"
        name = group.shown
        yield Question(
            f"gender:{plain_name(name)}",
            "gender",
            name,
            (ids[id(group)],),
            group.count,
            _row("gender", name, value=likely),
            f"is {name} a woman or a man? {group.person.tally.why()}",
            _snippets(text, group.forms[0]),
            tuple(_row("gender", name, value=v) for v in ("female", "male", "unknown") if v != likely),
        )


def _said(kind: str) -> str:
    return "no name" if kind == "none" else f"a {kind}"


def _row(action: str, *names: str, value: str = "") -> dict[str, object]:
    row: dict[str, object] = {"action": action, "names": list(names)}
    return row | {"value": value} if value else row


def _other_name(group: Group, form: Form) -> str:
    """A name of the group that is not the form itself."""
    others = [f for f in group.forms if f is not form]
    return max(others, key=lambda f: (f.count * (1 + len(f.words)), f.key)).shown if others else form.shown


def _snippets(text: str, form: Form) -> tuple[tuple[int, int], ...]:
    """Spans of text around three mentions: the first, one in the middle, the last; cut at words."""
    spans = sorted(form.spans, key=lambda s: s.start)
    picked = dict.fromkeys((0, len(spans) // 2, len(spans) - 1))
    return tuple(_around(text, spans[k].start, spans[k].end) for k in picked)


def _around(text: str, start: int, end: int) -> tuple[int, int]:
    low, high = max(0, start - _SNIPPET_CHARS), min(len(text), end + _SNIPPET_CHARS)
    cut = text.find(" ", low, start)
    low = cut + 1 if low and cut >= 0 else low
    cut = text.rfind(" ", end, high)
    return low, cut if high < len(text) and cut >= 0 else high
