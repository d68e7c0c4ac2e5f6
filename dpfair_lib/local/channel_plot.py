"""The picture of a channel: the probability of each report given each input."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpfair_lib import plots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

WRITTEN = 8  # so many reports and inputs at most have their numbers written into the picture
DARK = 0.6


def draw_channel(ax: Axes | None, matrix: np.ndarray, epsilon: float) -> Axes:
    """Draw a channel as an image on a scale from 0 to 1, with the numbers of a small one written in.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None
        Where to draw; None for a figure of its own.
    matrix : ndarray of shape (k, m)
        One row for each input.
    epsilon : float
        For the title.

    Returns
    -------
    matplotlib.axes.Axes
        The axes.
    """
    if ax is None:
        _, ax = plots.axes()
    assert ax is not None
    image = ax.imshow(matrix, vmin=0, vmax=1, cmap="Blues", aspect="auto")
    ax.figure.colorbar(image, ax=ax, label="probability")
    ax.grid(visible=False)
    ax.locator_params(axis="both", integer=True)
    if max(matrix.shape) <= WRITTEN:
        for (row, column), chance in np.ndenumerate(matrix):
            color = "white" if chance > DARK else plots.BLACK
            ax.text(column, row, f"{chance:.3g}", ha="center", va="center", color=color)
    plots.label(ax, x="report", y="input", title=f"ε = {epsilon:.3g}")
    return ax
