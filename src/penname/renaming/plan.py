"""The plan of one copy: which new word each old name word becomes. Drawn from the dictionary by (seed, book, copy, word)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator

from penname.core.callings import other_callings
from penname.core.errors import BadInput
from penname.core.rng import CounterRng
from penname.renaming.dictionary import Dictionary, Shape, bare, shape_of
from penname.renaming.namewords import NameWord

_PREFIX = re.compile(
    r"(?P<irish>O['’])(?=\w)|(?P<norman>[Dd]['’])(?=\w)|(?P<mac>Mc|Mac(?=[A-Z])|M['’])(?=\w)|(?P<macd>Mac)(?=[dfgklnp][a-z]{4})"
)


_OTHER_VOWEL = {"a": "e", "e": "a", "i": "y", "o": "u", "u": "o", "y": "i"}
_INITIALS = frozenset("abcdefghijklmnoprstvw")  # letters that begin names enough, of either gender, for those who share an initial
_CHUNK_MIN = 24  # names of about the same shape to choose from, before the shape is given up


def draw_names(
    words: dict[str, NameWord], dictionary: Dictionary, taken: frozenset[str], seed: int, copy: int, scope: str
) -> dict[str, str]:
    """Old name word -> new word, for every word that is drawn (derived forms follow their base).

    ``taken`` are the bare words of all books of the voice: no new name is among them, nor is its plural. Each old word gets a
    word of its own. Raises BadInput where the dictionary has no name left.
    """
    draw = _Draw(dictionary, taken | words.keys(), seed, copy, scope)
    new: dict[str, str] = {}
    ordered = sorted((word for word in words.values() if word.stem_of is None), key=lambda word: (-word.count, word.key))
    respelt = _respelt(ordered)
    shorts = _short_forms([word for word in ordered if word.key not in respelt], dictionary)
    followers = {short for group in shorts.values() for short in group} | set(respelt)
    for word in ordered:
        if word.key in followers:
            continue
        group = [words[key] for key in shorts.get(word.key, ())]
        new |= draw.with_short_forms(word, group)
        for short in group:
            if short.key not in new:
                new[short.key] = draw.one(short)
    for key, base in respelt.items():
        new[key] = draw.respelt(words[key], new[base])
    return {word.key: new[word.key] for word in ordered}


def _respelt(ordered: list[NameWord]) -> dict[str, str]:
    """Dialect and spelling variants -> the name that they are variants of: "Kath'rine" of Katharine, "Pettyfer" of Pettifer."""
    out: dict[str, str] = {}
    by_start: dict[str, list[NameWord]] = defaultdict(list)
    for word in ordered:  # the more frequent first
        for base in by_start[word.key[:3]] if len(word.key) > 4 else ():
            letters = word.key.replace("'", "")
            elided = "'" in word.key[2:-1] and base.key[-2:] == word.key[-2:] and 0 <= len(base.key) - len(letters) <= 2
            slip = len(base.key) == len(word.key) and sum(a != b for a, b in zip(base.key, word.key, strict=True)) == 1
            slip = slip and base.key[-1] == word.key[-1] and word.role in ("bare", base.role)
            if slip or (elided and _is_subsequence(letters, base.key)):
                out[word.key] = base.key
                break
        else:
            by_start[word.key[:3]].append(word)
    return out


def _is_subsequence(short: str, long: str) -> bool:
    letters = iter(long)
    return all(letter in letters for letter in short)


def _short_forms(ordered: list[NameWord], dictionary: Dictionary) -> dict[str, list[str]]:
    """Head word -> its short forms in this book: two names of one person, of which one is a short form of the other."""
    borne: dict[str, list[NameWord]] = defaultdict(list)
    for word in ordered:
        for owner in word.owners:
            borne[owner].append(word)
    groups: dict[str, list[str]] = {}
    grouped: set[str] = set()
    for head in ordered:
        known = dictionary.short_known.get(head.key, ())
        for other in {word.key: word for owner in sorted(head.owners) for word in borne[owner]}:
            if other == head.key or other in grouped or other in groups or head.key in grouped:
                continue
            if other in known or (len(other) < len(head.key) + 3 and _is_pet_form(head.key, other)):
                groups.setdefault(head.key, []).append(other)
                grouped.add(other)
    return groups


def _is_pet_form(name: str, other: str) -> bool:
    return len(name) > 2 and other[:3] == name[:3] and bool(re.fullmatch(r"[a-z]{2,}(?:y|ie|ey|et|ette|kin|chen|lein|ina|ita)", other))


class _Draw:
    """Names of one copy, each given out once."""

    def __init__(self, dictionary: Dictionary, taken: frozenset[str], seed: int, copy: int, scope: str) -> None:
        self.dictionary, self.taken, self.seed, self.copy, self.scope = dictionary, taken, seed, copy, scope
        self.used: set[str] = set()
        self.initials: dict[str, str] = {}  # old initial -> new initial, one to one, so that signatures stay apart

    def with_short_forms(self, word: NameWord, group: list[NameWord]) -> dict[str, str]:
        """Old key -> new word: of a word, and of its short forms where a name with so many can be found."""
        role, language = self._pools(word)[0]
        rich = []
        for name in self._candidates(word, [(role, language)]) if group else ():
            forms = [form for form in self.dictionary.short.get(bare(name), ()) if self._is_free(form)]
            if len(forms) >= len(group) and self._fits(name, word):
                rich.append((name, forms))
        if not rich:
            return {word.key: self.one(word)}
        nearest = rich[: max(self.copy + 1, len(rich) // 3)]
        name, forms = nearest[self._start(word, len(nearest))]
        self._take(name, word)
        new = {word.key: name}
        forms.sort(key=lambda form: CounterRng(self.seed, "short", self.copy, name, form).bits64())
        for short in group:
            form = next((form for form in forms if form not in new.values() and self._has_initial(form, short)), None)
            if form:
                self._take(form, short)
                new[short.key] = form
        return new

    def one(self, word: NameWord) -> str:
        """A new word for one old word."""
        prefix = _PREFIX.match(word.text)
        for name in self._fitting(word):
            text = name
            if prefix:
                rest = name.removeprefix("Mc") if prefix.lastgroup in ("mac", "macd") else name
                text = prefix.group() + (rest.lower() if prefix.lastgroup == "macd" else rest)
            if self._is_free(text):
                self._use(name)
                self._take(text, word)
                return text
        raise BadInput(
            f'the name dictionary has no name left for "{word.text}" in copy {self.copy}; lower copies.count, '
            "or keep names with: penname cast --keep"
        )

    def respelt(self, word: NameWord, name: str) -> str:
        """A respelling of a new name, as the old word is one of the old name; a name of its own where none is free."""
        vowels = [i for i in range(len(name) - 2, 1, -1) if name[i] in _OTHER_VOWEL]
        for i in vowels:
            text = name[:i] + ("'" if "'" in word.key else _OTHER_VOWEL[name[i]]) + name[i + 1 :]
            if self._is_free(text):
                self._use(text)
                return text
        return self.one(word)

    def _use(self, text: str) -> None:
        self.used |= {bare(text), bare(text) + "s", bare(text).removesuffix("s")}

    def _is_free(self, text: str) -> bool:
        flat = bare(text)
        forms = {flat, flat + "s", flat + "es", flat.removesuffix("s")}
        return not forms & self.taken and flat not in self.used and not forms & self.used

    def _fitting(self, word: NameWord) -> Iterator[str]:
        """The free candidates for a word: those with the right initial, and where a pool has run out of these, the others."""
        pools = self._pools(word)
        yield from (name for name in self._candidates(word, pools) if self._fits(name, word))
        yield from (name for name in self._candidates(word, pools) if word.initial and bare(name)[0] != word.key[0] and self._is_free(name))

    def _fits(self, name: str, word: NameWord) -> bool:
        return self._is_free(name) and self._has_initial(name, word)

    def _has_initial(self, name: str, word: NameWord) -> bool:
        """Whether the name begins as it must, where the word also stands as an initial: a "J. E." that stayed would give it away."""
        if not word.initial:
            return True
        new, old = bare(name)[0], word.key[0]
        if old in self.initials:
            return self.initials[old] == new
        return new != old and new in _INITIALS and new not in self.initials.values()

    def _take(self, name: str, word: NameWord) -> None:
        self._use(name)
        if word.initial:
            self.initials.setdefault(word.key[0], bare(name)[0])

    def _start(self, word: NameWord, n: int) -> int:
        # Copies start far apart in a pool, so that one old name seldom becomes the same word twice.
        return (CounterRng(self.seed, "names", self.scope, word.key).bits64() + self.copy * (n // 8 or 1)) % n

    def _candidates(self, word: NameWord, pools: list[tuple[str, str]]) -> Iterator[str]:
        """Names that would do, best first: the same pool and shape, then shapes further off, then wider pools."""
        if word.calling:
            yield from self._callings(word)
        wanted = shape_of(_PREFIX.sub("", word.text) or word.text)
        for role, language in pools:
            for rare in ("", "-"):
                shapes = self.dictionary.shaped(role + rare, language, self.copy == 0)
                for names in _chunks(wanted, shapes):
                    start = self._start(word, len(names))
                    yield from names[start:]
                    yield from names[:start]

    def _callings(self, word: NameWord) -> Iterator[str]:
        """Other callings: those of the same kind from a start of this copy's own, then the rest."""
        near, far = other_callings(word.key)
        for callings in near, far:
            start = self._start(word, len(callings)) if callings else 0
            yield from map(str.capitalize, callings[start:] + callings[:start])

    def _pools(self, word: NameWord) -> list[tuple[str, str]]:
        prefix = _PREFIX.match(word.text)
        if prefix:
            kind = prefix.lastgroup or ""
            return [{"irish": ("o", "irish"), "norman": ("d", "norman"), "mac": ("c", "en"), "macd": ("c", "en")}[kind], ("s", "en")]
        language = _language(word)
        gender = _gender(word, self.dictionary)
        if word.saint and word.role != "surname":
            pools = [("u" if gender == "f" else "t", "saint"), (gender or "m", "en"), ("s", "en")]
        elif word.role == "place":
            pools = [("p", "en"), ("s", "en")] if language == "en" else [("s", language), ("p", "en"), ("s", "en")]
        elif word.role == "surname":
            pools = [("s", language), ("s", "en")]
        elif gender:
            pools = [(gender, language), (gender, "en"), ("s", "en")]
        else:
            pools = [("s", language), ("s", "en")]
        return list(dict.fromkeys(pools))


