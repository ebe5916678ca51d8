"""The parts of a name: titles, particles and kinds of place stay as they are; the rest are name words that change."""

from __future__ import annotations

import re
from dataclasses import dataclass

from penname.renaming.dictionary import bare

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
POSSESSIVE = re.compile(r"['’]s?$")

SURNAME_TITLES = frozenset(
    ["mr", "mrs", "ms", "miss", "misses", "messrs", "mister", "mistress", "mester", "missis", "missus", "dr", "doctor", "rev", "reverend", "captain", "capt", "colonel", "col", "major", "general", "gen", "lieutenant", "lieut", "lt", "sergeant", "corporal", "admiral", "commodore", "professor", "prof", "monsieur", "m", "mme", "mlle", "mdlle", "madame", "mademoiselle", "messieurs", "mm", "herr", "frau", "fraulein", "fräulein", "signor", "signora", "signorina", "senor", "señor", "senora", "señora", "judge", "justice", "inspector", "constable", "superintendent", "sheriff", "governor", "nurse", "parson", "vicar", "deacon", "squire", "count", "earl", "duke", "marquis", "marquess", "viscount", "viscountess", "marchioness", "baron", "baroness", "countess", "duchess", "president", "senator", "mayor", "alderman", "hon", "honourable", "honorable"]
)
GIVEN_TITLES = frozenset(
    ["sir", "lady", "dame", "master", "lord", "saint", "st", "ste", "san", "santa", "sister", "brother", "aunt", "auntie", "aunty", "uncle", "cousin", "grandma", "grandpa", "grandmother", "grandfather", "granny", "king", "queen", "prince", "princess", "emperor", "empress", "tsar", "czar", "pope", "father", "mother", "fr", "friar", "abbe", "abbé", "père", "pere", "mère", "mere", "don", "doña", "dona", "dom", "donna", "little", "young", "old", "poor", "dear", "dearest", "darling", "sweet", "good", "big", "great"]
)
OTHER_WORDS = frozenset(
    ["the", "a", "an", "of", "and", "de", "la", "le", "les", "du", "des", "del", "della", "di", "da", "do", "van", "von", "der", "den", "ter", "ten", "zu", "zum", "el", "al", "ap", "ab", "bin", "ibn", "y", "e", "et", "und", "d", "l", "his", "her", "my", "our", "your", "their", "its", "junior", "senior", "jr", "jun", "sr", "sen", "esq", "esquire", "bart", "mp", "md", "ma", "ba", "bd", "dd", "phd", "ii", "iii", "iv", "vi", "vii", "viii", "bishop", "archbishop", "cardinal", "abbot", "abbess", "prior", "prioress", "dean", "rector", "curate", "canon", "chancellor", "minister", "ambassador", "consul", "madam", "ma'am", "marm", "maam", "mama", "mamma", "papa", "mum", "mummy", "mom", "daddy", "dad", "son", "daughter", "wife", "widow", "boy", "girl", "man", "woman", "child", "baby", "lad", "lass", "gentleman", "maid", "cook", "butler", "god", "christ", "heaven", "providence", "almighty", "i", "o", "oh", "ah", "s"]
)
NOT_NAMES = SURNAME_TITLES | GIVEN_TITLES | OTHER_WORDS
# After these a lone name is a first name.
FIRST_NAME_TITLES = frozenset(["sir", "st", "ste", "saint", "king", "queen", "prince", "princess", "pope", "emperor", "empress"])
# "Miss King" and "Mr. Pope": after these a title word is the name.
COURTESY = frozenset(["mr", "mrs", "ms", "miss", "messrs", "mister", "misses", "mistress"])
LANGUAGE_TITLES = {
    **dict.fromkeys(
        ["monsieur", "m", "mme", "mlle", "mdlle", "madame", "mademoiselle", "messieurs", "mm", "abbé", "abbe", "père", "pere", "mère", "mere", "du", "des", "le", "la", "les"], "fr"
    ),
    **dict.fromkeys(["herr", "frau", "fraulein", "fräulein", "von", "zu", "zum"], "de"),
    **dict.fromkeys(["signor", "signora", "signorina", "di", "della"], "it"),
    **dict.fromkeys(["señor", "senor", "señora", "senora", "don", "doña", "dona"], "es"),
}
# What a place is stays: "Thornfield Hall" becomes another Hall.
PLACE_KINDS = frozenset(
    ["hall", "house", "lodge", "park", "abbey", "manor", "grange", "cottage", "farm", "court", "castle", "priory", "place", "villa", "hotel", "inn", "tavern", "mill", "mills", "school", "academy", "college", "church", "chapel", "cathedral", "minster", "convent", "hospital", "asylum", "street", "road", "lane", "row", "square", "terrace", "crescent", "gardens", "garden", "avenue", "alley", "walk", "gate", "bridge", "hill", "hills", "mount", "mountain", "mountains", "moor", "moors", "heath", "heights", "common", "green", "wood", "woods", "forest", "dale", "vale", "valley", "glen", "dell", "hollow", "field", "fields", "meadow", "river", "lake", "water", "brook", "bay", "beach", "cliff", "cliffs", "rock", "rocks", "island", "islands", "isle", "isles", "sea", "ocean", "coast", "cape", "point", "port", "harbour", "harbor", "town", "city", "village", "parish", "county", "shire", "station", "end", "corner", "cross", "head", "house", "houses", "palace", "tower", "towers", "rectory", "vicarage", "parsonage", "hermitage", "building", "buildings", "rooms", "theatre", "club", "bank", "office", "seminary", "institution", "north", "south", "east", "west", "northern", "southern", "eastern", "western", "upper", "lower", "great", "little", "new", "old", "saint", "st", "mont", "rue", "place", "boulevard", "faubourg", "porte", "hôtel", "hotel", "château", "chateau", "pensionnat"]
)


