"""Books in, casts out: the whole of the cast room as one pure function."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from penname.cast.detect import classify_words, find_spans
from penname.cast.forms import Form, gather_forms
from penname.cast.lexicon import Lexicon, load_lexicon
from penname.cast.linking import Linker, Person
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
    people = sorted(Linker(forms, lexicon).link(), key=lambda p: (-p.count, p.forms[0].key))
    entities: list[Entity] = []
    mentions: list[Mention] = []
    for k, person in enumerate(people, 1):
        entity = Entity(f"p{k}", "person", person.gender or "unknown", _surfaces(person.forms), person.last.title() or None)  # type: ignore[arg-type]
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
