"""Bounds on the group fairness of every model near a given one, computed from the margins of that one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from dpfair_lib._arguments import number
from dpfair_lib._arrays import space_of
from dpfair_lib._validation import as_groups, as_levels, as_single_rate, check_lengths, same_rows
from dpfair_lib.fairness.linear_form import (
    NOTIONS,
    check_notion,
    desirable_labels,
    form_coefficients,
    group_names,
    members,
)
from dpfair_lib.margins.linearity import check_linear
from dpfair_lib.margins.margins import margin_lipschitz, margins, plain_array
from dpfair_lib.margins.terms import cell_counts, chernoff_terms, markov_terms, relative_margins

if TYPE_CHECKING:
    from matplotlib.axes import Axes

BOUNDS = ("markov", "chernoff", "exact", "signed")
ROUNDING = 1e-9  # relative: a row this close to the edge of the radius counts as inside


@dataclass(frozen=True)
class FairnessCertificate:
    """Bounds on the group fairness of every model h′ within a distance of a model h, on given rows.

    Attributes
    ----------
    notion, bound : str
        The arguments of `fairness_certificate`.
    radius : float
        The largest distance between h and h′.
    groups : tuple
        The K groups of the notion.
    fairness : array of shape (K,)
        F_k(h). Rows of margin 0 count as wrong, but rows of zeros as predicted 0.
    lower, upper : array of shape (K,)
        Bounds on F_k(h′), for every rule for ties (at radius 0, the rule of `fairness`). Rows of zeros tie under every
        model; they count as predicted 0 by all of them, as in `predict`.
    deviation : array of shape (K,)
        Bound on |F_k(h) − F_k(h′)|.
    aggregate, aggregate_lower, aggregate_upper : float
        The mean of |F_k(h)|, and bounds on the mean of |F_k(h′)|.
    aggregate_deviation : float
        The mean of the deviations. It bounds the change of the mean of |F_k|.

    Examples
    --------
    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(400, 2))
    >>> y, group = (X[:, 0] + rng.normal(size=400) > 0).astype(int), rng.integers(0, 2, 400)
    >>> found = dpf.fairness_certificate(
    ...     X @ [1.0, 0.0], y, X=X, sensitive_features=group, radius=0.01, notion="accuracy_parity"
    ... )
    >>> bool((found.lower <= found.fairness).all() and (found.fairness <= found.upper).all())
    True
    """

    notion: str
    bound: str
    radius: float
    groups: tuple[Any, ...]
    fairness: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    deviation: np.ndarray
    aggregate: float
    aggregate_lower: float
    aggregate_upper: float
    aggregate_deviation: float

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the interval of each group; needs matplotlib (extra ``figures``).

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Where to draw; by default a figure of its own.

        Returns
        -------
        matplotlib.axes.Axes
            The axes.
        """
        from dpfair_lib.margins.certificate_plot import draw_intervals

        return draw_intervals(
            ax,
            groups=self.groups,
            lower=self.lower,
            upper=self.upper,
            notion=self.notion,
            fairness=self.fairness,
        )


