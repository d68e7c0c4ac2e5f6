"""Noise for the objective whose law fits rows that were coded from columns: less of it at δ = 0.

Each block of a row's entries, those coded from one column, has absolute values that add up to at most B. Objective
perturbation is ε-private at δ = 0 with noise of density ∝ e^(−N(b)/s), for any norm N that is at most 1 on every row;
the chapter on objective perturbation proves it. Here

    N(z) = Σ_j w_j · max over the blocks g of the bundle j of ‖z_g‖₁ / B_g ,    Σ_j w_j ≤ 1 .

So the bundles are independent. In one with P entries, b is a Gamma variable of shape P + 1 and scale t = s/w times a
point that is uniform in the product of its blocks' balls. A point of the ball ‖·‖₁ ≤ B in k dimensions is B·(L₁, …, Lₖ)
divided by |L₁| + … + |Lₖ| + E, with Laplace variables L and an exponential E. So a coordinate has the variance
t²B² · 2(P + 1)(P + 2)/((k + 1)(k + 2)). With A_j the sum of these at s = w_j = 1, the sum over all coordinates,
Σ A_j s²/w_j², is least for w_j ∝ A_j^(1/3): (Σ A_j^(1/3))³ s². Bundles are joined while this becomes less.

Every draw is a Laplace variable of the source. A secure source rounds it to a float, and sums, products and quotients
round too. So what is returned differs from b by up to 2⁻⁴⁸ times the largest length of b. The learner counts that as
its solver's error, which noise on the weights hides.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import below, quotient_above, raised

INEXACT = 2.0**-48
"""Error of a draw over the largest length of b: 16 roundings of each coordinate, and what is lost to grids."""


class Block(NamedTuple):
    """Entries of a row whose absolute values add up to at most a public number."""

    places: tuple[int, ...]
    bound: float


class Bundle(NamedTuple):
    """Blocks whose largest quotient of sum and bound counts, and the share w of the norm that it has."""

    blocks: tuple[Block, ...]
    share: float

    @property
    def width(self) -> int:
        """P, the number of entries."""
        return sum(len(block.places) for block in self.blocks)


def places_of(blocks: Sequence[Any]) -> list[tuple[int, ...]]:
    """Return the places of each label, in the order in which the labels first occur.

    Parameters
    ----------
    blocks : sequence
        A label for each entry of a row; it may be anything that can be a key.

    Raises
    ------
    ValueError
        If a label cannot be a key.
    """
    found: dict[Any, list[int]] = {}
    for at, label in enumerate(blocks):
        try:
            found.setdefault(label, []).append(at)
        except TypeError:
            raise ValueError(f"blocks: found {label!r}, expected labels such as numbers or strings") from None
    return [tuple(places) for places in found.values()]


def bundled(blocks: Sequence[Block]) -> list[Bundle]:
    """Return the bundles, and their shares, for which the variances of all coordinates add up to little.

    Two bundles are joined, those that gain most, until no pair gains. That need not be the least of all bundlings. It
    is never more than with independent Laplace noise.

    Parameters
    ----------
    blocks : sequence of Block
        One or more.
    """
    groups: list[tuple[Block, ...]] = [(block,) for block in blocks]
    while len(groups) > 1:
        costs = [_variances(group) ** (1 / 3) for group in groups]
        gain, i, j = max(
            (costs[i] + costs[j] - _variances(groups[i] + groups[j]) ** (1 / 3), -i, -j)
            for i in range(len(groups))
            for j in range(i)
        )
        if gain <= 0:
            break
        joined = tuple(sorted(groups[-i] + groups[-j]))
        groups = [group for at, group in enumerate(groups) if at not in (-i, -j)] + [joined]
    costs = [_variances(group) ** (1 / 3) for group in groups]
    whole = sum(map(Fraction, costs), Fraction(0))
    return [Bundle(group, below(Fraction(cost) / whole)) for group, cost in zip(groups, costs, strict=True)]


def _variances(blocks: Sequence[Block]) -> float:
    """Return A, the sum of the variances of a bundle's coordinates at scale 1."""
    width = sum(len(block.places) for block in blocks)
    return math.fsum(
        len(places) * bound**2 * 2 * (width + 1) * (width + 2) / ((len(places) + 1) * (len(places) + 2))
        for places, bound in blocks
    )


def bundle_scale(bundle: Bundle, scale: float) -> float:
    """Return t = s/w, rounded up."""
    return quotient_above(scale, bundle.share)


def deviation(bundles: Sequence[Bundle], scale: float) -> float:
    """Return the root of the mean variance of the coordinates of b."""
    total = math.fsum(_variances(one.blocks) * bundle_scale(one, scale) ** 2 for one in bundles)
    return math.sqrt(total / sum(one.width for one in bundles))


def largest_length(bundles: Sequence[Bundle], scale: float, far: float) -> float:
    """Return the Euclidean length that b has but for a probability of e^−far.

    A Gamma variable of shape a exceeds a + √(2aτ) + τ with a probability of at most e^−τ.
    """
    tail, lengths = far + math.log(len(bundles)), []
    for one in bundles:
        shape = one.width + 1
        radius = bundle_scale(one, scale) * (shape + math.sqrt(2 * shape * tail) + tail)
        lengths.append(radius * math.hypot(*(block.bound for block in one.blocks)))
    return raised(math.hypot(*lengths))


def draw(bundles: Sequence[Bundle], scale: float, source: NoiseSource) -> np.ndarray:
    """Return b, up to rounding.

    Parameters
    ----------
    bundles : sequence of Bundle
        Which hold each place once.
    scale : float
        s.
    source : NoiseSource
        Where the noise comes from.
    """
    noise = np.zeros(sum(one.width for one in bundles))
    for one in bundles:
        of = bundle_scale(one, scale)
        if len(one.blocks) == 1:  # plain Laplace noise
            ((places, bound),) = one.blocks
            noise[list(places)] = source.add_laplace(np.zeros(len(places)), raised(of * bound))
            continue
        radius = math.fsum(np.abs(source.add_laplace(np.zeros(one.width + 1), of)))
        for places, bound in one.blocks:
            drawn = source.add_laplace(np.zeros(len(places) + 1), 1.0)
            whole = math.fsum(np.abs(drawn))
            noise[list(places)] = radius * (bound * (drawn[:-1] / (whole or 1.0)))
    return noise
