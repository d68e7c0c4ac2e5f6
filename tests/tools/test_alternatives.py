"""What a figure shows is told from the labels in the source; a cell without a picture is left alone."""

import ast
import json

import alternatives
import captions
import pytest


def described(*sources, picture=True):
    shown = [{"output_type": "display_data", "data": {"image/png": "", "text/plain": ""}, "metadata": {}}]
    cells = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": shown if picture else []}
        for source in sources
    ]
    notebook = {"cells": [{"cell_type": "markdown", "source": "δ", "metadata": {}}, *cells]}
    return json.loads(captions.caption_outputs(json.dumps(notebook)))["cells"][1:]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("plots.label(ax, x='ε', y='δ')", "Figure: “δ” against “ε”"),
        ("plots.label(ax, x='ε', y='', title='Adult')", "Figure: “ε” (Adult)"),
        ("plots.label(ax, x='n', y=f'δ at {e:g}', title=name)", "Figure: “δ at …” against “n”"),
        (
            "ax.plot(n, y, label='exact')\nax.plot(n, z, label=name)\nplots.label(ax, x='n', y='δ')",
            "Figure: “δ” against “n”. Drawn: exact",
        ),
        (
            "plots.label(left, x='n', y='δ')\nplots.label(right, x='n', y='ε')",
            "Figure: “δ” against “n”; “ε” against “n”",
        ),
        ("ax.plot(n, y, label='exact')", alternatives.UNNAMED),
        ("show(table)", alternatives.UNNAMED),
    ],
)
def test_labels_are_told(source, expected):
    assert described(source)[0]["metadata"] == {"mystnb": {"image": {"alt": expected}}}


def test_a_function_of_an_earlier_cell_labels_its_figure_too():
    drawing = "def draw(ax):\n    plots.label(ax, x='n', y='δ')"
    assert alternatives.alternative(ast.parse("draw(ax)"), {}) == alternatives.UNNAMED
    assert (
        described(drawing, "draw(ax)")[1]["metadata"]["mystnb"]["image"]["alt"] == "Figure: “δ” against “n”"
    )


def test_a_cell_without_a_picture_is_left_alone():
    assert described("plots.label(ax, x='ε', y='δ')", picture=False)[0]["metadata"] == {}
