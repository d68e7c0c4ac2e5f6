"""Figures and tables get their captions, numbers and alternative texts; too many captions are an error."""

import json
import re
from pathlib import Path

import captions
import pytest

ROOT = Path(__file__).resolve().parents[2]
PICTURE = {"output_type": "display_data", "data": {"image/svg+xml": "<svg/>"}, "metadata": {}}
TABLE = {"output_type": "execute_result", "data": {"text/html": "<table></table>"}, "metadata": {}}
CARD = {"output_type": "display_data", "data": {"text/html": "<div class='claim-card'><table></table></div>"}}


def captioned(*outputs, caption=None):
    metadata = {} if caption is None else {"caption": caption}
    cell = {"cell_type": "code", "source": "", "metadata": metadata, "outputs": list(outputs)}
    return json.loads(captions.caption_outputs(json.dumps({"cells": [cell]})))["cells"][0]


def said(cell):
    return [
        output["data"].get("text/markdown", "").partition("\n")[0] or "shown" for output in cell["outputs"]
    ]


def test_a_caption_stands_above_a_table_and_below_a_figure():
    cell = captioned(TABLE, PICTURE, CARD, caption=["How many.", "How it *falls* with $n$."])
    assert said(cell) == [":::{div} table-caption", "shown", "shown", ":::{div} figure-caption", "shown"]
    assert cell["metadata"]["mystnb"]["image"]["alt"] == "How it falls with n."


def test_without_a_caption_the_labels_are_the_alternative_text():
    cell = captioned(PICTURE)
    assert cell["metadata"]["mystnb"]["image"]["alt"] == captions.alternative.__globals__["UNNAMED"]
    assert said(cell) == ["shown"]


def test_each_figure_of_a_cell_has_its_own_alternative_text():
    cell = captioned(PICTURE, TABLE, PICTURE, PICTURE, caption=["Rises.", "A table.", "Falls with $n$."])
    joined = cell["metadata"]["mystnb"]["image"]["alt"]
    unnamed = captions.alternative.__globals__["UNNAMED"]
    page = f'<p><img alt="{joined}" src="a.svg" /></p>' * 3 + '<img src="b.svg" alt="One">'
    texts = re.findall(r'alt="([^"]*)"', captions.part_alternatives(page))
    assert texts == ["Rises.", "Falls with n.", unnamed, "One"]


def test_two_cells_of_the_same_captions_keep_them_apart():
    page = f'<img alt="A{captions.NEXT}B">' * 4
    assert re.findall(r'alt="([^"]*)"', captions.part_alternatives(page)) == ["A", "B", "A", "B"]


def test_a_card_is_no_table():
    with pytest.raises(ValueError, match="1 captions for 0 figures"):
        captioned(CARD, caption="A card.")


def test_each_caption_of_a_stored_chapter_has_its_figure_or_table():
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        try:
            captions.caption_outputs(path.read_text("utf-8"))
        except ValueError as error:
            pytest.fail(f"{path.name}: {error}; a caption belongs to the cell that shows the figure or table")


def test_captions_are_numbered_by_kind_and_chapter():
    page = '<div class="table-caption docutils">\n<p>A.</p></div><div class="figure-caption docutils"><p>B.</p></div>'
    twice = captions.number_captions(page + page)
    assert [place in twice for place in ('id="table-1"', 'id="table-2"', 'id="figure-2"', 'id="figure-3"')] == [
        True, True, True, False,
    ]  # fmt: skip
    chapter = captions.number_captions('<h1><span class="section-number">12. </span>T</h1>' + page)
    assert '<div class="table-caption docutils" id="table-12-1">' in chapter
    assert '<span class="caption-number">Figure 12.1.</span> B.' in chapter
