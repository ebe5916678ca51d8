"""Which capitalised words are names, and which of them stand together as one name."""

# ruff: noqa: SIM905 - word lists read better as text
from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from penname.cast.lexicon import Lexicon
from penname.cast.scan import INITIAL, MID, Scan, Token
from penname.cast.vocabulary import (
    BYNAMES,
    CAPITAL_PARTICLES,
    ENDEARMENTS,
    EPITHETS,
    MONTHS_DAYS,
    NEVER_NAMES,
    NOBLE_TITLES,
    PARTICLES,
    PEOPLES,
    PLACE_HEADS,
    PLACE_OPENERS,
    ROMAN,
    SOMETIMES_NAMES,
    SUFFIXES,
    SURNAME_TITLES,
    SURNAME_WORDS,
    TITLES,
    UNMARRIED_TITLES,
)
from penname.core.callings import CALLINGS

Pairs = Counter[tuple[str, str]]
_RARE = 5
_COURTESIES = frozenset("mr mrs miss m mme dr misses messrs".split())
_WORDS_AND_TITLES = frozenset("mars mist muster".split())  # titles in dialect, and words
_FEW = 3  # a calling that stands oftener in lower case is a word and no name
_CRIES = frozenset("pooh hum tut mum golly bravo adieu ta deary lo ho ha".split())
NAME, MAYBE, TITLE, NEVER = "name", "maybe", "title", "never"
_LINKS = "|".join(sorted(PARTICLES, key=len, reverse=True))
_GAP = re.compile(
    r"(?P<space>[ \t]{1,2}|[ \t]*\n[ \t]*(?!\n))$|(?P<hyphen>-(?:(?:the|on|upon|le|la|sur)-)?)$"
    r"|(?P<dot>\.[ \t]*\n?[ \t]*)$|(?P<suffix>,[ \t\n]+)$"
    rf"|\.?[ \t\n]+(?P<link>(?:{_LINKS})(?:[ \t\n]+la)?)[ \t\n]+$|[ \t\n]+(?P<of>of(?:[ \t\n]+the)?)[ \t\n]+$|[ \t\n]+(?P<nth>the)[ \t\n]+$"
)
_DWELLINGS = frozenset("house cottage court office hotel school college church chambers side end way company parish".split())
_RELATIONS = frozenset("wife husband daughter son relict".split())
_TITLED_OF = NOBLE_TITLES | frozenset("king queen prince princess emperor empress bishop archbishop master dean dauphin".split())
_DETERMINERS = frozenset("the a an my his her your our their this that these those some any no every each another such".split())
_LOWER_BEFORE = re.compile(r"[a-zà-öø-ÿ][,;:]?[ \t\n]+[\"“‘'_]?$")
_LOWER_AFTER = re.compile(r"(?:['’]\w*)?[,;:]?[\"”’'_]?[ \t\n]+[a-zà-öø-ÿ]")
_BEFORE = re.compile(r"([^\W\d_]+)[ \t\n]+[\"“‘'_]?$")


@dataclass(slots=True)
class Span:
    """One place where a name stands; ``titles`` and ``words`` are the keys of its parts, in order."""

    start: int
    end: int
    titles: tuple[str, ...]
    words: tuple[str, ...]
    surface: str
    place: int
    tokens: tuple[Token, ...]
    joined: str = ""  # "of", "link", "hyphen" where the parts hang together by more than a space
    alone: bool = field(default=False)  # one word that is only sometimes a name


def classify_words(scan: Scan, lexicon: Lexicon, pool: Scan | None = None) -> dict[str, str]:
    """For each key: NAME, MAYBE (needs a neighbour or evidence), TITLE or NEVER.

    A word that the book has too seldom to tell is judged by ``pool``, the counts of all the books of the voice.
    """
    determined, free = _determiner_counts(scan)
    classes: dict[str, str] = {}
    for key in {*scan.mid, *scan.initial, *scan.caps}:
        rare = pool is not None and scan.mid[key] + scan.initial[key] + scan.lower[key] < _RARE
        classes[key] = _classify(key, pool if pool and rare else scan, lexicon, determined[key], free[key])
    named = Counter(
        right.key
        for left, right in pairwise(scan.tokens)
        if right.key in PEOPLES
        and (left.key in SURNAME_TITLES | UNMARRIED_TITLES or lexicon.is_first_name(left.word))
        and scan.text[left.end : right.start] in (" ", ". ", ".\n", "\n")
    )
    for key, count in named.items():
        if count * 8 >= scan.mid[key]:  # "Mr. Pole", "Jane Finn": a people's name that this book uses as a surname
            classes[key] = NAME if free[key] > 2 * determined[key] else MAYBE
    titles = _uses_before_names(scan)
    for key in _WORDS_AND_TITLES & classes.keys():
        if titles[key] * 2 < scan.mid[key]:  # the planet Mars, and no "Mars' Tom"
            classes[key] = NAME if scan.mid[key] > scan.lower[key] else NEVER
    for key in _borne_titles(scan) & classes.keys():
        if not titles[key] and scan.lower[key] <= _FEW and free[key] > determined[key]:
            classes[key] = NAME  # Miss Abbot, and "her maid Abbot"
    return classes | dict.fromkeys(_stressed(scan, lexicon), NEVER) | dict.fromkeys(calling_names(scan), NAME)


