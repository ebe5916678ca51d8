"""The name dictionary: about 23,000 names with gender and language, in one file whose hash goes into every manifest."""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from zlib import crc32

from penname.core.beatnames import starts_with_vowel
from penname.core.errors import BadInput
from penname.core.hashing import sha256_bytes
from penname.core.letters import without_accents

DATA = Path(__file__).parent / "data" / "names.txt"
_RESERVED_ONE_IN = 5  # this share of the names is kept for copy 0, so that no training copy holds a name of judging's map
_SOUNDS = {"stop": "bcdgkpqt", "hiss": "fhjsvxz", "flow": "lmnrwy"}


Pools = dict[tuple[str, str, bool], list[str]]


@dataclass(frozen=True, slots=True)
class Shape:
    """What a new name has in common with the old one."""

    vowel: bool  # begins with a vowel sound, so that a/an before it stays
    hiss_end: bool  # ends in s, x, z, ch or sh, so that its plural and possessive are spelled alike
    ascii: bool
    syllables: int
    sound: str  # class of the first sound: vowel, stop, hiss or flow


@dataclass(frozen=True)
class Dictionary:
    """Names to draw from, by pool; what is known of names that are never drawn; short forms.

    A role is f or m (given), s (surname), p (a place's), o and d (after O' and D'), c (Mac names), t and u (after St., for a man and
    a woman); "f-" holds the rarer names of f.
    """

    sha256: str
    pools: Pools  # (role, language, reserved for copy 0) -> names
    known: dict[str, str]  # bare given name -> "f", "m" or "fm"
    short: dict[str, tuple[str, ...]]  # bare name -> short forms that may be drawn
    short_known: dict[str, tuple[str, ...]]  # bare name -> all its bare short forms
    languages: dict[str, str]  # bare name -> language, where it is not English
    size: int
    _shaped: dict[tuple[str, str, bool], dict[Shape, list[str]]] = field(default_factory=dict)

    def shaped(self, role: str, language: str, reserved: bool) -> dict[Shape, list[str]]:
        """The names of a pool by their shape."""
        key = role, language, reserved
        if key not in self._shaped:
            by_shape: dict[Shape, list[str]] = defaultdict(list)
            for name in self.pools.get(key, ()):
                by_shape[shape_of(name)].append(name)
            self._shaped[key] = dict(by_shape)
        return self._shaped[key]


def bare(word: str) -> str:
    """Case, accents and the kind of apostrophe do not tell names apart: "ADÈLE’" is "adele'"."""
    return without_accents(word.casefold().replace("’", "'"))


def syllables(word: str) -> int:
    """Vowel groups, without a silent final e; at least 1. A rule of thumb that is right for most English names."""
    flat = re.sub(r"[^a-z]", "", bare(word))
    flat = re.sub(r"(?<=[^aeiouyl])e(s?)$", r"\1", flat) if len(flat) > 3 else flat
    return max(1, len(re.findall(r"[aeiouy]+", flat)))


def shape_of(word: str) -> Shape:
    """The shape that a new name for this word should have."""
    flat, vowel = bare(word), starts_with_vowel(word)
    sound = "vowel" if vowel else next((kind for kind, letters in _SOUNDS.items() if flat[:1] in letters), "flow")
    return Shape(vowel, bool(re.search(r"(?:[sxz]|ch|sh)$", flat)), word.isascii(), min(4, syllables(word)), sound)


def parse_dictionary(text: str) -> Dictionary:
    """A dictionary from the text of ``names.txt`` (see its first line)."""
    pools: Pools = defaultdict(list)
    known: dict[str, str] = {}
    short: dict[str, tuple[str, ...]] = {}
    short_known: dict[str, tuple[str, ...]] = {}
    languages: dict[str, str] = {}
    size = 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith(">"):
            head, drawn, seen = (part.split() for part in line[1:].split("|"))
            short[bare(head[0])], short_known[bare(head[0])] = tuple(drawn), tuple(map(bare, drawn + seen))
        elif line.startswith("="):
            gender, *words = line[1:].split()
            for word in map(bare, words):
                known[word] = known.get(word, "").replace(gender, "") + gender
        else:
            word, roles, *rest = line.split("\t")
            language = rest[0] if rest else "en"
            if not roles.strip("-") or set(roles) - set("fmspodtu-"):
                raise BadInput(f"line {number} of the name dictionary has the roles {roles!r}; f, m, s, p, o, d, t, u and - are known")
            size += 1
            reserved = _is_reserved(word)
            for role in roles.rstrip("-"):
                # Mac names make a pool of their own: a Macdonald becomes one, and nobody else does.
                pool = "c" if role in "sp" and word.startswith("Mc") else role
                pools[pool + "-" * roles.endswith("-"), language, reserved].append(word)
                if role in "fm":
                    known[bare(word)] = known.get(bare(word), "").replace(role, "") + role
            if language in ("fr", "de", "it", "es"):
                languages[bare(word)] = language
    return Dictionary(sha256_bytes(text.encode()), dict(pools), known, short, short_known, languages, size)


def _is_reserved(word: str) -> bool:
    return crc32(bare(word).encode()) % _RESERVED_ONE_IN == 0


@cache
def load_dictionary() -> Dictionary:
    """The dictionary that ships with Penname, parsed once a process."""
    return parse_dictionary(DATA.read_text(encoding="utf-8"))
