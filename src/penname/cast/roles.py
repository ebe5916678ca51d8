"""What a single word is in a name: a first name, a surname, a trade, or the plural of a surname."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from penname.cast.forms import Form
from penname.cast.lexicon import Lexicon
from penname.cast.names import Name
from penname.cast.vocabulary import FIRST_NAME_TITLES, KIN_TITLES, PLURAL_TITLES, SURNAME_TITLES, UNMARRIED_TITLES

_TRADE_RATE = 3.0  # uses in a million words from which a word before a surname can be a trade: farmer, shepherd, hunter


def part_trades(names: dict[Form, Name], lexicon: Lexicon) -> None:
    """Read "Farmer Oak" as a surname with a trade before it, where the book has the surname otherwise."""
    uses = Counter(form.words[-1] for form in names)
    for form, name in names.items():
        if name.last and len(name.first) == 1 and uses[name.last] > 1 and _is_trade(name.first[0], lexicon):
            names[form] = Name((*name.titles, name.first[0]), (name.last,), "", name.suffix)


def _is_trade(word: str, lexicon: Lexicon) -> bool:
    letters, rate = lexicon.words.get(word, ("", 0.0))
    return "n" in letters and rate >= _TRADE_RATE and not known_first(word, lexicon)


def known_first(word: str, lexicon: Lexicon) -> bool:
    """Whether the census or the short forms know the word as a first name."""
    census = lexicon.first_names.get(word.capitalize())
    return (census is not None and census[1] < 1200) or word.capitalize() in lexicon.full_forms or word.capitalize() in lexicon.short_forms


def is_plural(form: Form, last_words: Collection[str]) -> bool:
    """ "the Misses Eshton", "the Miss Steeles"."""
    if not form.titles:
        return False
    word = form.words[-1]
    known = word[:-1] in last_words
    return (form.titles[0] in PLURAL_TITLES and form.titles[0] != "mm") or (
        form.titles[-1] in UNMARRIED_TITLES and word.endswith("s") and known
    )


class Roles:
    """How often each word of the book is a first name and a surname, where the form itself tells."""

    def __init__(self, forms: Sequence[Form], names: dict[Form, Name], lexicon: Lexicon) -> None:
        self.names, self.lexicon = names, lexicon
        self.as_first: Counter[str] = Counter()
        self.as_last: Counter[str] = Counter()
        self.surname_uses: Counter[str] = Counter()
        for form in forms:
            name = names[form]
            if name.last:
                self.as_first[name.first[0]] += form.count
                self.as_last[name.last] += form.count
            self.surname_uses[name.last or name.first[0]] += form.count
        firsts, lasts = set(self.as_first), set(self.as_last)
        for form in forms:
            name = names[form]
            title = form.titles[-1] if form.titles else ""
            if name.last or not title:
                continue
            word = name.first[0]
            if title in FIRST_NAME_TITLES or title in KIN_TITLES:
                if word in firsts or known_first(word, lexicon) or word not in lasts:
                    self.as_first[word] += form.count
                else:
                    self.as_last[word] += form.count  # "Master Marner", who is Silas Marner
            elif title in SURNAME_TITLES and not (
                word in firsts and (known_first(word, lexicon) or (self.as_first[word] >= 3 and not self.as_last[word]))
            ):
                self.as_last[word] += form.count
            elif title in UNMARRIED_TITLES and word not in firsts and not known_first(word, lexicon):
                self.as_last[word] += form.count  # "Miss Bates", and so "Bates"

    def of(self, form: Form) -> str:
        """Whether a single word (with or without title) is a first name or a surname."""
        word = self.names[form].first[0]
        first, last = self.as_first[word], self.as_last[word]
        known = known_first(word, self.lexicon)
        title = form.titles[-1] if form.titles else ""
        if title in FIRST_NAME_TITLES or title in KIN_TITLES:
            return "last" if last > 3 * first and not known else "first"
        if title in SURNAME_TITLES:
            return "first" if first > 2 * last and (known or first >= 3) else "last"
        if first > last or (first == last == 0 and known):
            return "first"
        if last > first:
            return "last"
        return "last" if title else "first"
