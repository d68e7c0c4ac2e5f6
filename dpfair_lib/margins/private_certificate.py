"""Bounds on the fairness of a model that may be published, because they are differentially private."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpfair_lib._arguments import inside_unit, positive
from dpfair_lib._arrays import space_of
from dpfair_lib._validation import as_groups, as_levels, check_lengths, even, same_rows
from dpfair_lib.fairness.linear_form import desirable_labels, form_coefficients, group_names, members
from dpfair_lib.margins.linearity import check_linear
from dpfair_lib.margins.margins import margin_lipschitz, margins, plain_array
from dpfair_lib.margins.projections import markov_reach
from dpfair_lib.privacy import PrivacyStatement
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.rounding import noise_scale, raised
from dpfair_lib.privacy.sampling import Noise

if TYPE_CHECKING:
    from matplotlib.axes import Axes

L1 = 2  # a record that is replaced within its cell may leave one of its two counts and enter the other


@dataclass(frozen=True)
class PrivateCertificate:
    """Bounds on the group fairness of the model without noise, and what publishing them costs.

    Attributes
    ----------
    notion : str
        The argument of `private_certificate`.
    groups : tuple
        The K groups of the notion.
    lower, upper : array of shape (K,)
        Bounds on F_k of the model without noise.
    privacy_statement : PrivacyStatement
        Cost of the bounds alone. If the rows are training rows, add the model's own statement with `compose`.
    """

    notion: str
    groups: tuple[Any, ...]
    lower: np.ndarray
    upper: np.ndarray
    privacy_statement: PrivacyStatement

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

        return draw_intervals(ax, groups=self.groups, lower=self.lower, upper=self.upper, notion=self.notion)


@same_rows
def private_certificate(
    scores: Any, y: Any, *, X: Any, sensitive_features: Any, notion: str, sigma: float, zeta: float, epsilon: float,
    slack: float = 1e-4, noise: Noise = "secure", rng: np.random.Generator | None = None, desirable: Any = None,
    intercept: bool | None = None,
) -> PrivateCertificate:  # fmt: skip
    """Bound the group fairness of the model before Gaussian noise was added, with differential privacy for the rows.

    For each label and group, noisy counts are published of two kinds of rows: those that are predicted rightly, and
    those that are predicted wrongly, by every model that the noise is likely to lead to. Half of ζ is for the noise of
    the model, half for the noise of the counts, by which every interval is widened. A row of zeros, or one longer than
    floats can hold, is counted as neither kind, because an error would reveal something about it.

    Parameters
    ----------
    scores, y, X, sensitive_features, notion, sigma, desirable, intercept
        As in `noise_certificate`. The number of rows of each label in each group is assumed to be public.
    zeta : float
        ζ in (0, 1).
    epsilon : float
        ε > 0 of the counts.
    slack : float
        Share of each group that may move further than the bound allows, as for ``reach="markov"`` in
        `noise_certificate`.
    noise : {"secure", "study"}
        "secure" uses OpenDP's sampler. "study" uses seeded floating-point noise, for experiments; it protects nobody.
    rng : numpy.random.Generator, optional
        Source of study noise. Must be None for secure noise.

    Returns
    -------
    PrivateCertificate
        All its intervals hold with probability at least 1 − ζ, over both noises.

    Raises
    ------
    ValueError
        As `fairness_certificate`, or if a number is out of its range. Errors about the values of X or of the scores
        depend on the rows; the statement lists as public that there are none. The finite scores of a linear model cause
        none, unless all of them are rounding errors.

    Examples
    --------
    >>> import numpy as np
    >>> import dpfair_lib as dpf
    >>> compas = dpf.synthetic("compas", n=400, random_state=0)
    >>> X = np.column_stack([compas.X["age"] / 100, np.ones(400)])
    >>> certificate = dpf.private_certificate(
    ...     X @ [-2.0, 0.6], compas.y, X=X, sensitive_features=compas.sensitive_features,
    ...     notion="accuracy_parity", sigma=0.01, zeta=0.05, epsilon=1.0,
    ... )
    >>> print(certificate.privacy_statement)
    ε = 1 (pure), replace-within-group, per record; public: the number of rows of each label in each group, ...
    """
    half, source = inside_unit(zeta, "zeta") / 2, NoiseSource(noise, rng)
    if (scores if hasattr(scores, "ndim") else even(scores, "scores")).ndim != 1:
        raise ValueError(f"scores: found shape {np.shape(scores)}, expected (n,), from one weight vector")
    space = space_of(scores=scores, y=y, X=X, sensitive_features=sensitive_features)
    relative = _total_margins(margins(scores, y), X)
    check_linear(plain_array(scores, "scores", space), plain_array(X, "X", space), intercept, space)
    labels, label = as_levels(y, "y", space=space)
    levels, group = as_groups(sensitive_features, space=space)
    check_lengths(scores=relative, sensitive_features=group)
    shape = (len(labels), len(levels))
    codes, cells = label * len(levels) + group, math.prod(shape)
    rows = space.counts(codes, cells)
    if len(labels) < 2 or not rows.all():
        raise ValueError(
            "sensitive_features: found a group without a label, expected both labels in every group"
        )
    reach = markov_reach(sigma, zeta=half, slack=slack, groups=cells)
    counts = settled_counts(relative, codes, cells, reach)
    scale = noise_scale(L1, positive(epsilon, "epsilon"))
    statement = source.mark(PrivacyStatement(
        epsilon, 0.0, "replace-within-group",
        public=("the number of rows of each label in each group", "that the scores are linear in X",
                "whether X has a column of ones, or columns that add up to a constant"),
        note="the groups of the relation are those of label and sensitive features together",
    ))  # fmt: skip
    noisy = source.add_discrete_laplace(counts.ravel(), scale).reshape(counts.shape)
    sure = sure_counts(noisy, noise_margin(scale, half / counts.size), rows)
    low = np.clip(sure[:, 0] / rows - slack, 0, 1)
    high = np.clip(1 - sure[:, 1] / rows + slack, 0, 1)
    part_of = members(notion, *shape)
    low, high = ((part_of @ (rows * one)) / (part_of @ rows) for one in (low, high))
    constant, matrix = form_coefficients(
        rows.reshape(shape) / rows.sum(), notion, desirable_labels(labels, notion, desirable)
    )
    rise, fall = np.maximum(matrix, 0), np.maximum(-matrix, 0)
    return PrivateCertificate(
        notion, group_names(labels, levels, notion), constant + rise @ low - fall @ high,
        constant + rise @ high - fall @ low, statement,
    )  # fmt: skip


def _total_margins(rho: Any, X: Any) -> Any:
    """Return ρ/‖x‖, and 0 where there is no such number; no row raises or warns, whatever it holds."""
    with np.errstate(over="ignore"):
        lengths = margin_lipschitz(X, binary=True)
        check_lengths(scores=rho, X=lengths)
        space = space_of(rho=rho, lengths=lengths)
        known = (lengths > 0) & space.xp.isfinite(lengths)
        if not space.host:
            one, nothing = space.number(1, rho.dtype), space.number(0, rho.dtype)
            return space.xp.where(known, rho / space.xp.where(known, lengths, one), nothing)
        return np.divide(rho, lengths, out=np.zeros_like(rho), where=known)


def settled_counts(relative: Any, codes: Any, cells: int, reach: float) -> np.ndarray:
    """Return for each cell the rows that are right, and that are wrong, under every model within the reach.

    Rows of zeros, which tie under every model, are neither. The result has shape (cells, 2).
    """
    space = space_of(relative=relative, codes=codes)
    right = (relative > reach) & space.xp.isfinite(relative)
    wrong = relative < -reach
    return np.stack([space.counts_where(codes, chosen, cells) for chosen in (right, wrong)], axis=1)


def sure_counts(noisy: np.ndarray, margin: int, rows: np.ndarray) -> np.ndarray:
    """Return noisy − m for each count, at most twice and at least minus the rows of its cell, so that floats hold it.

    Where the noise is at most m, every count is at least this: noisy ≤ count + m, also if the sampler cut the sum off
    at an end of the 64-bit integers. At the upper end that only makes noisy smaller; at the lower end, −2⁶³, the
    difference is below 0, and no count is. Nor does an end of the range asked for here matter, since 0 ≤ count ≤ rows.
    The margin may have hundreds of digits: the difference is of Python's integers, for one of 64 bits could pass its
    end and come back at the other.

    Parameters
    ----------
    noisy : int array of shape (cells, 2)
        Counts with noise.
    margin : int
        m.
    rows : int array of shape (cells,)
        How many rows each cell has.
    """
    return np.array([
        [min(max(int(one) - margin, -many), 2 * many) for one in pair]
        for pair, many in zip(noisy, rows.tolist(), strict=True)
    ])  # fmt: skip


def noise_margin(scale: float, failure: float) -> int:
    """Return a whole m that two-sided geometric noise of a scale exceeds with at most this probability.

    It is the least one, up to roundings. P(noise > m) is r^(m + 1)/(1 + r) with r = e^(−1/scale), so that m + 1 has to
    be at least −scale · ln(failure · (1 + r)). That logarithm may be nearly 0 while its two parts are not, and is
    raised by more than these can be wrong by.
    """
    logarithm = -math.log(failure) - math.log1p(math.exp(-1 / scale))
    return max(0, math.ceil(Fraction(scale) * Fraction(raised(logarithm, 1.0)) - 1))