@dataclass(frozen=True, slots=True)
class Part:
    """One word of a name: its span in the surface, and what it is."""

    start: int
    end: int  # without a possessive ending
    text: str
    kind: str  # "name", "initial" or "other"


def base_word(token: str) -> str:
    """A token without its possessive ending: "Jane's" -> "Jane"."""
    return POSSESSIVE.sub("", token)


def is_capital(word: str) -> bool:
    """Whether it begins with a capital letter, elisions apart ("d'Arcy" does)."""
    return word[:1].isupper() or (len(word) > 2 and word[1] in "'’" and word[2].isupper())


def split_name(surface: str, place: bool = False) -> list[Part]:
    """The words of a name as it stands in a text, each told to be a name word, an initial or something that stays."""
    parts = []
    for match in WORD.finditer(surface):
        text = base_word(match.group())
        end = match.start() + len(text)
        if len(text) == 1 and text.isupper() and surface[end : end + 1] in (".", "-", "—", "–", "_", "*", ""):
            kind = "initial"
        elif not is_capital(text) or bare(text) in NOT_NAMES:
            kind = "other"
        else:
            kind = "name"
        parts.append(Part(match.start(), end, text, kind))
    if place:
        parts = _keep_place_kind(parts)
    if len(parts) > 1 and not any(p.kind == "name" for p in parts) and bare(parts[0].text) in COURTESY and is_capital(parts[-1].text):
        last = parts[-1]
        if last.kind == "other" and bare(last.text) not in OTHER_WORDS - {
            "dean",
            "bishop",
            "cook",
            "butler",
            "abbot",
            "prior",
            "rector",
            "man",
            "lad",
        }:
            parts[-1] = Part(last.start, last.end, last.text, "name")
    return parts


def _keep_place_kind(parts: list[Part]) -> list[Part]:
    out = [Part(p.start, p.end, p.text, "other") if p.kind == "name" and bare(p.text) in PLACE_KINDS else p for p in parts]
    if any(p.kind == "name" for p in out):
        return out
    # All of it is kinds ("Moor House", "Marsh End"): the first of several is what must change.
    first = next((i for i, p in enumerate(parts) if p.kind == "name" and not bare(p.text).startswith("st")), None)
    if first is not None and sum(p.kind == "name" for p in parts) > 1:
        out[first] = parts[first]
    return out
