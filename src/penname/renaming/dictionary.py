"""The name dictionary: about 23,000 names with gender and language, in one file whose hash goes into every manifest."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from penname.core.beatnames import starts_with_vowel
from penname.core.errors import BadInput
from penname.core.hashing import sha256_bytes

DATA = Path(__file__).parent / "data" / "names.txt"
_RESERVED_ONE_IN = 5  # this share of the names is kept for copy 0, so that no training copy holds a name of judging's map
_SOUNDS = {"stop": "bcdgkpqt", "hiss": "fhjsvxz", "flow": "lmnrwy"}


@dataclass(frozen=True, slots=True)
class Name:
    """One name that may be drawn. ``roles``: f, m (given), s (surname), p (a place's), o (after O'), d (after D')."""

    text: str
    roles: str
    language: str
    rare: bool
    shape: Shape
    reserved: bool


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
    """Names to draw from, by pool; what is known of names that are never drawn; short forms."""

    sha256: str
    pools: dict[tuple[str, str, bool], dict[Shape, list[Name]]]  # (role, language, reserved for copy 0) -> shape -> names
    known: dict[str, str]  # bare given name -> "f", "m" or "fm"
    surnames: frozenset[str]
    short: dict[str, tuple[str, ...]]  # bare name -> bare short forms
    languages: dict[str, str] = field(default_factory=dict)  # bare name -> language, where it is not English
    size: int = 0


def bare(word: str) -> str:
    """Case, accents and the kind of apostrophe do not tell names apart: "ADÈLE’" is "adele'"."""
    word = word.casefold().replace("’", "'")
    return word if word.isascii() else "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


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
    pools: dict[tuple[str, str, bool], dict[Shape, list[Name]]] = defaultdict(lambda: defaultdict(list))
    known: dict[str, str] = {}
    short: dict[str, tuple[str, ...]] = {}
    surnames, languages, size = set(), {}, 0
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith(">"):
            head, *forms = map(bare, line[1:].split())
            short[head] = tuple(forms)
        elif line.startswith("="):
            gender, *words = line[1:].split()
            for word in map(bare, words):
                known[word] = known.get(word, "") + gender
        else:
            word, roles, *language = line.split("\t")
            if not roles.strip("-") or set(roles) - set("fmspod-"):
                raise BadInput(f"line {number} of the name dictionary has the roles {roles!r}; f, m, s, p, o, d and - are known")
            size += 1
            _file_name(
                pools, Name(word, roles.rstrip("-"), language[0] if language else "en", "-" in roles, shape_of(word), _is_reserved(word))
            )
            for role in roles:
                if role in "fm":
                    known[bare(word)] = known.get(bare(word), "") + role
                elif role == "s":
                    surnames.add(bare(word))
            if language and language[0] not in ("irish", "norman"):
                languages[bare(word)] = language[0]
    return Dictionary(
        sha256_bytes(text.encode()), {k: dict(v) for k, v in pools.items()}, known, frozenset(surnames), short, languages, size
    )


def _file_name(pools: dict[tuple[str, str, bool], dict[Shape, list[Name]]], name: Name) -> None:
    for role in name.roles:
        if role == "s" and re.match(r"Mc[A-Z]", name.text):
            role = "c"  # Mac names make a pool of their own: a Macdonald becomes one, and nobody else does
        pools[role + ("-" if name.rare else ""), name.language, name.reserved][name.shape].append(name)


def _is_reserved(word: str) -> bool:
    return int(sha256_bytes(bare(word).encode())[:8], 16) % _RESERVED_ONE_IN == 0


@cache
def load_dictionary(path: Path = DATA) -> Dictionary:
    """The dictionary that ships with Penname, parsed once a process."""
    return parse_dictionary(path.read_text(encoding="utf-8"))