def _stressed(scan: Scan, lexicon: Lexicon) -> set[str]:
    """Words that stand in capitals only, among words that do not, and that no list of names holds: "the surly INDIGENAE will"."""
    plain: set[str] = set()
    stressed: set[str] = set()
    for token in scan.tokens:
        if not token.caps or scan.mid[token.key] or scan.initial[token.key]:
            continue
        name = token.key.capitalize()
        alone = _LOWER_BEFORE.search(scan.text, max(0, token.start - 16), token.start) and _LOWER_AFTER.match(scan.text, token.end)
        known = name in lexicon.first_names or name in lexicon.surnames or name in lexicon.places or name in lexicon.full_forms
        (stressed if alone and not known else plain).add(token.key)
    return stressed - plain


def _borne_titles(scan: Scan) -> set[str]:
    """Title words that a woman bears as a surname here: "Miss Abbot"; "Mr. Dean" may be addressed by his office."""
    return {
        right.key
        for left, right in pairwise(scan.tokens)
        if left.key in ("mrs", "miss", "misses") and right.key in SURNAME_WORDS and right.place == MID and right.start - left.end <= 2
    }


def calling_names(scan: Scan) -> set[str]:
    """Callings that the book writes as a name ("the Coroner", "Granny"): with a capital, and never before another name."""
    titles = _uses_before_names(scan)
    return {key for key in CALLINGS if not titles[key] and scan.mid[key] > 3 * scan.lower[key] and scan.lower[key] <= _FEW}


def _uses_before_names(scan: Scan) -> Counter[str]:
    """For each key, how often it stands as a title does: before another capital that nothing forces."""
    return Counter(
        left.key
        for left, right in pairwise(scan.tokens)
        if right.place == MID and right.start - left.end <= 2 and scan.text[left.end : right.start].strip() in ("", ".")
    )


def _determiner_counts(scan: Scan) -> tuple[Counter[str], Counter[str]]:
    """For each key, how many of its free capitals stand after "the", "my" and the like, and how many do not."""
    determined: Counter[str] = Counter()
    free: Counter[str] = Counter()
    text = scan.text
    for token in scan.tokens:
        if token.place != MID or token.caps:
            continue
        if _is_determined(text, token.start):
            determined[token.key] += 1
        else:
            free[token.key] += 1
    return determined, free


def _classify(key: str, scan: Scan, lexicon: Lexicon, determined: int, free: int) -> str:
    mid, initial, lower = scan.mid[key], scan.initial[key], scan.lower[key]
    common = lexicon.per_million(key)
    name = key.capitalize()
    first = lexicon.first_names.get(name)
    if key in TITLES:
        return TITLE
    if key in _CRIES and mid >= 20 and lower * 20 <= mid:
        return NAME  # Pooh
    if key in NEVER_NAMES or len(key) == 1 or (scan.caps[key] and not mid and ROMAN.fullmatch(key)):
        return NEVER
    known = (first is not None and first[1] < 1500) or (name in lexicon.places and lexicon.places[name] > 1) or name in lexicon.full_forms
    if mid == 0:
        if lower or (common > 0.3 and not known) or common > 3:
            return MAYBE if (not lower and common < 20) or (known and lower < 3) else NEVER
        return NAME if known or initial >= 2 or common == 0 else MAYBE
    share = mid / (mid + lower)
    if key in SOMETIMES_NAMES:
        return NAME if share > 0.8 and free >= 8 and free > 3 * determined else MAYBE
    if lower == 0 and common < 0.3:
        return NAME
    if (common < 3 and share >= 0.5) or (known and share >= 0.4 and common < 30):
        return NAME
    if share >= 0.8 and free >= 4 and free > determined:
        return NAME
    return MAYBE if share >= 0.02 or known else NEVER


