"""How many predictions change after post-processing with noisy rates: exact law, and a bound on what noise adds."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpfair_lib._arguments import inside_unit, number
from dpfair_lib._validation import as_vector
from dpfair_lib.central.gap_law import Mechanism, change_probability
from dpfair_lib.central.parity import rate_errors
from dpfair_lib.central.several_groups.change_law import change_law, mean_changes, mean_changes_of_two
from dpfair_lib.central.several_groups.rule_law import GapLaw, without_midpoint


def excess_change_bound(n: Any, epsilon: Any, eta: float, *, mechanism: Mechanism = "laplace") -> float:
    """Return by how much noise raises the summed changes, at most, with probability at least 1 − η.

    The changes of `PrivateFairPostprocessor` with the midpoint, summed over the groups' rates, exceed the least that
    any classifier within the same γ needs by at most this number. For one common rate (γ = 0) this holds for the median
    too. The least is that of the true rates, `dpfair_lib.postprocessing.bands.least_total_change`. The changes may also
    be fewer than that, where noise leaves a gap. As for `parity_bound`, the rows are independent draws, and the
    classifier was not trained on them.

    Parameters
    ----------
    n, epsilon, eta, mechanism
        As in `parity_bound`.

    Returns
    -------
    float
        The sum of the 2⌊k/2⌋ largest of the numbers of `rate_errors`, for k groups and all selection rates.

    Raises
    ------
    ValueError
        As `parity_bound`.

    Examples
    --------
    >>> from dpfair_lib.central import excess_change_bound
    >>> round(excess_change_bound((1000, 2000, 500), 1.0, eta=0.05), 3)
    0.141
    """
    errors = sorted(rate_errors(n, epsilon, eta, mechanism=mechanism))
    return sum(errors[len(errors) % 2 :])


def expected_changes(
    *, rates: Any, n: Any, epsilon: Any, mechanism: Mechanism = "laplace", rate: str | float = "midpoint",
    gamma: float = 0.0,
) -> float:  # fmt: skip
    """Return the exact expectation of the summed changes of `PrivateFairPostprocessor`.

    Parameters
    ----------
    rates, n, epsilon, mechanism, rate, gamma
        As in `parity_violation_probability`, but the midpoint of a band has no law of changes here, nor that of four
        groups or a larger even number.

    Returns
    -------
    float
        E Σ_a P_a(new label ≠ label), over the sample and the noise. For geometric noise this is a finite sum; for
        Laplace noise it is right to about 1e-6.

    Raises
    ------
    ValueError
        As `parity_violation_probability`.

    Examples
    --------
    Without noise these three groups need 0.3: the lowest comes up to 0.4, and the highest down. Noise stops short more
    often than it goes too far.

    >>> from dpfair_lib.central import expected_changes
    >>> given = {"rates": (0.3, 0.4, 0.6), "n": (1000, 2000, 500)}
    >>> print(round(expected_changes(**given, epsilon=0.1), 4))
    0.2981
    """
    law = GapLaw.of(rates, n, epsilon, mechanism, rate, gamma)
    rule = without_midpoint(law.rule, len(law.rates))
    if rule is not None:
        return mean_changes(law.rates, law.laws, rule)
    (alpha, beta), (first, second) = law.rates, law.laws
    return mean_changes_of_two((alpha, beta), (first, second))


def changes_probability(
    changes: Any, *, rates: Any, n: Any, epsilon: Any, mechanism: Mechanism = "laplace",
    rate: str | float = "midpoint", gamma: float = 0.0,
) -> Any:  # fmt: skip
    """Return the exact probability that the summed changes of `PrivateFairPostprocessor` exceed a value.

    Minus the least total change, the value is the excess over what somebody needs who knows the rates.

    Parameters
    ----------
    changes : float or array
        Value or values, at least 0; changes sum to less than the number of groups.
    rates, n, epsilon, mechanism, rate, gamma
        As in `expected_changes`.

    Returns
    -------
    float or ndarray
        P(Σ_a P_a(new label ≠ label) > value). It is exact for two groups and the midpoint, and for geometric noise in
        small groups. Else sums are rounded to some of 2,048 values between the likely smallest and largest; the
        probability is right to about 1e-3, for a value within two of these.

    Raises
    ------
    ValueError
        As `parity_violation_probability`; if a value is negative or not finite.

    Examples
    --------
    >>> from dpfair_lib.central import changes_probability
    >>> given = {"rates": (0.3, 0.4, 0.6), "n": (1000, 2000, 500), "epsilon": 0.1}
    >>> print(round(changes_probability(0.33, **given), 2))
    0.13
    """
    law = GapLaw.of(rates, n, epsilon, mechanism, rate, gamma)
    rule = without_midpoint(law.rule, len(law.rates))
    values = [
        _amount(value) for value in ([changes] if np.ndim(changes) == 0 else as_vector(changes, "changes"))
    ]
    if rule is None:
        (alpha, beta), (first, second) = law.rates, law.laws
        found = [min(change_probability((alpha, beta), (first, second), value), 1.0) for value in values]
    else:
        distribution = change_law(law.rates, law.laws, rule)
        found = [min(distribution.exceeds(value), 1.0) for value in values]
    return found[0] if np.ndim(changes) == 0 else np.array(found)


def changes_quantile(
    eta: float, *, rates: Any, n: Any, epsilon: Any, mechanism: Mechanism = "laplace", rate: str | float = "midpoint",
    gamma: float = 0.0,
) -> float:  # fmt: skip
    """Return the smallest value that the summed changes exceed with probability at most η, given the rates.

    Parameters
    ----------
    eta : float
        Failure probability in (0, 1).
    rates, n, epsilon, mechanism, rate, gamma
        As in `expected_changes`.

    Returns
    -------
    float
        The quantile of the law of `changes_probability`, as accurate as this law.

    Raises
    ------
    ValueError
        As `parity_violation_probability`; if η is not in (0, 1).

    Examples
    --------
    >>> from dpfair_lib.central import changes_quantile
    >>> given = {"rates": (0.3, 0.4, 0.6), "n": (1000, 2000, 500), "epsilon": 0.1}
    >>> print(round(changes_quantile(0.05, **given), 2))
    0.34
    """
    law, eta = GapLaw.of(rates, n, epsilon, mechanism, rate, gamma), inside_unit(eta, "eta")
    rule = without_midpoint(law.rule, len(law.rates))
    if rule is not None:
        return change_law(law.rates, law.laws, rule).quantile(eta)
    (alpha, beta), (first, second) = law.rates, law.laws
    low, high = 0.0, 1.0
    if change_probability((alpha, beta), (first, second), 0.0) <= eta:
        return 0.0
    while high - low > 1e-12:
        middle = (low + high) / 2
        enough = change_probability((alpha, beta), (first, second), middle) <= eta
        low, high = (low, middle) if enough else (middle, high)
    # the law counts changes within 1e-12 of the value as not exceeding it; stay on the safe side of that
    return min(high + 2e-12, 1.0)


def _amount(value: Any) -> float:
    found = number(value, "changes", "a number, at least 0")
    if not 0 <= found < np.inf:
        raise ValueError(f"changes: found {value}, expected a number, at least 0")
    return found