@same_rows
def fairness_certificate(
    scores: Any,
    y: Any,
    *,
    X: Any,
    sensitive_features: Any,
    notion: str,
    radius: float,
    bound: str = "exact",
    slack: float = 0.0,
    desirable: Any = None,
    intercept: bool | None = None,
) -> FairnessCertificate:
    """Bound the group fairness of every linear model within a distance of a given one.

    The bounds are computed from the rows without noise, so publishing them reveals something about the rows.

    Parameters
    ----------
    scores : array of shape (n,) or (n, K)
        Scores of the given model: one decision value wᵀx for each row, or Wx with one score for each label.
    y : array of shape (n,)
        Labels 0 … K − 1.
    X : array of shape (n, d)
        Features from which the scores were computed. If the model has an intercept, X has a column of ones.
    sensitive_features : array of shape (n,)
        Group of each row. Every group needs every label.
    notion : str
        As in `fairness_coefficients`. Demographic parity needs scores of two labels.
    radius : float
        Largest Euclidean distance between the two weight vectors, or Frobenius (or spectral) distance between the two
        weight matrices; at least 0.
    bound : {"markov", "chernoff", "exact", "signed"}
        Bound on the change of a group's accuracy. "markov" is Theorem 3.1, "chernoff" Remark B.1; "exact" is the share
        of rows whose margin is small enough to change sign; "signed" counts these separately among right and wrong
        rows.
    slack : float
        Share of each group's rows, in [0, 1], that may move further than the radius allows. It is added to the bound.
    desirable : label or tuple of labels, optional
        As in `fairness_coefficients`.
    intercept : bool, optional
        Whether the model has an intercept. It then needs the column of ones in X. By default the rows decide; say
        False for a model without intercept where they cannot, see Notes.

    Returns
    -------
    FairnessCertificate
        Bounds that hold for all models within the radius at once, on the given rows. For another population, add a
        sampling error.

    Raises
    ------
    ValueError
        If an argument is malformed; if a group lacks a label; if there are scores of a third label for demographic
        parity; if a row of zeros has a score; if the scores are not linear in X, or have a constant term without a
        column of ones, or if the rows cannot tell and ``intercept`` does not. A margin of 0 is allowed, and makes the
        bound "markov" infinite.

    Notes
    -----
    At most 4d + 100 rows, evenly spread, are used to test whether the scores are linear in X; with fewer than 2d + 4
    rows there is no test. Probabilities that are all alike are nearly linear, and pass. A constant term cannot be told
    from weights if there are so few rows, or if some columns add up to a constant, as those of a full one-hot encoding
    do. Without a column of ones, ``intercept=False`` must then say that there is none: with an unnoticed intercept the
    bounds would be wrong.

    A row counts as within the radius up to a relative 10⁻⁹, because scores are rounded to 64 bits. Scores of 32 bits
    are less accurate, and a row exactly at the limit may be missed.

    The bounds are always in the order signed ≤ exact ≤ chernoff ≤ markov.

    References
    ----------
    Mangold et al. (2023), Theorem 3.2 with the coefficients of Appendix A, and Remarks B.1 and B.2.

    Examples
    --------
    The accuracy of the first group is 0.034 below that of all rows. For every model within the radius the difference is
    between −0.122 and 0.055.

    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> compas = dpf.synthetic("compas", n=400, random_state=0)
    >>> X = np.column_stack([compas.X["age"] / 100, np.ones(400)])
    >>> certificate = dpf.fairness_certificate(
    ...     X @ [-2.0, 0.6], compas.y, X=X, sensitive_features=compas.sensitive_features,
    ...     notion="accuracy_parity", radius=0.02,
    ... )
    >>> print(certificate.groups[0], certificate.fairness[0].round(3))
    African-American -0.034
    >>> print(certificate.lower[0].round(3), certificate.upper[0].round(3))
    -0.122 0.055
    """
    check_notion(notion)
    if bound not in BOUNDS:
        raise ValueError(f"bound: found {bound!r}, expected one of {', '.join(BOUNDS)}")
    if not 0 <= number(radius, "radius", "a finite number of at least 0") < math.inf:
        raise ValueError(f"radius: found {radius!r}, expected a finite number of at least 0")
    slack = float(as_single_rate(slack, "slack"))
    space = space_of(scores=scores, y=y, X=X, sensitive_features=sensitive_features)
    rho = margins(scores, y)
    _check_columns(plain_array(scores, "scores", space), notion)
    lipschitz = margin_lipschitz(X, binary=np.ndim(scores) == 1)
    labels, label = as_levels(y, "y", space=space)
    levels, group = as_groups(sensitive_features, space=space)
    check_lengths(scores=rho, X=lipschitz, sensitive_features=group)
    cells = len(labels) * len(levels)
    codes = label * len(levels) + group
    counts = space.counts(codes, cells)
    if not counts.all():
        at = int(np.argmin(counts))
        raise ValueError(
            f"sensitive_features: found no row of group {levels.tolist()[at % len(levels)]!r} with label "
            f"{labels.tolist()[at // len(levels)]!r}, expected every label in every group"
        )
    relative = relative_margins(rho, lipschitz)
    check_linear(plain_array(scores, "scores", space), plain_array(X, "X", space), intercept, space)
    counts = cell_counts(relative, codes, cells, float(radius) * (1 + ROUNDING))
    # all scores of a row of zeros tie under every model, and the first label is predicted
    counts[:, 4] += space.counts_where(codes, (lipschitz == 0) & space.take(labels == 0, label), cells)
    return certify(
        relative,
        codes,
        labels=labels,
        levels=levels,
        notion=notion,
        radius=float(radius),
        bound=bound,
        slack=slack,
        desirable=desirable_labels(labels, notion, desirable),
        counts=counts,
    )


