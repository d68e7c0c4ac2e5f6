"""Intervals for the fairness of the model on the other side of Gaussian noise."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from dpfair_lib._arguments import inside_unit, one_of
from dpfair_lib._validation import as_generator, as_groups, check_lengths
from dpfair_lib.fairness.linear_form import check_notion, members
from dpfair_lib.margins.certificate import FairnessCertificate, fairness_certificate
from dpfair_lib.margins.margins import margin_lipschitz, margins
from dpfair_lib.margins.projections import local_reach, markov_reach, simulated_reach
from dpfair_lib.margins.terms import relative_margins

WIDE_SHARE = 0.1  # of ζ, for the reach over all rows that tells which of them matter
Reach = Literal["markov", "simulated", "local"]


def noise_certificate(
    scores: Any, y: Any, *, X: Any, sensitive_features: Any, notion: str, sigma: float, zeta: float,
    reach: Reach = "local", slack: float = 1e-4, draws: int = 10_000, rng: np.random.Generator | None = None,
    desirable: Any = None,
) -> FairnessCertificate:  # fmt: skip
    """Bound the group fairness of a linear model, given only the one that Gaussian noise made of it, or the reverse.

    One of the two models is w, fixed before the noise; the other is w + Z with Z ~ N(0, σ²I), as `OutputPerturbation`
    releases it, unless with noise_kind="laplace". The scores are those of either. With probability at least 1 − ζ,
    over the noise and the simulation, the intervals hold for the other one: for every group together, whatever w is.

    They do not hold if the noise is not Gaussian, which its standard deviation alone does not tell: not for the Laplace
    noise of `OutputPerturbation`, which reaches further. Nor do they if the noisy weights are changed afterwards, by a
    projection or by rounding, if the rows were chosen after the noise had been drawn, or if the model has an intercept
    and X no column of ones, see `fairness_certificate`.

    The intervals are computed from the rows without any noise of their own, so that publishing them tells of the rows;
    `private_certificate` has others.

    Parameters
    ----------
    scores : array of shape (n,)
        Decision values, positive for the label 1. Models with a weight vector per label have no certificate here.
    y, X, sensitive_features, notion, desirable
        As in `fairness_certificate`, X with the column of ones if there is an intercept.
    sigma : float
        Standard deviation of the Gaussian noise in each coordinate, ``sigma_`` of `OutputPerturbation` if its
        noise_kind is not "laplace".
    zeta : float
        ζ in (0, 1).
    reach : {"local", "simulated", "markov"}
        How far a row can move: `local_reach` after a `simulated_reach` at a tenth of ζ; `simulated_reach`; or
        `markov_reach`, with a slack.
    slack : float
        Only for "markov": the share of each group that may move further, chosen before the noise is drawn.
    draws : int
        Simulated draws, not for "markov"; at least 1/ζ − 1 for "simulated" and 10/ζ − 1 for "local".
    rng : numpy.random.Generator
        For the simulation, independent of the noise; not for "markov".

    Returns
    -------
    FairnessCertificate
        Its ``radius`` is the reach, along the projection on each row; the noise itself may be longer.

    Raises
    ------
    ValueError
        If an argument is malformed or out of its range, a group lacks a label, or the draws are too few for ζ.

    References
    ----------
    In place of the radius of MPBT, Theorem 4.4.
    """
    check_notion(notion)
    one_of(reach, "reach", ("local", "simulated", "markov"))
    zeta = inside_unit(zeta, "zeta")
    if np.ndim(scores) != 1:
        raise ValueError(f"scores: found shape {np.shape(scores)}, expected (n,), from one weight vector")
    if reach == "markov":
        parts = len(members(notion, len(as_groups(y, "y")[0]), len(as_groups(sensitive_features)[0])))
        radius = markov_reach(sigma, zeta=zeta, slack=slack, groups=parts)
    elif reach == "simulated":
        radius = simulated_reach(X, sigma, zeta=zeta, draws=draws, rng=as_generator(rng, "rng"))
    else:
        rho, lipschitz = margins(scores, y), margin_lipschitz(X, binary=True)
        check_lengths(scores=rho, X=lipschitz)
        distances = relative_margins(rho, lipschitz)
        wide = simulated_reach(X, sigma, zeta=WIDE_SHARE * zeta, draws=draws, rng=as_generator(rng, "rng"))
        rest = (1 - WIDE_SHARE) * zeta
        radius = local_reach(
            distances, X, sigma, wide=wide, zeta=rest, draws=draws, rng=as_generator(rng, "rng")
        )
    return fairness_certificate(
        scores, y, X=X, sensitive_features=sensitive_features, notion=notion, radius=radius, bound="signed",
        slack=slack if reach == "markov" else 0.0, desirable=desirable,
    )  # fmt: skip
