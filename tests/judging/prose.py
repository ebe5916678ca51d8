"""Made-up prose in two hands, so that the instrument's tests need no book."""

from __future__ import annotations

from penname.core.rng import CounterRng

PLAIN = "the a of and to in it was he she that with for on as at by had not but from they this".split()  # noqa: SIM905
ORNATE = "upon whilst thus thereof wherein yet nor whence hitherto alas perhaps indeed though which whose".split()  # noqa: SIM905
THINGS = "house river lamp letter morning garden horse window table road child voice hand night door".split()  # noqa: SIM905
NAMES = ("Anna", "Bertram", "Clara", "Dunstan")


def write(hand: str, words: int, seed: int, names: tuple[str, ...] = NAMES) -> str:
    """``words`` words of a hand: "plain" writes short sentences, "ornate" long ones with its own small words and semicolons."""
    rng = CounterRng("prose", hand, seed)
    small = PLAIN if hand == "plain" else PLAIN[:12] + ORNATE
    longest = 9 if hand == "plain" else 28
    sentences, written = [], 0
    while written < words:
        length = 4 + rng.below(longest)
        sentence = [rng.choice(THINGS if rng.random() < 0.35 else small) for _ in range(length)]
        if rng.random() < 0.5:
            sentence.insert(2, rng.choice(names))
        if hand == "ornate" and length > 12:
            sentence[length // 2] += ";"
        sentence[0] = sentence[0].capitalize()
        sentences.append(" ".join(sentence) + ".")
        written += len(sentence)
    return " ".join(sentences)
