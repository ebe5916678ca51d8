"""Books in, casts out: the whole of the cast room as one pure function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from penname.cast.context import Layout, calls, lay_out, presences
from penname.cast.decisions import Decisions
from penname.cast.detect import classify_words, find_spans
from penname.cast.forms import Form, gather_forms
from penname.cast.gender import tally_genders
from penname.cast.lexicon import Lexicon, load_lexicon
from penname.cast.linking import Linker
from penname.cast.people import Context
from penname.cast.questions import open_questions
from penname.cast.resolve import Group, Resolution, drop_and_sort
from penname.cast.scan import Scan, pool_counts, scan_text
from penname.cast.series import parts_of_series, series_book
from penname.cast.statements import stated, weddings
from penname.cast.vocabulary import PLACE_HEADS
from penname.core.config import CastConfig
from penname.core.values import Book, Cast, Entity, Mention


def build_cast(
    books: Sequence[Book], decisions: Decisions | None = None, *, settings: CastConfig | None = None, series: bool = False
) -> list[Cast]:
    """A Cast for each of the books, in their order: names, kinds, who is who, gender, and what a person must decide.

    People are a work's own, unless ``series`` says that they recur; how words are written is learnt from all the books.
    ``decisions`` are applied last and win. ``unresolved`` holds the questions that are left, most frequent first.
    """
    return Readings(books, settings or CastConfig(), series).casts(decisions or Decisions())


class Readings:
    """The books as the rules read them, so that another set of decisions makes another cast without another reading."""

    def __init__(self, books: Sequence[Book], settings: CastConfig, series: bool) -> None:
        self.books, self.settings, self.series = books, settings, series and len(books) > 1
        self.lexicon = load_lexicon()
        self._texts = [series_book(books)] if self.series else list(books)
        self._scans = [scan_text(book.text) for book in self._texts]
        self._pool = pool_counts(self._scans) if len(self._scans) > 1 else None
        self._read: dict[int, _Reading] = {}
        self.parts = range(len(self._texts))  # what can be read apart: the books, or the series as one

    def casts(self, decisions: Decisions) -> list[Cast]:
        """A Cast for each of the books under these decisions."""
        return [cast for part in self.parts for cast in self.casts_of(part, decisions)]

    def casts_of(self, part: int, decisions: Decisions) -> list[Cast]:
        """The Cast of one book, or the Casts of all in a series."""
        if part not in self._read:
            self._read[part] = _read(self._texts[part], self._scans[part], self._pool, self.lexicon)
        if not self.series:
            return [_cast_of(self._read[part], decisions, self.settings, self.lexicon)]
        decisions = Decisions(tuple(replace(decision, book="") for decision in decisions.items))  # ids and people are shared
        return parts_of_series(_cast_of(self._read[part], decisions, self.settings, self.lexicon), self.books)


@dataclass(frozen=True)
class _Reading:
    book: Book
    layout: Layout
    forms: tuple[Form, ...]


def _read(book: Book, scan: Scan, pool: Scan | None, lexicon: Lexicon) -> _Reading:
    classes = classify_words(scan, lexicon, pool)
    forms = gather_forms(scan, find_spans(scan, classes, lexicon), classes, lexicon)
    return _Reading(book, lay_out(book.text), tuple(forms.values()))


def _cast_of(reading: _Reading, decisions: Decisions, settings: CastConfig, lexicon: Lexicon) -> Cast:
    book = reading.book
    mine = decisions.of_book(book.id)
    forms = drop_and_sort([replace(form) for form in reading.forms], mine)  # each with a kind of its own
    persons = [f for f in forms if f.kind == "person"]
    linker = Linker(persons, read_context(reading.layout, forms, persons, lexicon), lexicon)
    people = linker.link()
    resolution = Resolution(people, [f for f in forms if f.kind != "person"])
    resolution.apply(mine)
    resolution.give_out(linker)
    order = {"person": 0, "place": 1, "other": 2}
    groups = sorted((g for g in resolution.groups if g.spans), key=lambda g: (order[g.kind], -len(g.spans), g.shown))
    counts: Counter[str] = Counter()
    ids: dict[int, str] = {}
    for group in groups:
        letter = {"person": "p", "place": "l", "other": "o"}[group.kind]
        counts[letter] += 1
        ids[id(group)] = f"{letter}{counts[letter]}"
    asked = open_questions(book.text, resolution, linker, ids, decisions.answered(book.id), settings)
    return Cast(
        book.id,
        tuple(_entity(ids[id(g)], g, lexicon) for g in groups),
        tuple(sorted(Mention(s.start, s.end, ids[id(g)]) for g in groups for s in g.spans)),
        asked,
        tuple(sorted(decisions.answered(book.id))),
    )


def _entity(id: str, group: Group, lexicon: Lexicon) -> Entity:
    surfaces = Counter(" ".join(span.surface.split()) for span in group.spans)
    names = tuple(sorted(surfaces, key=lambda s: (-surfaces[s], s)))
    family = _family(group) if group.kind == "person" else None
    real = group.kind == "place" and any(_is_real(form, lexicon) for form in group.forms)
    return Entity(id, group.kind, group.gender, names, family, real, group.fixed, tuple(group.evidence))  # type: ignore[arg-type]


def _is_real(form: Form, lexicon: Lexicon) -> bool:
    """In the gazetteer, or made of ordinary words alone ("the Battery"), which give nothing away and stay."""
    return " ".join(w.capitalize() for w in form.words) in lexicon.places or all(
        w in PLACE_HEADS or (len(form.words) == 1 and lexicon.per_million(w) > 3) for w in form.words
    )


def _family(group: Group) -> str | None:
    """The surname as the text writes it, particles included: "de Bourgh"."""
    last = group.person.last.split()[-1] if group.person and group.person.last else ""
    for form in sorted(group.forms, key=lambda f: (-f.count, f.key)):
        if last and form.words[-1] == last:
            words = " ".join(form.spans[0].surface.split()).split(" ")
            k = len(words) - 1
            while k > 0 and words[k - 1].lower() in (
                "de",
                "du",
                "van",
                "von",
                "der",
                "den",
                "la",
                "le",
                "st.",
                "st",
                "di",
                "della",
                "d'",
                "of",
            ):
                k -= 1
            return " ".join(words[k:]) if not words[-1].isupper() else " ".join(words[k:]).title()
    return last.title() or None


def read_context(layout: Layout, forms: Iterable[Form], persons: Sequence[Form], lexicon: Lexicon) -> Context:
    """What stands around the person forms: where they stand, who calls whom, which pronouns follow."""
    rows: list[tuple[int, Form, bool, bool, bool]] = []
    for form in persons:
        for span, signs in zip(form.spans, form.mention_signs, strict=True):
            quoted = layout.quoted(span.start)
            speaks = not quoted and ("said" in signs or "says" in signs)
            rows.append((span.start, form, quoted, quoted and ("call" in signs or "dearly" in signs), speaks))
    rows.sort(key=lambda row: row[0])
    starts = sorted(span.start for form in forms if form.kind in ("person", "other") for span in form.spans)
    tallies = tally_genders(persons, layout, starts, lexicon)
    mentions = sorted(((span.start, span.end, form) for form in persons for span in form.spans), key=lambda row: row[0])
    speakers: dict[int, Form] = {}
    for start, form, _, _, speaks in rows:
        if speaks:
            speakers.setdefault(layout.paragraph(start), form)
    genders = {form: tally.gender() for form, tally in tallies.items()}
    said = stated(layout, mentions, speakers, genders.__getitem__)
    wed = weddings(layout, mentions, genders.__getitem__)
    return Context(presences(layout, [(row[0], row[1]) for row in rows]), calls(layout, rows), tallies, said, wed)  # type: ignore[arg-type]