def find_spans(scan: Scan, classes: dict[str, str], lexicon: Lexicon) -> list[Span]:
    """The names of the text, in order: runs of capitalised words cut where a new name begins."""
    tokens, text = scan.tokens, scan.text
    spans: list[Span] = []
    pairs = _free_pairs(scan)
    i, n = 0, len(tokens)
    while i < n:
        run, gaps = [tokens[i]], []
        i += 1
        while i < n:
            gap = _gap(text, run[-1], tokens[i], classes)
            if not gap:
                break
            run.append(tokens[i])
            gaps.append(gap)
            i += 1
        _cut_run(run, gaps, classes, text, spans, pairs)
    return spans


def _free_pairs(scan: Scan) -> Pairs:
    """How often two capitalised words stand together where nothing forces the first one's capital."""
    pairs: Pairs = Counter()
    for left, right in pairwise(scan.tokens):
        if left.place == MID and right.start - left.end == 1 and not left.possessive:
            pairs[left.key, right.key] += 1
    return pairs


def _gap(text: str, left: Token, right: Token, classes: dict[str, str]) -> str:
    """How two capitalised words hang together ("space", "hyphen", "dot", "link", "of", "suffix"), or nothing."""
    between = right.start - left.end
    if between > 12:
        return ""
    gap = text[left.end : right.start]
    if left.possessive and between != 1:
        owned = right.key in PLACE_HEADS - _DWELLINGS and right.place == MID and not right.caps
        return "owner" if owned and gap in ("'s ", "’s ", "'s\n", "’s\n") else ""
    if gap == " " or (gap in ("' ", "’ ") and left.key in TITLES):  # "Mis' Watson"
        kind = "space"
    else:
        match = _GAP.match(gap)
        if not match:
            return ""
        kind = match.lastgroup or ""
    if kind == "dot":
        initial = len(left.word) == 1
        return "dot" if (initial or (right.place == MID and left.key in TITLES) or left.key in ("st", "ste", "mt", "ft")) else ""
    if kind == "suffix":
        return "suffix" if right.key in SUFFIXES and right.key != "junior" else ""
    if left.possessive:
        return ""
    if right.place == INITIAL and kind != "hyphen" and not (right.caps and left.caps):
        return ""
    if kind == "nth":
        return "nth" if right.key in BYNAMES and right.place == MID and classes.get(left.key) == NAME else ""
    if kind == "of":
        return (
            "of"
            if left.key in _TITLED_OF
            or ((left.key in PLACE_HEADS or left.key in PLACE_OPENERS) and (left.key != "house" or right.key in ("commons", "lords")))
            else ""
        )
    if left.caps != right.caps and len(left.word) > 1 and len(right.word) > 1 and left.key not in TITLES:
        return kind if right.caps and ROMAN.fullmatch(right.key) and kind == "space" else ""  # "Charles II"
    return kind


def _cut_run(run: list[Token], gaps: list[str], classes: dict[str, str], text: str, spans: list[Span], pairs: Pairs) -> None:
    """Cut a run of capitalised words into names."""
    current: list[Token] = []
    named = False
    joined = ""

    def flush() -> None:
        nonlocal current, named, joined
        if current:
            span = _finish(current, named, joined, classes, text, pairs)
            if span:
                spans.append(span)
        current, named, joined = [], False, ""

    for k, token in enumerate(run):
        gap = gaps[k - 1] if k else ""
        kind = classes.get(token.key, NEVER)
        last = k == len(run) - 1
        if gap == "owner" and (not named or current[0].key in TITLES):
            flush()  # "the King's Bench", "Mrs. Lynde's Hollow"
        if named and gap and (token.key in SUFFIXES or (len(token.key) > 1 and token.word.isupper() and ROMAN.fullmatch(token.key))):
            if token.key not in ("esq", "esquire"):
                current.append(token)  # "Charles II", "Tom Smith, Junior"; "Esq." stays outside the name
            continue
        if kind == TITLE and not (current and named and gap == "hyphen"):
            after_title = bool(current) and not named and current[-1].key in _COURTESIES
            if after_title and (last or gaps[k] not in ("space", "dot", "link")):
                current.append(token)  # "Miss King": a title word borne as a surname
                named = True
                continue
            if named and not (token.key in CAPITAL_PARTICLES and not last):
                if (
                    token.place == MID
                    and gap in ("space", "dot")
                    and token.key in SURNAME_WORDS
                    and (last or gaps[k] not in ("space", "dot", "link"))
                ):
                    current.append(token)
                    continue
                flush()
            current.append(token)
            continue
        if len(token.word) == 1:
            dotted = text[token.end : token.end + 1] == "."
            inside = bool(current) and bool(gap) and not last
            if not (inside or (dotted and token.word != "I" and (gap or not last))):
                flush()  # "I", "A", the number of a chapter
                continue
            current.append(token)
            continue
        if token.key in CAPITAL_PARTICLES and not last:
            current.append(token)
            continue
        titled = bool(current) and not named and current[-1].key in TITLES
        if kind == NEVER and not _goes_on(token, gap, titled, named and classes.get(current[-1].key) == NAME):
            flush()
            continue
        if named and gap != "hyphen" and (token.key in MONTHS_DAYS or token.key in _RELATIONS):
            flush()  # "Colonel Brandon Monday", "Georgiana Wife of the Above"
            continue
        if not k or not current:
            joined = ""
        if gap in ("of", "link", "hyphen"):
            joined = joined or gap
        current.append(token)
        named = True
    flush()


