"""One style for every figure, in colours that colour-blind readers can distinguish."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpfair_lib._extras import extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Okabe and Ito's palette
BLUE, ORANGE, GREEN, PURPLE, SKY, VERMILION, BLACK = COLORS = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#CC79A7",
    "#56B4E9",
    "#D55E00",
    "#000000",
)  # fmt: skip  (their yellow is too pale on white)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
WIDE = 7.1
"""Inches that a page shows at full size; a wider figure is shrunk, and its text with it."""
SMALL = 8.5
"""Points of the smallest text, for legends and labels of bars."""


def axes(width: float = 6.4, height: float = 4.0, columns: int = 1, rows: int = 1) -> tuple[Figure, Any]:
    """Return a figure in the book's style and its axes (an array of them for more than one panel)."""
    with extra("figures"):
        import matplotlib.pyplot as plt
        from cycler import cycler

    _draw_in_lines()
    plt.rcParams.update(
        {
            "figure.dpi": 110,
            "figure.facecolor": "white",  # solid, so that the figure reads in the dark theme too
            "axes.prop_cycle": cycler(color=COLORS),
            "axes.spines.top": False,
            "axes.spines.right": False,
            "axes.grid": True,
            "grid.alpha": 0.3,
            "font.size": 10,
            "legend.frameon": False,
            "svg.fonttype": "none",  # text stays text: sharp at any size, found by a search, measured by a test
            "svg.hashsalt": "dpfair",  # else every run names its parts anew
        }
    )
    return plt.subplots(rows, columns, figsize=(width, height), layout="constrained")


def _draw_in_lines() -> None:
    """Let a notebook store its figures as SVG without a date; elsewhere there is nothing to be stored."""
    try:
        from IPython import get_ipython
        from matplotlib_inline.backend_inline import set_matplotlib_formats
    except ImportError:
        return
    if get_ipython() is not None:
        set_matplotlib_formats("svg", metadata={"Date": None})  # type: ignore[no-untyped-call]


def legend_below(figure: Figure, ax: Axes, columns: int = 3) -> None:
    """Put one legend for all panels, that of `ax`, under the figure."""
    handles, names = ax.get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower center", ncols=columns, fontsize=SMALL)


def label(ax: Axes, *, x: str, y: str, title: str = "") -> None:
    """Name the axes of one panel."""
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title(title, fontsize="medium", loc="left")
