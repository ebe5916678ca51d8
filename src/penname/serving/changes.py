"""Depth 2 for files whose weights were rounded: did each target move by scaling x B A, as far as its rounding lets one see?

Rounding error hardly correlates with the adapter's change, so the change's length along B A is measured: it is 1 where the adapter is in
the file and 0 where it is not, with a standard error that follows from what is left over.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from penname.serving.bind import Binding, state_of

ERRORS_ALLOWED = 4.0  # standard errors
SLACK = 0.1  # weights that lie on a coarse grid round a little towards it


def moved_along(before: np.ndarray, after: np.ndarray, delta: np.ndarray) -> tuple[float, float]:
    """(share, standard error): how far ``after - before`` goes along ``delta``, 1 for all of it."""
    change = (after - before).astype(np.float64).ravel()
    along = delta.astype(np.float64).ravel()
    length = float(along @ along)
    if length == 0.0:
        return 0.0, 0.0
    share = float(change @ along) / length
    left = change - share * along
    return share, float(np.sqrt(left @ left / left.size / length))


def bind_changes(
    where: str, changes: Iterable[tuple[str, np.ndarray, np.ndarray, np.ndarray]], total: int, others: Sequence[str], note: str = ""
) -> Binding:
    """Each change is (tensor, before, after, delta), weights in full precision. ``others`` changed and are no target."""
    reasons, matched, shares = [], 0, []
    for name, before, after, delta in changes:
        share, error = moved_along(before, after, delta)
        shares.append(share)
        if not np.any(delta):
            reasons.append(f"{name} should not move at all; its lora_B is all zeros, or the scale is 0")
        elif not (np.isfinite(share) and np.isfinite(error)):
            reasons.append(f"{name} holds values that are no numbers")
        elif error > 0.2:
            reasons.append(f"{name} is rounded so coarsely that the adapter cannot be seen in it (standard error {error:.2f})")
        elif abs(share - 1) > SLACK + ERRORS_ALLOWED * error:
            reasons.append(f"{name} moved by {share:.2f} times what the adapter asks for (standard error {error:.2f})")
        else:
            matched += 1
    if len(shares) < total:
        reasons.append(f"{total - len(shares)} of the {total} tensors that the adapter changes are not in the file")
    reasons += [f"{name} changed and is no target" for name in others]
    seen = f"targets moved by {min(shares):.2f} to {max(shares):.2f} times the adapter" if shares else ""
    return Binding(2, where, state_of(matched, total, reasons), matched, total, tuple(reasons), "; ".join(filter(None, (seen, note))))
