"""Two figures are the same when one cannot see a difference, and nbval compares them so."""

import io
import os
import re
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl
import nbformat
import pytest
from matplotlib.figure import Figure as Canvas
from pictures import Figure, same

ROOT = Path(__file__).resolve().parents[2]


def drawn(x=1.5, colour="#0072b2", title="A curve", label="p", limits=(0.0, 10.0), points=3, width=4.0):
    """Return a figure's SVG text, its curve through `points` points, the first at `x`."""
    with mpl.rc_context({"svg.hashsalt": "dpfair", "svg.fonttype": "none"}):
        axes = (figure := Canvas(figsize=(width, 3))).add_subplot()
        axes.plot([x, 4.0, 7.0, 8.0][:points], [1.0, 2.0, 1.5, 1.2][:points], "o-", color=colour, label=label)
        axes.set(title=title, xlim=limits, ylim=(0, 3))
        axes.legend()
        figure.savefig(text := io.StringIO(), format="svg", metadata={"Date": None})
    return text.getvalue()


def test_last_digits_and_the_names_that_hash_them_do_not_count():
    stored, fresh = drawn(), drawn(x=1.50001, width=4.00002)
    names = [set(re.findall(r'id="p[0-9a-f]{10}"', text)) for text in (stored, fresh)]
    assert names[0]
    assert not names[0] & names[1]
    assert same(stored, fresh)
    assert Figure(stored) == Figure(fresh)
    assert (Figure(stored) != Figure(fresh)) is False


@pytest.mark.parametrize(
    "change",
    [
        {"x": 1.502},
        {"colour": "#0072b3"},
        {"title": "A curse"},
        {"label": "q"},
        {"limits": (0.0, 10.1)},
        {"points": 2},
        {"points": 4},
    ],
    ids=str,
)
def test_what_one_sees_counts(change):
    stored, fresh = drawn(), drawn(**change)
    assert not same(stored, fresh)
    assert Figure(stored) != Figure(fresh)
    assert (Figure(stored) == Figure(fresh)) is False


@pytest.mark.parametrize(
    ("stored", "fresh"),
    [
        ('<a id="p0123456789"/><b id="p1123456789"/><c r="#p0123456789"/>', "#p1123456789"),
        ('<path style="stroke-width: 0.8"/><c r="#p0123456789"/>', "#p0123456789"),
    ],
)
def test_a_part_that_refers_to_another_part_is_another_figure(stored, fresh):
    changed = stored.replace("#p0123456789", fresh).replace("0.8", "0.801")
    assert changed != stored
    assert not same(stored, changed)


def test_a_text_is_no_figure():
    assert Figure(drawn()) != 3
    assert Figure(drawn()) != "text"


@pytest.mark.parametrize(("shift", "fails"), [(1e-6, False), (0.05, True)])
def test_nbval_compares_figures_as_one_sees_them(tmp_path, shift, fails):
    picture = "<!DOCTYPE svg>\n<svg><path d='M 1.5 2'/></svg>".replace("'", '"')
    output = nbformat.v4.new_output(
        "display_data", {"image/svg+xml": picture.replace("1.5", str(1.5 + shift))}
    )
    shown = f"from IPython.display import display\ndisplay({{'image/svg+xml': {picture!r}}}, raw=True)"
    cell = nbformat.v4.new_code_cell(shown, outputs=[output], execution_count=1)
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata=kernel), tmp_path / "one.ipynb")
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "--nbval", "-p", "conftest", "-p", "no:cacheprovider", "one.ipynb"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "notebooks")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == int(fails), run.stdout
    assert f"1 {'failed' if fails else 'passed'}" in run.stdout
