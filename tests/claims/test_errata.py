"""Errata for each paper, as a page and as text."""

import pytest

from dpfair_lib.claims import CLAIMS
from dpfair_lib.claims.errata import BANDS, errata_of, errata_page, errata_text
from dpfair_lib.claims.ledger import BANDS as KNOWN
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
    for _, claim, _ in found:
        assert f'href="../notebooks/{claim.chapter}.html#{claim.id.replace(".", "-")}"' in page
