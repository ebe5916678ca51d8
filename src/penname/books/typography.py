"""One house style for the characters: quotes, dashes, ellipses, spaces, italics. Doing it twice changes nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from penname.books.draft import Draft, Rewrite
from penname.core.config import BooksConfig

_STRAIGHT = dict.fromkeys("“”„‟″❝❞〝〞＂", '"') | dict.fromkeys("‘’‚‛′❛❜＇", "'")
_STRAIGHT_RE = re.compile("[" + "".join(_STRAIGHT) + "]")
_DASHES = re.compile(r"[-–—―⸺⸻]+(?: +[-–—―⸺⸻]+)*")
_DOTS = re.compile(r"[.…](?: ?[.…])+|…")
_CONTROL = re.compile(
    "[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb]+"
)
_SPACE = re.compile("[\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_NEWLINE = re.compile("[\r\x0b\x0c\x1c-\x1f\x85\u2028\u2029]")
BLANK = "——"  # a word left out on purpose ("the —— regiment"): closing it up would join its neighbours
_EMPHASIS = re.compile(r"([_*=~])\1*")  # italics, and the bold and spaced letters of proofreaders
_EMPHASIS_CHARS = 2000  # an emphasis mark that closes later than this is none
_EMPHASIS_TURNS = 8
_ELISIONS = re.compile(r"‘(?=(?:tis|twas|twere|twill|twould|em|ere|cause|till|neath|gainst|pon|bout|tother|specially)\b)", re.IGNORECASE)


def normalise(text: str, settings: BooksConfig | None = None) -> str:
    """A text in the house style; what ``read_book`` does to characters, without its structure. Idempotent."""
    draft = Draft(text)
    normalise_characters(draft)
    normalise_typography(draft, settings or BooksConfig())
    return draft.text


def normalise_characters(draft: Draft) -> None:
    """Newlines to ``\\n``, other spaces to " ", invisible characters out, accents composed (canonical equivalents only)."""
    draft.replace_all("\r\n", "\n")
    draft.rewrite((m.start(), m.end(), "\n", "newline") for m in _NEWLINE.finditer(draft.text))
    if not draft.text.isascii() or _CONTROL.search(draft.text):
        draft.rewrite((m.start(), m.end(), "", "invisible") for m in _CONTROL.finditer(draft.text))
    draft.rewrite((m.start(), m.end(), " ", "space") for m in _SPACE.finditer(draft.text))
    if not unicodedata.is_normalized("NFC", draft.text):
        draft.rewrite(_compositions(draft.text))


def _compositions(text: str) -> Iterator[Rewrite]:
    # Nothing composes across an ASCII character, so each run is normalised for itself.
    for match in re.finditer(r"[\x00-\x7f]?[^\x00-\x7f]+", text):
        composed = unicodedata.normalize("NFC", match[0])
        if composed != match[0]:
            yield match.start(), match.end(), composed, "compose"


def normalise_typography(draft: Draft, settings: BooksConfig) -> None:
    """The house style for a text whose lines are already joined."""
    if not draft.text.isascii() and settings.typography == "straight":
        draft.rewrite((m.start(), m.end(), _STRAIGHT[m[0]], "quote") for m in _STRAIGHT_RE.finditer(draft.text))
    for turn in range(_EMPHASIS_TURNS):
        found = _italics(draft.text) if settings.italics == "remove" else []
        draft.rewrite(found)
        if turn and not found:
            break
        draft.rewrite(_spaces(draft.text))
        draft.rewrite(_dashes(draft.text))  # may close up what then is a pair; and so may a pair inside another
    draft.rewrite(_ellipses(draft.text, curly=settings.typography == "curly"))
    if settings.typography == "curly":
        draft.rewrite(_curly(draft.text))


def _italics(text: str) -> list[Rewrite]:
    """Pairs of marks around words or around the first or last part of one ("_un_sympathizing"); any other mark in a word is none.

    A run of underscores is a blank left for a name, and becomes a dash.
    """
    open_at = dict.fromkeys("_*=~", -1)
    found: list[Rewrite] = []
    for match in _EMPHASIS.finditer(text):
        at, end, mark = match.start(), match.end(), match[0][0]
        start = open_at[mark]
        if start >= 0 and (at - start > _EMPHASIS_CHARS or text.find("\n\n", start, at) >= 0):
            start = open_at[mark] = -1
        if end - at > 1 and mark == "_":
            found.append((at, at + 1 if start >= 0 else end, "" if start >= 0 else BLANK, "italics" if start >= 0 else "blank"))
            if start >= 0:
                found += [(start, start + 1, "", "italics"), (at + 1, end, "", "italics")]
                open_at[mark] = -1
            continue
        if end - at > 1:
            continue
        before, after = text[at - 1 : at] or " ", text[end : end + 1] or " "
        if start >= 0 and at > start + 1 and (not before.isspace() or not after.isspace()) and _closes(text, start, at):
            found += [(start, start + 1, "", "italics"), (at, end, "", "italics")]
            open_at[mark] = -1
        elif not after.isspace() and (mark == "_" or not before.isalnum()):
            open_at[mark] = at
    return sorted(found)


def _closes(text: str, start: int, at: int) -> bool:
    """Whether the mark at ``at`` closes the one at ``start``: not both inside words, and a part of a word only where it is one."""
    if not any(map(str.isalnum, text[start + 1 : at])):
        return False
    in_word_start = text[start - 1 : start].isalnum()
    in_word_end = text[at + 1 : at + 2].isalnum()
    if not in_word_start and not in_word_end:
        return True
    return in_word_start != in_word_end and text[start + 1 : at].isalnum()


def _spaces(text: str) -> Iterator[Rewrite]:
    """Runs of spaces to one, none at the edges of lines, no more than one blank line, none at the ends of the text."""
    if (
        "  " not in text
        and " \n" not in text
        and "\n " not in text
        and "\n\n\n" not in text
        and text == text.strip() + "\n" * text.endswith("\n")
    ):
        return
    whole = text.rstrip()
    for match in re.finditer(r"[ \n]{2,}|^[ \n]+|[ \n]+\Z", text):
        start, end = match.span()
        lines = match[0].count("\n")
        if start == 0:
            yield start, end, "", "edge"
        elif start >= len(whole):
            yield start, end, "\n" if lines else "", "edge"
        else:
            yield start, end, "\n\n" if lines > 1 else "\n" if lines else " ", "space"


def _dashes(text: str) -> Iterator[Rewrite]:
    """Every dash to "—", closed up where it had a space on both sides; a hyphen and the dash of "1914–18" stay.

    A long dash between two spaces stands for a word, and stays apart.
    """
    for match in _DASHES.finditer(text):
        start, end = match.span()
        run = match[0]
        spaced = start > 0 and end < len(text) and text[start - 1] == " " == text[end]
        left = text[start - 2 : start - 1] if spaced else text[start - 1 : start]
        right = text[end + 1 : end + 2] if spaced else text[end : end + 1]
        if run == "-" and (not spaced or (left.isdigit() and right.isdigit())):
            continue
        if run == "–" and left.isdigit() and right.isdigit():
            continue
        if spaced and len(run.replace(" ", "")) > (2 if run[0] == "-" else 1):
            yield start, end, BLANK, "dash"
        else:
            yield start - spaced, end + spaced, "—", "dash"


def _ellipses(text: str, curly: bool) -> Iterator[Rewrite]:
    """Three dots and more, spaced out or not, to one form: "..." (or "…"), and every dot beyond three behind it."""
    for match in _DOTS.finditer(text):
        dots = match[0].count(".") + 3 * match[0].count("…")
        if dots >= 3:
            yield match.start(), match.end(), ("…" if curly else "...") + "." * (dots - 3), "ellipsis"


def _curly(text: str) -> Iterator[Rewrite]:
    """Straight quotes to curly ones, by docutils' SmartyPants, paragraph by paragraph."""
    from docutils.utils import smartquotes

    at = 0
    for paragraph in text.split("\n"):
        if '"' in paragraph or "'" in paragraph:
            curly = smartquotes.educateQuotes(" " + paragraph, "en")[1:]
            curly = _ELISIONS.sub("’", curly)
            if len(curly) == len(paragraph):
                for i, (old, new) in enumerate(zip(paragraph, curly, strict=True)):
                    if old != new:
                        yield at + i, at + i + 1, new, "quote"
        at += len(paragraph) + 1
