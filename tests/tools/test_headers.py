"""A table of pandas has one row of headers, and no header is lost that says something."""

import re

import headers
import pytest


def table(*rows: str, cell: str = "<th>{}</th>") -> str:
    head = "".join(f"<tr>{''.join(cell.format(name) for name in row.split('|'))}</tr>" for row in rows)
    return f'<table border="1" class="dataframe">\n  <thead>{head}</thead><tbody><tr><th>x</th></tr></tbody></table>'


@pytest.mark.parametrize(
    ("rows", "names"),
    [
        (("|error|gap", "data||"), ["data", "error", "gap"]),
        (("||error", "data|ε|"), ["data", "ε", "error"]),
        (("notion|odds|parity", "bound||"), ["bound", "odds", "parity"]),
        (("|ε|0.1|1e-05", "what|data||"), ["what", "data", "ε = 0.1", "ε = 1e-05"]),
    ],
)
def test_two_rows_become_one(rows, names):
    head = headers.merge_headers(table(*rows)).partition("</thead>")[0]
    assert re.findall(r'<th scope="col">(.*?)</th>', head) == names
    assert head.count("<tr>") == 1


@pytest.mark.parametrize(
    "page",
    [
        table("|error|gap"),
        table("|error|gap", "||"),
        table("|error", "data||"),
        table("|run|", "|alone|both", cell='<th colspan="2">{}</th>'),
        table("|error", "data|").replace("dataframe", "docutils"),
    ],
)
def test_other_tables_stay(page):
    assert headers.merge_headers(page) == page


def test_a_second_time_changes_nothing():
    once = headers.merge_headers(table("|error", "data|"))
    assert headers.merge_headers(once) == once


def test_rows_that_are_called_by_numbers_are_marked_and_no_others():
    rows = "".join(
        f"<tr><th>{name}</th><td>1</td></tr>" for name in ("0.1", "−1,000", "1e-05", "SVM", "1 of 2")
    )
    page = table("|2024", "ε|").replace("<tr><th>x</th></tr>", rows)
    marked = headers.mark_numbers(page)
    assert re.findall(r'<th class="number">(.*?)</th>', marked) == ["0.1", "−1,000", "1e-05"]
    assert marked.replace(' class="number"', "") == page
    assert headers.mark_numbers(page.replace("dataframe", "docutils")) == page.replace(
        "dataframe", "docutils"
    )
    assert headers.mark_numbers(marked) == marked
