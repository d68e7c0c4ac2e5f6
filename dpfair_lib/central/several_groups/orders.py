"""Which group decides: products over all groups but one, maybe with the right number of them below it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Window = tuple[np.ndarray, np.ndarray]
"""P(noisy rate at least the smallest one of a window), and P(above the largest one)."""


def all_but(windows: Sequence[Window], owner: int | None, points: np.ndarray) -> np.ndarray:
    """Return the probability that all groups but one are in their windows.

    Parameters
    ----------
    windows : sequence of tuple of ndarray
        Of each group.
    owner : int or None
        The group that does not count, if there is one.
    points : ndarray
        An array of the same shape as the result.

    Returns
    -------
    ndarray
        The product.
    """
    found = np.ones_like(points)
    for group, (top, bottom) in enumerate(windows):
        if group != owner:
            found = found * np.maximum(top - bottom, 0.0)
    return found


def one_decides(
    windows: Sequence[Window], reached: Sequence[tuple[np.ndarray, ...]], below: int,
    factor: np.ndarray,
) -> list[np.ndarray]:  # fmt: skip
    """Return for each group the probability that the others are in their windows, and the right number below it.

    The polynomials of all others are products of those of the groups before it and of those after it. A group as
    high as the deciding one counts as lying below it if it comes before it.

    Parameters
    ----------
    windows : sequence of tuple of ndarray
        Of each group.
    reached : sequence of tuple of ndarray
        The chances of each group to lie above the noisy rate that decides, and to lie above it or at it.
    below : int
        How many lie below it.
    factor : ndarray
        By which all is multiplied.

    Returns
    -------
    list of ndarray
        One for each group.
    """
    last = len(windows) - 1
    # only the powers that the product needs: of the first g groups at most g lie below, and of the others as many as
    # can lie below the rest
    before, found = [{0: factor}], []
    for group in range(last):
        powers = range(max(0, below - (last - group - 1)), min(group + 1, below) + 1)
        before.append(_times(before[-1], *_sides(windows[group], reached[group][0]), powers))
    after = {0: np.ones_like(factor)}
    for group in range(last, -1, -1):
        kept = before[group]
        shared = [power for power in kept if below - power in after]
        found.append(sum((kept[power] * after[below - power] for power in shared), np.zeros_like(factor)))
        if group:
            powers = range(max(0, below - group + 1), min(last - group + 1, below) + 1)
            after = _times(after, *_sides(windows[group], reached[group][1]), powers)
    return found[::-1]


def _sides(window: Window, reached: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the probabilities to be in the window and below the group that decides, or above it."""
    top, bottom = window
    left = np.maximum(top - np.maximum(bottom, reached), 0.0)
    return left, np.maximum(np.minimum(top, reached) - bottom, 0.0)


def _times(
    kept: dict[int, np.ndarray], left: np.ndarray, right: np.ndarray, powers: range
) -> dict[int, np.ndarray]:
    """Multiply by left·z + right, where z counts groups below; return the coefficients of some powers."""
    result = {}
    for power in powers:
        parts = [kept[at] * side for at, side in ((power, right), (power - 1, left)) if at in kept]
        result[power] = parts[0] if len(parts) == 1 else parts[0] + parts[1]
    return result
