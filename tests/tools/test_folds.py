"""Folds are named after what they open, and no two of a page have the same name."""

import folds
import pytest

SOLUTION = (
    '<div class="solution dropdown admonition" id="a-solution-1">\n<p class="admonition-title">Solution to'
    '<a class="reference internal" href="#e"> Exercise 6.1 (Routine: a coin)</a></p>\n'
    '<section id="solution-content"><p>Heads.</p><div class="cell"><div>1</div></div></section>\n</div><p>After.</p>'
)
STOCK = (
    '<summary aria-label="Toggle hidden content">\n<p class="collapsed admonition-title">Show code cell source</p>\n'
    '<p class="expanded admonition-title">Hide code cell source</p>\n</summary>'
)


def cell(code: str = "", after: str = "", tags: str = "") -> str:
    return (
        f'<div class="cell {tags} docutils container">\n<details class="admonition hide above-input">\n{STOCK}\n'
        f"<div><pre><span></span>{code}</pre></div></details>{after}</div>"
    )


def test_a_solution_is_a_fold_called_after_its_exercise():
    assert folds.name_folds(SOLUTION) == (
        '<details class="solution admonition" id="a-solution-1"><summary class="admonition-title">Solution to '
        'Exercise 6.1 (Routine: a coin)</summary>\n<section><p>Heads.</p><div class="cell"><div>1</div></div>'
        "</section>\n"
        "</details><p>After.</p>"
    )


def test_a_solution_without_an_end_is_refused():
    with pytest.raises(ValueError, match="found no end"):
        folds.name_folds(SOLUTION.replace("</div>", ""))


NUMBERED = '<span class="caption-number">{}.</span>'


@pytest.mark.parametrize(
    ("page", "name"),
    [
        (cell(tags="tag_parameters"), "the parameters"),
        (cell(code='<span class="kn">import</span>'), "the imports"),
        (cell(after=NUMBERED.format("Figure 6.1")), "the code of Figure 6.1"),
        (
            cell(after=NUMBERED.format("Table 1") + NUMBERED.format("Table 2")),
            "the code of Table 1 to Table 2",
        ),
        (cell() + NUMBERED.format("Table 1"), "the code"),
        (cell().replace("cell source", "cell output"), "the output"),
        (cell(tags="tag_hide-input").replace('">', '" id="a-label">', 1), "the code"),
        (
            f'<h2>How <em>tight</em><a class="headerlink">#</a></h2>{cell()}',
            'the code<span class="visually-hidden">: How tight</span>',
        ),
    ],
)
def test_code_is_called_after_what_it_makes_or_its_section(page, name):
    named = folds.name_folds(page)
    assert f'<p class="collapsed admonition-title">Show {name}</p>' in named
    assert f'<p class="expanded admonition-title">Hide {name}</p></summary>' in named


def test_a_part_of_the_contents_is_called_after_its_page():
    page = '<a href="x.html">Errata</a><details><summary><span class="toctree-toggle"></span></summary>'
    named = folds.name_folds(page)
    assert '<summary aria-label="Pages below Errata"><span' in named
    assert folds.name_folds(named) == named


CARD = '<div class="claim-card" id="{0}"><code>{0}</code>{1}</div>'
CHECKED = "<details><summary>How it was checked</summary></details>"


def test_a_card_gives_its_name_to_its_own_fold_only():
    page = folds.name_folds(CARD.format("one", "") + CARD.format("two", CHECKED))
    assert page.count('checked<span class="visually-hidden">: two</span></summary>') == 1
    assert ": one" not in page


def test_rows_of_the_ledger_and_errata_name_their_folds():
    row = '<tr id="a" data-paper="x"><td><code>a</code></td><td><details><summary>more</summary></details></td></tr>'
    erratum = (
        '<div class="erratum"><h4>§ 4</h4><details><summary>See for yourself (Py)</summary></details></div>'
    )
    named = folds.name_folds(row + erratum)
    assert 'more<span class="visually-hidden">: a</span></summary>' in named
    assert 'See for yourself (Py)<span class="visually-hidden">: § 4</span></summary>' in named


def test_equal_names_are_counted_and_a_second_time_changes_nothing():
    page = f"<article>{cell()}{cell()}{SOLUTION}{SOLUTION}{CARD.format('two', CHECKED)}</article>"
    named = folds.name_folds(page)
    assert named.count('<span class="visually-hidden"> (2)</span>') == 3  # Show and Hide, and one solution
    assert folds.name_folds(named) == named
