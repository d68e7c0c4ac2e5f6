import matplotlib as mpl
import matplotlib.pyplot as plt

from dpfair_lib import plots


def test_panels_are_named_and_take_the_palette_in_its_order():
    with mpl.rc_context({"backend": "agg"}):
        figure, (left, right) = plots.axes(columns=2)
        try:
            plots.label(left, x="ε", y="error", title="A title")
            lines = [right.plot([0, 1])[0].get_color() for _ in plots.COLORS]
            assert (left.get_xlabel(), left.get_ylabel()) == ("ε", "error")
            assert left.get_title(loc="left") == "A title"
            assert tuple(lines) == plots.COLORS
        finally:
            plt.close(figure)
    assert len(set(plots.COLORS)) == len(plots.COLORS)