def _goes_on(token: Token, gap: str, titled: bool, named: bool) -> bool:
    """Whether a word that is no name by itself belongs to one here: "Mr. Next", "Emanuel College", "Rudolf the Third"."""
    if token.place != MID:
        return False
    return (titled and token.key not in _FUNCTION) or (named and (gap == "nth" or (gap in ("space", "owner") and token.key in PLACE_HEADS)))


_FUNCTION = frozenset(
    """i you he she it we they the a an and but or nor for so if as at by in on of to from with what who when where why how yes no
    oh ah is are was were
    do did does have has had will would shall should can could may might must not never this that these those there here then now
    sir madam ma'am my your his her our their its come go let please thank pray""".split()
) - {"may", "will"}


def _word(token: Token, text: str, last: bool) -> str:
    """The key of a word within a name: "third" of Rudolf the Third is "the third", "lynde" of Lynde's Hollow "lynde's"."""
    if token.possessive and not last:
        return token.key + "'s"
    byname = text[token.start - 4 : token.start] in ("the ", "the\n") and token.key in BYNAMES
    return f"the {token.key}" if byname or text[token.start - 5 : token.start] == "-the-" else token.key


def _is_office(words: list[Token], classes: dict[str, str], text: str) -> bool:
    """Whether a run that ends with a title is no more than one: "the Hereditary Prince", and not "Nelly Dean"."""
    if classes.get(words[-1].key) != TITLE:
        return False
    return len(words) == 1 or words[-1].key not in SURNAME_WORDS or _is_determined(text, words[0].start)


def _is_determined(text: str, start: int) -> bool:
    before = _BEFORE.search(text, max(0, start - 16), start)
    return bool(before) and before.group(1).lower() in _DETERMINERS  # type: ignore[union-attr]


def _finish(current: list[Token], named: bool, joined: str, classes: dict[str, str], text: str, pairs: Pairs) -> Span | None:
    tokens = list(current)
    # A first word that a sentence forces into capitals stays outside where the book never writes it so without being
    # forced: "Then Jane", but "Ragged Dick". Epithets stay outside too, unless the book gives one a capital of its own: "Poor Jane",
    # but "Black Michael".
    while len(tokens) > 1 and tokens[0].key not in TITLES and text[tokens[0].end : tokens[1].start] != "-":
        first = tokens[0]
        forced = first.place != MID and classes.get(first.key) == MAYBE and not pairs[first.key, tokens[1].key]
        borne = first.key not in ENDEARMENTS and pairs[first.key, tokens[1].key] > 1  # "Black Michael", and not "Poor Jane"
        if not forced and (borne or first.key not in EPITHETS):
            break
        tokens = tokens[1:]
    k = 0
    while k < len(tokens) - 1 and tokens[k].key in TITLES:
        k += 1
    rest = tokens[k:]
    if len(rest) == 1 and not k and classes.get(rest[0].key) == NEVER:
        return None  # an epithet was cut off: "the Little Theatre"
    if not named or (not k and (_is_office(rest, classes, text) or all(len(t.word) == 1 for t in rest))):
        return None
    start, end = tokens[0].start, tokens[-1].end
    if text[start - 2 : start] in ("d'", "d’") and not text[start - 3 : start - 2].isalpha():
        start -= 2
    alone = len(rest) == 1 and not k and classes.get(rest[0].key) != NAME
    words = tuple(_word(t, text, t is rest[-1]) for t in rest)
    return Span(start, end, tuple(t.key for t in tokens[:k]), words, text[start:end], tokens[0].place, tuple(tokens), joined, alone)
