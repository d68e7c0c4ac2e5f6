"""Privacy amplification by a random subset of fixed size."""

from __future__ import annotations

import math
from typing import Any

from dpfair_lib._arguments import below_one, number, positive
from dpfair_lib.privacy.rounding import product_above, raised


def amplified_odds(odds: Any, fraction: Any) -> Any:
    """Return e^ε′ = 1 + q(e^ε − 1); fractions stay exact.

    Parameters
    ----------
    odds : number
        e^ε, at least 1.
    fraction : number
        q, in (0, 1].

    Returns
    -------
    number
        e^ε′.
    """
    return 1 + fraction * (odds - 1)


def amplified(epsilon: float, delta: float, fraction: float) -> tuple[float, float]:
    """Return (ε′, δ′) of an (ε, δ)-private mechanism that sees a uniform subset of m = qn of n records.

    Both guarantees are under replace-one. The subset is drawn without replacement and its size is fixed. For
    Poisson batches the mechanism has to be private under add-remove; under replace-one alone nothing is gained
    there.

    Parameters
    ----------
    epsilon, delta : float
        ε > 0 and δ in [0, 1) on the subset.
    fraction : float
        q in (0, 1].

    Returns
    -------
    tuple of float
        (ln(1 + q(e^ε − 1)), qδ), rounded up.

    Raises
    ------
    ValueError
        If an argument is out of its range.

    References
    ----------
    Balle, Barthe and Gaboardi (2018), Theorem 9; the statement of MPBT, § 2.2.
    """
    epsilon, delta = positive(epsilon, "epsilon"), below_one(delta, "delta")
    rate = number(fraction, "fraction", "a number in (0, 1]")
    if not 0 < rate <= 1:
        raise ValueError(f"fraction: found {fraction}, expected a number in (0, 1]")
    # beyond ε = 30 the subtracted 1 is below rounding, and e^ε would overflow in the end
    grown = (
        raised(math.log1p(rate * math.expm1(epsilon)))
        if epsilon < 30
        else raised(epsilon + math.log(rate + (1 - rate) * math.exp(-epsilon)), epsilon)
    )
    return min(grown, epsilon), product_above(rate, delta)
