"""Books in, casts out: the whole of the cast room as one pure function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from penname.cast.context import Layout, calls, lay_out, presences
from penname.cast.detect import classify_words, find_spans
from penname.cast.forms import Form, gather_forms
from penname.cast.lexicon import Lexicon, load_lexicon
from penname.cast.gender import tally_genders
from penname.cast.linking import Context, Linker
from penname.cast.scan import scan_text
from penname.core.config import CastConfig
from penname.core.values import Book, Cast, Entity, Mention


def build_cast(books: Sequence[Book], decisions: object = None, *, settings: CastConfig | None = None, series: bool = False) -> list[Cast]:
    """A Cast for each of the books, in their order."""
    lexicon = load_lexicon()
    return [_cast_of(book, lexicon) for book in books]


def _cast_of(book: Book, lexicon: Lexicon) -> Cast:
    scan = scan_text(book.text)
    classes = classify_words(scan, lexicon)
    forms = gather_forms(scan, find_spans(scan, classes, lexicon), classes, lexicon)
    persons = sorted((f for f in forms.values() if f.kind == "person"), key=lambda f: (-f.count, f.key))
    context, layout = read_context(scan.text, forms.values(), persons, lexicon)
    people = sorted(Linker(persons, context, lexicon).link(), key=lambda p: (-p.count, p.shown))
    entities: list[Entity] = []
    mentions: list[Mention] = []
    for k, person in enumerate(people, 1):
        entity = Entity(f"p{k}", "person", person.tally.gender(), _surfaces(person.forms), person.last.title() or None, evidence=tuple(person.evidence))  # type: ignore[arg-type]
        entities.append(entity)
        mentions += [Mention(s.start, s.end, entity.id) for form in person.forms for s in form.spans]
    things = sorted((f for f in forms.values() if f.kind != "person"), key=lambda f: (-f.count, f.key))
    for k, form in enumerate(things, 1):
        entity = Entity(f"{'l' if form.kind == 'place' else 'o'}{k}", form.kind, "unknown", _surfaces([form]), real=form.shown in lexicon.places)  # type: ignore[arg-type]
        entities.append(entity)
        mentions += [Mention(s.start, s.end, entity.id) for s in form.spans]
    return Cast(book.id, tuple(entities), tuple(sorted(mentions)))


def _surfaces(forms: Sequence[Form]) -> tuple[str, ...]:
    counts = Counter(" ".join(span.surface.split()) for form in forms for span in form.spans)
    return tuple(sorted(counts, key=lambda s: (-counts[s], s)))


def read_context(text: str, forms: Iterable[Form], persons: Sequence[Form], lexicon: Lexicon) -> tuple[Context, Layout]:
    """What stands around the person forms: where they stand, who calls whom, which pronouns follow."""
    layout = lay_out(text)
    rows: list[tuple[int, Form, bool, bool]] = []
    for form in persons:
        for span, signs in zip(form.spans, form.mention_signs, strict=True):
            quoted = layout.quoted(span.start)
            rows.append((span.start, form, quoted and "call" in signs, not quoted and ("said" in signs or "says" in signs)))
    rows.sort(key=lambda row: row[0])
    starts = sorted(span.start for form in forms if form.kind in ("person", "other") for span in form.spans)
    tallies = tally_genders(persons, layout, starts, lexicon)
    return Context(presences(layout, [(at, form) for at, form, _, _ in rows]), calls(layout, rows), tallies), layout  # type: ignore[arg-type]