def certify(
    relative: Any,
    codes: Any,
    *,
    labels: np.ndarray,
    levels: np.ndarray,
    notion: str,
    radius: float,
    bound: str,
    desirable: np.ndarray,
    slack: float = 0.0,
    counts: np.ndarray | None = None,
) -> FairnessCertificate:
    """Return the certificate from relative margins and cell codes (label first), all cells occupied.

    ``counts`` are those of `cell_counts` at the radius, where they are known already.
    """
    shape = (len(labels), len(levels))
    cells = len(labels) * len(levels)
    reach = radius * (1 + ROUNDING)
    if counts is None:
        counts = cell_counts(relative, codes, cells, reach)
    people = counts[:, 0].reshape(shape)
    constant, matrix = form_coefficients(people / people.sum(), notion, desirable)
    part_of = members(notion, *shape)
    rows, lost, gained, either, right = (part_of @ counts).T
    fairness = constant + matrix @ (right / rows)
    if radius == 0:  # the same model
        terms = np.zeros((len(part_of), 2))
    elif bound == "signed":
        terms = np.stack([lost, gained], axis=1) / rows[:, None]
    elif bound == "exact":
        terms = np.stack([either, either], axis=1) / rows[:, None]
    else:
        moment = {"markov": markov_terms, "chernoff": chernoff_terms}[bound]
        parts = space_of(relative=relative, codes=codes).take(part_of.argmax(axis=0), codes)
        one = moment(relative, parts, len(part_of), reach)
        terms = np.stack([one, one], axis=1)
    if slack:
        terms = np.minimum(terms + slack, 1)
    down, up = deviations(matrix, terms)
    lower, upper = fairness - down, fairness + up
    deviation = np.maximum(down, up)
    return FairnessCertificate(
        notion=notion,
        bound=bound,
        radius=radius,
        groups=group_names(labels, levels, notion),
        fairness=fairness,
        lower=lower,
        upper=upper,
        deviation=deviation,
        aggregate=float(np.abs(fairness).mean()),
        aggregate_lower=float(np.maximum(0, np.maximum(lower, -upper)).mean()),
        aggregate_upper=float(np.maximum(np.abs(lower), np.abs(upper)).mean()),
        aggregate_deviation=float(deviation.mean()),
    )


def certify_all(
    relative: np.ndarray,
    codes: np.ndarray,
    *,
    labels: np.ndarray,
    levels: np.ndarray,
    radius: float,
    bound: str,
    desirable: np.ndarray,
) -> dict[str, FairnessCertificate]:
    """Return the certificates of all notions; one pass over the rows for the bounds that count.

    Codes may be of any integer type; a pass over bytes reads least. Of a row of zeros the prediction is not known here:
    it counts as wrong, under h and all others.
    """
    counts = cell_counts(relative, codes, len(labels) * len(levels), radius * (1 + ROUNDING))
    return {
        notion: certify(
            relative,
            codes,
            labels=labels,
            levels=levels,
            notion=notion,
            radius=radius,
            bound=bound,
            desirable=desirable,
            counts=counts,
        )
        for notion in NOTIONS
        if notion != "demographic_parity" or len(labels) == 2
    }


def deviations(matrix: np.ndarray, terms: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return how far every F_k can fall and rise, given how much accuracy each D_k′ can lose and gain.

    F_k rises with the groups of positive coefficient and falls with the others; the arguments have the shapes (K, K)
    and (K, 2).
    """
    weights = np.concatenate([np.maximum(matrix, 0), np.maximum(-matrix, 0)], axis=1)
    # lost before gained, as a fall takes them, and gained before lost
    either_way = np.stack([terms.T.ravel(), terms.T[::-1].ravel()])
    with np.errstate(invalid="ignore"):
        # a coefficient of 0 times an infinite term is 0: the group does not enter
        down, up = np.where(weights > 0, weights * either_way[:, None], 0.0).sum(axis=2)
    return down, up


def _check_columns(scores: Any, notion: str) -> None:
    """Raise for demographic parity of a model with a third label: a wrong prediction does not say which it is."""
    if notion == "demographic_parity" and scores.ndim == 2 and scores.shape[1] > 2:
        raise ValueError(
            f"scores: found {scores.shape[1]} columns, expected the scores of two labels for demographic parity"
        )