def _language(word: NameWord) -> str:
    return min(word.languages, key=lambda x: (-word.languages[x], x), default="") or ("en" if word.text.isascii() else "fr")


def _gender(word: NameWord, dictionary: Dictionary) -> str:
    """ "f", "m", or "" where neither the cast nor the dictionary tells (a name for either then comes from the surnames)."""
    female, male = word.genders["female"], word.genders["male"]
    known = dictionary.known.get(word.key, "")
    if female == male:
        return known if len(known) == 1 else ""
    gender = "f" if female > male else "m"
    if gender == "m" and word.role == "bare" and not known:
        return ""  # "Heathcliff": a man's only name that is no known first name reads as a surname
    return gender


def _chunks(wanted: Shape, shapes: dict[Shape, list[str]]) -> Iterator[list[str]]:
    """The names of a pool, those of the nearest shapes first, in chunks that leave each copy a choice.

    The first sound's a/an and the last sound's plural hold as long as they can; then the accents, the syllables, the first sound's class.
    """

    def kind(shape: Shape) -> tuple[bool, bool, bool]:
        return shape.vowel != wanted.vowel, shape.hiss_end != wanted.hiss_end, shape.ascii != wanted.ascii

    def distance(shape: Shape) -> tuple[tuple[bool, bool, bool], int, int, str]:
        off = 2 * abs(shape.syllables - wanted.syllables) + (shape.sound != wanted.sound)
        return kind(shape), off, shape.syllables, shape.sound

    chunk: list[str] = []
    last = None
    for shape in sorted(shapes, key=distance):
        if chunk and (len(chunk) >= _CHUNK_MIN or kind(shape) != last):
            yield chunk
            chunk = []
        chunk = chunk + shapes[shape]
        last = kind(shape)
    if chunk:
        yield chunk
