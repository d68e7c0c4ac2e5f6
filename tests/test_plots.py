import matplotlib as mpl
import matplotlib.pyplot as plt
import plotly.graph_objects as go

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


def test_an_interactive_figure_has_its_words_and_asks_no_other_machine():
    drawn = go.Figure(go.Scatter(x=[1, 2], y=[3, 4]))
    shown = plots.Interactive(drawn, name="a-figure", text='Errors < 1 & "gaps"')
    page = shown._repr_html_()
    assert repr(shown) == 'Errors < 1 & "gaps"'
    assert 'aria-label="Errors &lt; 1 &amp; &quot;gaps&quot;"' in page
    assert '<div id="a-figure"' in page
    assert 'Plotly.newPlot("a-figure"' in page
    assert "http" not in page
    assert all(place in page for place in plots.Interactive.SCRIPTS)
    assert drawn.layout.template.layout  # the figure itself is left as it was
