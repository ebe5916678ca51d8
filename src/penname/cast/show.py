"""What ``penname cast`` prints: the people and places of a book, one name in full, and the questions with their snippets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from penname.cast.decisions import plain_name
from penname.core.values import Book, Cast, Entity, Question


def snippet(book: Book, span: tuple[int, int]) -> str:
    """A span of text on one line."""
    return " ".join(book.text[span[0] : span[1]].split())


def answer_text(row: Mapping[str, Any]) -> str:
    """A proposal or an option in words."""
    names = list(row["names"])
    match row["action"]:
        case "link":
            return f"{names[0]} is {names[1]}" if names[0] != names[1] else f"{names[0]} stays as it is"
        case "merge":
            return f"{' and '.join(names)} are one"
        case "share":
            return f"{names[0]} is borne by {', '.join(names[1:])}; each mention by its context"
        case "split":
            return f"{names[0]} is somebody else"
        case "kind":
            return f"{names[0]} is {'something else with a name' if row['value'] == 'other' else 'a ' + row['value']}"
        case "gender":
            return f"{names[0]} is {row['value']}"
        case "keep":
            return f"{names[0]} keeps its name"
    return f"{names[0]} is no name"


def question_lines(book: Book, question: Question) -> list[str]:
    """A question for a person: why, three snippets, the proposed answer and the others."""
    lines = ["", f"{question.form} ({question.count} mentions in {book.id}): {question.why}"]
    lines += [f"    ... {snippet(book, span)} ..." for span in question.snippets]
    lines.append(f"    proposed: {answer_text(question.proposal)}")
    if question.options:
        lines.append(f"    or: {'; '.join(answer_text(option) for option in question.options)}")
    return lines


def entities_named(cast: Cast, name: str) -> list[Entity]:
    """The entities that bear the name, or where none does those that bear it as a part of a name."""
    plain = plain_name(name)
    exact = [e for e in cast.entities if any(plain_name(n) == plain for n in e.names)]
    return exact or [e for e in cast.entities if any(set(plain.split()) <= set(plain_name(n).split()) for n in e.names)]


def show_entity(book: Book, cast: Cast, entity: Entity) -> str:
    """One entity with its names, how often each stands, three snippets, and why the names were linked."""
    mentions = [m for m in cast.mentions if m.entity_id == entity.id]
    counts = Counter(" ".join(book.text[m.start : m.end].split()) for m in mentions)
    facts = [entity.kind, *([entity.gender] if entity.kind == "person" else []), *([f"family {entity.family}"] if entity.family else [])]
    facts += ["real"] * entity.real + ["keeps its name"] * entity.fixed
    lines = [f"{entity.names[0]} ({book.id} {entity.id}): {', '.join(facts)}, {len(mentions)} mentions"]
    lines += [f"    {count:5d}  {name}" for name, count in counts.most_common()]
    for mention in (mentions[0], mentions[len(mentions) // 2], mentions[-1]) if len(mentions) > 2 else mentions:
        lines.append(f"    ... {snippet(book, (max(0, mention.start - 70), min(len(book.text), mention.end + 70)))} ...")
    lines += [f"    because {reason}" for reason in entity.evidence]
    return "\n".join(lines)


def show_cast(book: Book, cast: Cast, most: int = 40) -> str:
    """The most frequent people and places of a book, one a line."""
    counts = Counter(m.entity_id for m in cast.mentions)
    lines = [
        f"{book.title}: {sum(e.kind == 'person' for e in cast.entities)} people, {sum(e.kind == 'place' for e in cast.entities)} places, "
        f"{len(cast.unresolved)} open questions"
    ]
    for entity in sorted(cast.entities, key=lambda e: (-counts[e.id], e.id))[:most]:
        gender = {"female": "f", "male": "m"}.get(entity.gender, " ") if entity.kind == "person" else " "
        lines.append(f"{counts[entity.id]:6d}  {entity.kind:6s} {gender}  {' | '.join(entity.names[:6])}")
    return "\n".join(lines)


def cast_summary(cast: Cast) -> dict[str, Any]:
    """A cast as plain values, for ``--json``."""
    counts = Counter(m.entity_id for m in cast.mentions)
    return {
        "book": cast.book_id,
        "entities": [
            {"id": e.id, "kind": e.kind, "gender": e.gender, "names": list(e.names), "family": e.family, "mentions": counts[e.id]}
            for e in cast.entities
        ],
        "unresolved": [question_row(q) for q in cast.unresolved],
    }


def question_row(question: Question) -> dict[str, Any]:
    """A question as plain values."""
    return {
        "id": question.id,
        "kind": question.kind,
        "form": question.form,
        "count": question.count,
        "why": question.why,
        "proposal": dict(question.proposal),
        "options": [dict(option) for option in question.options],
    }


def ranked(casts: Sequence[Cast]) -> list[tuple[Cast, Question]]:
    """All questions of all books, most frequent first."""
    return sorted(((cast, q) for cast in casts for q in cast.unresolved), key=lambda row: (-row[1].count, row[0].book_id, row[1].id))
