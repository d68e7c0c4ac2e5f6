"""The picture of a certificate: for each group, the interval that its fairness stays in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dpfair_lib import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_intervals(
    ax: Axes | None, *, groups: Sequence[Any], lower: np.ndarray, upper: np.ndarray, notion: str,
    fairness: np.ndarray | None = None,
) -> Axes:  # fmt: skip
    """Draw an interval for each group, and the given model's value as a point.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None for a figure of its own.
    groups : sequence
        Names, from the top down.
    lower, upper : ndarray of shape (K,)
        Ends of the intervals. What is infinite is drawn to the edge.
    notion : str
        Of the fairness.
    fairness : ndarray of shape (K,), optional
        Values of the given model.

    Returns
    -------
    matplotlib.axes.Axes
        The axes, with the intervals as one collection of lines.
    """
    if ax is None:
        _, ax = plots.axes(height=1.2 + 0.4 * len(groups))
    assert ax is not None
    at = np.arange(len(groups))
    # F is a difference of two shares, or a share
    ax.hlines(
        at, np.maximum(lower, -1), np.minimum(upper, 1), color=plots.BLUE, lw=6, alpha=0.5, label="bounds"
    )
    if fairness is not None:
        ax.plot(fairness, at, "o", color=plots.ORANGE, label="given model")
    if notion != "accuracy":
        ax.axvline(0, color=plots.BLACK, lw=0.8, ls=":")
    ax.set_yticks(at, [_name(group) for group in groups])
    ax.set_ylim(len(groups) - 0.5, -0.5)
    what = "accuracy (share)" if notion == "accuracy" else "F of the group (share; 0 = as everyone)"
    plots.label(ax, x=what, y="", title=notion.replace("_", " "))
    ax.locator_params(axis="x", nbins=5)
    ax.legend(fontsize=plots.SMALL)
    return ax


def _name(group: Any) -> str:
    return f"label {group[0]}, {group[1]}" if isinstance(group, tuple) else str(group)
