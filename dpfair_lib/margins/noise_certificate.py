"""Bounds on the fairness of the model before (or after) Gaussian noise, given the other of the two."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from dpfair_lib._arguments import inside_unit, one_of
from dpfair_lib._arrays import host_array
from dpfair_lib._validation import as_generator, as_groups, as_levels, check_lengths, even, same_rows
from dpfair_lib.fairness.linear_form import check_notion, members
from dpfair_lib.margins.certificate import FairnessCertificate, fairness_certificate
from dpfair_lib.margins.margins import margin_lipschitz, margins
from dpfair_lib.margins.projections import local_reach, markov_reach, simulated_reach
from dpfair_lib.margins.terms import relative_margins

WIDE_SHARE = 0.1  # of ζ, for the reach over all rows, which decides which of them matter
Reach = Literal["markov", "simulated", "local"]


@same_rows
def noise_certificate(
    scores: Any, y: Any, *, X: Any, sensitive_features: Any, notion: str, sigma: float, zeta: float,
    reach: Reach = "local", slack: float = 1e-4, draws: int = 10_000, rng: np.random.Generator | None = None,
    desirable: Any = None, intercept: bool | None = None,
) -> FairnessCertificate:  # fmt: skip
    """Bound the group fairness of the model before Gaussian noise was added, given the model after it, or the reverse.

    One model has the weights w, fixed before the noise; the other has w + Z with Z ~ N(0, σ²I), as `OutputPerturbation`
    releases it with Gaussian noise. Give the scores of either model. With probability at least 1 − ζ, over the noise
    and the simulation, the intervals hold for the other model, for every w and all groups at once.

    The intervals do not hold in these cases: the noise is not Gaussian, for example with ``noise_kind="laplace"``; the
    noisy weights were projected or rounded afterwards; the rows were chosen after the noise was drawn; the model has an
    intercept and X no column of ones (see `fairness_certificate`).

    The intervals are computed from the rows without noise, so publishing them reveals something about the rows. Publish
    those of `private_certificate` instead.

    Parameters
    ----------
    scores : array of shape (n,)
        Decision values, positive for the label 1. Models with a weight vector for each label are not supported.
    y, X, sensitive_features, notion, desirable, intercept
        As in `fairness_certificate`.
    sigma : float
        Standard deviation of the Gaussian noise in each coordinate: ``sigma_`` of `OutputPerturbation`.
    zeta : float
        ζ in (0, 1).
    reach : {"local", "simulated", "markov"}
        How to bound the distance by which the noise moves the rows' scores. "simulated" simulates the noise for all
        rows. "local" does this with a tenth of ζ, then again for the rows close enough to the boundary to change.
        "markov" needs no simulation, but leaves out a share ``slack`` of each group.
    slack : float
        For "markov" only: the share of each group that may move further, chosen before the noise is drawn.
    draws : int
        Number of simulated draws, not for "markov"; at least 1/ζ − 1 for "simulated" and 10/ζ − 1 for "local".
    rng : numpy.random.Generator
        Source of the simulation, independent of the noise; not for "markov".

    Returns
    -------
    FairnessCertificate
        Its ``radius`` bounds the noise along the direction of each row; the noise vector itself may be longer.

    Raises
    ------
    ValueError
        If an argument is malformed or out of its range, if a group lacks a label, or if there are too few draws for ζ.

    References
    ----------
    Ours. It replaces the radius of Mangold et al. (2023), Theorem 4.4.

    Examples
    --------
    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> compas = dpf.synthetic("compas", n=400, random_state=0)
    >>> X = np.column_stack([compas.X["age"] / 100, np.ones(400)])
    >>> certificate = dpf.noise_certificate(
    ...     X @ [-2.0, 0.6], compas.y, X=X, sensitive_features=compas.sensitive_features,
    ...     notion="accuracy_parity", sigma=0.01, zeta=0.05, rng=np.random.default_rng(0),
    ... )
    >>> print(certificate.lower[0].round(3), certificate.upper[0].round(3))
    -0.091 0.025
    """
    check_notion(notion)
    one_of(reach, "reach", ("local", "simulated", "markov"))
    zeta = inside_unit(zeta, "zeta")
    scores, y, X = host_array(scores, "scores"), host_array(y, "y"), host_array(X, "X")
    sensitive_features = host_array(sensitive_features, "sensitive_features")
    if (scores if hasattr(scores, "ndim") else even(scores, "scores")).ndim != 1:
        raise ValueError(f"scores: found shape {np.shape(scores)}, expected (n,), from one weight vector")
    if reach == "markov":
        parts = len(members(notion, len(as_levels(y, "y")[0]), len(as_groups(sensitive_features)[0])))
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
        slack=slack if reach == "markov" else 0.0, desirable=desirable, intercept=intercept,
    )  # fmt: skip
