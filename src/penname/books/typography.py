"""One house style for the characters: quotes, dashes, ellipses, spaces, italics. Doing it twice changes nothing."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

from penname.books.draft import Draft, Rewrite
from penname.core.config import BooksConfig

_STRAIGHT = {
    **dict.fromkeys("“”„‟″❝❞〝〞＂", '"'),
    **dict.fromkeys("‘’‚‛′❛❜＇", "'"),
}
_STRAIGHT_RE = re.compile("[" + "".join(_STRAIGHT) + "]")
_SPACED_DASH = re.compile(r"(?<=[^\s—-]) +(?:-{2,}|[–—―⸺⸻])(?:-|[–—―⸺⸻])* +(?=[^\s—-])")
_DASH = re.compile(r"(?:-{2,}|[—―⸺⸻]|–(?!\d)|(?<!\d)–)(?:-|[–—―⸺⸻])*")
_ELLIPSIS = re.compile(r"…|(?<=\.) (?=\.(?: \.)*(?!\d))")
_CONTROL = re.compile("[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\ufff9-\ufffb]+")
_SPACE = re.compile("[\t\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_NEWLINE = re.compile("\r\n|[\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def normalise_characters(draft: Draft) -> None:
    """Newlines to ``\\n``, other spaces to " ", invisible characters out, accents composed (canonical equivalents only)."""
    draft.rewrite((m.start(), m.end(), "\n", "newline") for m in _NEWLINE.finditer(draft.text))
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
    if settings.italics == "remove":
        draft.rewrite(_italics(draft.text))
    draft.rewrite((m.start(), m.end(), _STRAIGHT[m[0]], "quote") for m in _STRAIGHT_RE.finditer(draft.text))
    draft.rewrite((m.start(), m.end(), "—", "dash") for m in _SPACED_DASH.finditer(draft.text))
    draft.rewrite((m.start(), m.end(), "—", "dash") for m in _DASH.finditer(draft.text))
    draft.rewrite((m.start(), m.end(), "..." if m[0] == "…" else "", "ellipsis") for m in _ELLIPSIS.finditer(draft.text))
    draft.rewrite((m.start(), m.end(), " ", "space") for m in re.finditer(r" {2,}", draft.text))
    draft.rewrite((m.start(), m.end(), "", "space") for m in re.finditer(r"(?m)^ +| +$", draft.text))


_ITALIC = re.compile(r"(?<![^\W_])_(?=\S)([^_]*?\S)_(?![^\W_])|(?<![\w*])\*(?=[^\s*])([^*\n]*?[^\s*])\*(?![\w*])")


def _italics(text: str) -> Iterator[Rewrite]:
    for match in _ITALIC.finditer(text):
        if "\n\n" in match[0]:
            continue
        yield match.start(), match.start() + 1, "", "italics"
        yield match.end() - 1, match.end(), "", "italics"
