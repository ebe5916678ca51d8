"""A flat map of texts by style: nearness means likeness."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

WORDS = 150


def style_map(texts: Sequence[Sequence[str]]) -> list[tuple[float, float]]:
    """(x, y) of each text, given as word lists: the first two principal components of z-scored frequencies of common words.

    Burrows's Delta space (Burrows 2002), flattened. Fewer than three texts have no map.
    """
    if len(texts) < 3:
        return [(0.0, 0.0)] * len(texts)
    total = Counter(word for text in texts for word in text)
    common = [word for word, _ in sorted(total.items(), key=lambda item: (-item[1], item[0]))[:WORDS]]
    counts = [Counter(text) for text in texts]
    shares = np.array([[count[word] / max(1, len(text)) for word in common] for count, text in zip(counts, texts, strict=True)])
    z = (shares - shares.mean(0)) / (shares.std(0) + 1e-9)
    u, s, _ = np.linalg.svd(z, full_matrices=False)
    flat = u[:, :2] * s[:2]
    flat *= np.where(flat[np.abs(flat).argmax(0), range(flat.shape[1])] < 0, -1, 1)  # a sign of its own, so the map never flips
    return [(round(float(x), 4), round(float(y), 4)) for x, y in flat]
