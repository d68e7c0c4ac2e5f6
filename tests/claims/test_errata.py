"""Errata for each paper, as a page and as text."""

import re

import pytest

from dpfair_lib.claims import CLAIMS
from dpfair_lib.claims.errata import BANDS, errata_counts, errata_of, errata_page, errata_text, lines_to_run
from dpfair_lib.claims.ledger import BANDS as KNOWN
from dpfair_lib.claims.ledger import Erratum
from dpfair_lib.claims.papers import NAMES


def test_every_band_has_a_heading():
    assert set(BANDS) == set(KNOWN)


@pytest.mark.parametrize("source", NAMES)
def test_each_erratum_stands_on_its_page_and_in_its_text_worst_first(source):
    found = list(errata_of(source))
    assert len(found) == sum(len(claim.errata) for claim in CLAIMS.values() if claim.source == source)
    order = list(BANDS)
    assert [order.index(band) for band, _, _ in found] == sorted(order.index(band) for band, _, _ in found)
    text, page = errata_text(source), errata_page(source)._repr_html_()
    assert page.count('class="erratum findings"') == len(found) == text.count("Place: ")
    assert max(len(line) for line in text.splitlines()) <= 130
    assert len({erratum.where for _, _, erratum in found}) == len(found), "two errata have one title"
    titles = re.findall(r'<h3 id="([^"]+)">(.*?)</h3>', page)
    assert len({place for place, _ in titles}) == len(found)
    assert not [title for _, title in titles if re.search(r"[_^]", title)]
    assert page.count("<h2") == len({band for band, _, _ in found})
    for _, claim, _ in found:
        assert f'href="../notebooks/ledger.html#{claim.id.replace(".", "-")}"' in page
        assert f'href="../notebooks/{claim.chapter}.html#{claim.id.replace(".", "-")}"' in page


@pytest.mark.parametrize(
    ("asserted", "printed"),
    [
        ("1 < 2 + x", "print(2 + x)"),
        ("len(a) != len(b)", "print(len(a), len(b))"),
        ("f(x)", "print(f(x))"),
        ("x > y and g(x) == 0", "print(x, y, g(x))"),
    ],
)
def test_the_lines_that_show_an_erratum_end_in_a_print_of_what_they_assert(asserted, printed):
    erratum = Erratum("here", "x", "y", shown=f"x = 1\nassert {asserted}")
    assert lines_to_run(erratum).splitlines() == ["x = 1", f"assert {asserted}", printed]
    with pytest.raises(ValueError, match="expected an assert"):
        lines_to_run(Erratum("here", "x", "y", shown="x = 1"))


def test_errata_are_counted_by_band_and_paper():
    cells = re.findall(r"<td[^>]*>([^<]*|<a.*?</a>)</td>", errata_counts()._repr_html_())
    rows = [cells[start : start + 5] for start in range(0, len(cells), 5)]
    assert len(rows) == len(NAMES) + 1
    for row in rows:
        assert sum(map(int, row[1:4])) == int(row[4])
    assert int(rows[-1][4]) == sum(len(claim.errata) for claim in CLAIMS.values())
    assert [sum(int(row[at]) for row in rows[:-1]) for at in range(1, 5)] == [
        int(cell) for cell in rows[-1][1:]
    ]
