"""Two nearby distributions with different acceptable hypotheses, for privacy with δ below 1; exact arithmetic.

Two distributions are opposite if the surplus P(x, a, Y = 1) − P(x, a, Y = 0) of one is a negative multiple of the
other's at every (x, a). Then no hypothesis, randomised or not, beats the constants on both. Tables have shape (n_x, 2,
2).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.compatibility.impossibility.constructions import zero_table
from dpfair_lib.compatibility.impossibility.criteria import is_usable
from dpfair_lib.populations import Population


def usable_within(h: Any, alpha: Any) -> np.ndarray:
    """Return whether a deterministic h can have a gap of at most α and beat every constant, on some law.

    For α > 0 it can unless it is constant, or is the group or its complement. For α = 0 it must also select
    somebody in each group.

    Parameters
    ----------
    h : array of shape (..., n_x, 2)
        Zeros and ones.
    alpha : number
        In [0, 1).

    Returns
    -------
    array of bool, shape (...)

    Raises
    ------
    ValueError
        If α is not in [0, 1).
    """
    if not 0 <= alpha < 1:
        raise ValueError(f"alpha: found {alpha}, expected a number in [0, 1)")
    h = np.asarray(h)
    if alpha == 0:
        return is_usable(h)
    return np.asarray((h != h[..., :1, :]).any(axis=(-2, -1)))


def servable(hypotheses: Any, alpha: Any, delta: Any) -> bool:
    """Return whether (ε, δ)-DP allows always to return an α-fair and accurate member of a deterministic class.

    That is asked on all laws that have one, whatever ε < ∞ and the step ζ > 0 of neighbours are.

    Parameters
    ----------
    hypotheses : array of shape (m, n_x, 2)
        Zeros and ones.
    alpha, delta : number
        In [0, 1) and in [0, 1].
    """
    return bool(usable_within(hypotheses, alpha).sum() <= 1 or delta == 1)


def nested_in_a_group(h: Any, g: Any) -> bool:
    """Return whether one of two hypotheses selects all that the other does, and both select the same group wholly."""
    h, g = np.asarray(h), np.asarray(g)
    nested = bool((h <= g).all() or (g <= h).all())
    return nested and bool((h & g).all(axis=0).any())


def opposite_coins(h: Any, g: Any, zeta: Fraction) -> tuple[Population, Population]:
    """Return two opposite laws ζ apart for accuracy alone: h beats the constants on the first, g on the second.

    Parameters
    ----------
    h, g : array of shape (n_x, 2)
        Deterministic, different and not constant.
    zeta : Fraction
        In (0, 1/4].

    Raises
    ------
    ValueError
        If the hypotheses are equal or one is constant, or ζ is out of range.
    """
    h, g, zeta = np.asarray(h), np.asarray(g), Fraction(zeta)
    if np.array_equal(h, g) or any(f.all() or not f.any() for f in (h, g)):
        raise ValueError("h, g: expected two different hypotheses that are not constant")
    if not 0 < zeta <= Fraction(1, 4):
        raise ValueError(f"zeta: found {zeta}, expected a number in (0, 1/4]")
    signs = _signs(h, g)
    step = zeta / abs(signs).sum()  # moved at each of two labels, in both directions
    laws = []
    for sign in (1, -1):
        table = zero_table(len(h)) + (1 - zeta) / (4 * len(h))
        table += zeta / 2 * np.stack([abs(signs), abs(signs)], axis=-1) / abs(signs).sum()
        table[..., 1] += sign * step / 2 * signs
        table[..., 0] -= sign * step / 2 * signs
        laws.append(Population.from_table(table))
    return laws[0], laws[1]


def opposite_laws(h: Any, g: Any, zeta: Fraction, alpha: Fraction) -> tuple[Population, Population]:
    """Return two opposite laws at most ζ apart, the first for h and the second for g.

    On its law each has a gap of at most α and beats the constants.

    Parameters
    ----------
    h, g : array of shape (n_x, 2)
        Deterministic, different, and usable at α.
    zeta : Fraction
        In (0, 1].
    alpha : Fraction
        In [0, 1).

    Raises
    ------
    ValueError
        If the hypotheses are equal or not usable, ζ is out of range, or α = 0 and they are `nested_in_a_group`.
    """
    h, g, zeta, alpha = np.asarray(h), np.asarray(g), Fraction(zeta), Fraction(alpha)
    if np.array_equal(h, g) or not usable_within(np.stack([h, g]), alpha).all():
        raise ValueError("h, g: expected two different hypotheses that are usable at this alpha")
    if not 0 < zeta <= 1:
        raise ValueError(f"zeta: found {zeta}, expected a number in (0, 1]")
    if alpha == 0 and nested_in_a_group(h, g):
        raise ValueError(
            "h, g: found one within the other and a group that both select wholly; see nested_laws"
        )
    vary = [[len(set(f[:, a].tolist())) > 1 for f in (h, g)] for a in (0, 1)]
    signs = _signs(h, g)
    if alpha == 0 and not (all(vary[0]) or all(vary[1])):
        return _each_selects_a_group(h, g, signs, zeta)
    small = (
        1 if all(vary[1]) or not all(vary[0]) else 0
    )  # a group of few people: its positives may move at will
    large = 1 - small
    masses = zero_table(len(h))[..., 0]
    masses[:, large] = Fraction(1, len(h))
    if not all(vary[small]):
        # one hypothesis is constant on the few: nearly all others are where it gives the same answer
        fixed = h if not vary[small][0] else g
        at = np.flatnonzero(fixed[:, large] == fixed[0, small])[0]
        masses[:, large] *= alpha / 8
        masses[at, large] += 1 - alpha / 8
    few = zeta / 8
    step = few * (alpha or 1) / (64 * len(h) ** 2)
    first = _filled(h, step * signs, masses, small, few, alpha)
    return first, _filled(g, -step * signs, masses, small, few, alpha)


def nested_laws(top: Any, below: Any, zeta: Fraction) -> tuple[Population, Population]:
    """Return two laws at most ζ apart for hypotheses one within the other that select the same group wholly.

    On the first, of all hypotheses within `top` that select this group, only `top` is exactly fair, and it beats the
    constants. On the second `below` is fair and beats them, and `top` does not.

    Parameters
    ----------
    top, below : array of shape (n_x, 2)
        Deterministic, usable, different; `below` selects nobody whom `top` does not.
    zeta : Fraction
        In (0, 1].

    Raises
    ------
    ValueError
        If they are not such a pair.
    """
    top, below = np.asarray(top), np.asarray(below)
    if np.array_equal(top, below) or not ((below <= top).all() and nested_in_a_group(top, below)):
        raise ValueError("top, below: expected one within the other and a group that both select wholly")
    whole = int(np.flatnonzero(below.all(axis=0))[0])
    other, few = 1 - whole, Fraction(zeta) / 8
    inside, between, out = (
        int(np.flatnonzero((top[:, other] == one) & (below[:, other] == two))[0])
        for one, two in ((1, 1), (1, 0), (0, 0))
    )
    laws = []
    for label in (1, 0):  # of those between: on the first law they belong to the selected
        table = zero_table(len(top))
        table[0, whole] += Fraction(1)
        table[inside, other] += Fraction(1)
        table[between, other, label] += few
        if label:
            table[out, other, 0] += few
        else:
            table[inside, other, 1] += few / 2
        laws.append(Population.from_table(table / table.sum()))
    return laws[0], laws[1]


def _signs(h: np.ndarray, g: np.ndarray) -> np.ndarray:
    """Return surpluses for which h beats the constants, and g with the signs changed; at most one point of a kind."""
    kinds = {(a, b): np.argwhere((h == a) & (g == b)) for a in (0, 1) for b in (0, 1)}
    if len(kinds[1, 0]) and len(kinds[0, 1]):
        wanted = {(1, 0): 1, (0, 1): -1}
    elif len(kinds[1, 0]):
        wanted = {(1, 0): 3, (1, 1): -1, (0, 0): -1}
    else:
        wanted = {(0, 1): -3, (1, 1): 1, (0, 0): 1}
    signs = np.zeros(h.shape, dtype=object)
    for kind, value in wanted.items():
        signs[tuple(kinds[kind][0])] = value
    return signs


def _filled(
    f: np.ndarray, surplus: np.ndarray, masses: np.ndarray, small: int, few: Fraction, alpha: Fraction
) -> Population:
    """Return a law with this surplus: nearly a coin in the large group, positives that suit f in the small one."""
    table = zero_table(len(f))
    large = 1 - small
    table[:, large, 1] = (masses[:, large] + surplus[:, large]) / 2
    table[:, large, 0] = (masses[:, large] - surplus[:, large]) / 2
    rate = table[f[:, large] == 1, large, 1].sum() / table[:, large, 1].sum()
    selected = f[:, small] == 1
    if selected.all() or not selected.any():
        shares = np.full(len(f), Fraction(1, len(f)), dtype=object)
    else:
        wanted = rate if 0 < rate < 1 else abs(rate - alpha / 2)
        shares = np.where(
            selected, wanted / int(selected.sum()), (1 - wanted) / int((~selected).sum())
        ).astype(object)
    table[:, small, 1] = few / 2 * shares
    table[:, small, 0] = table[:, small, 1] - surplus[:, small]
    return Population.from_table(table / table.sum())


def _each_selects_a_group(
    h: np.ndarray, g: np.ndarray, signs: np.ndarray, zeta: Fraction
) -> tuple[Population, Population]:
    """Each selects wholly the group in which the other rejects: exactly fair where no positive is rejected."""
    laws = []
    both = [int(np.flatnonzero(h[:, a] & g[:, a])[0]) for a in (0, 1)]
    for sign in (1, -1):
        table = zero_table(len(h))
        for a in (0, 1):
            table[both[a], a] += Fraction(1, 4)
        for x, a in np.argwhere(signs != 0):
            table[x, a, int(sign * signs[x, a] > 0)] += zeta / 8
        laws.append(Population.from_table(table / table.sum()))
    return laws[0], laws[1]
