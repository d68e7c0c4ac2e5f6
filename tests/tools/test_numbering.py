"""Our own results carry their chapter's number, where they stand and in each link; other pages' numbers stay."""

import numbering

HEAD = '<h1><span class="section-number">{}. </span>A chapter</h1>'
RESULT = '<div class="our-result admonition" id="{}">\n<p class="admonition-title">Result {} (ours): a title</p></div>'
LINK = '<a class="reference internal" href="{}"><span class="std std-ref">Result {}</span></a>'


def numbered():
    return numbering.number_results(
        {
            "notebooks/a.html": HEAD.format(3) + RESULT.format("own", 2) + LINK.format("#own", 2),
            "notebooks/b.html": HEAD.format(14) + LINK.format("a.html#own", "2 of the chapter before"),
            "book/index.html": LINK.format("../notebooks/a.html#own", 2)
            + LINK.format("../notebooks/a.html#other", 2),
        }
    )


def test_a_result_and_its_links_carry_the_number_of_its_chapter():
    pages = numbered()
    assert "Result 3.2 (ours): a title" in pages["notebooks/a.html"]
    assert pages["notebooks/a.html"].count("Result 3.2") == 2
    assert "Result 3.2 of the chapter before" in pages["notebooks/b.html"]
    assert pages["book/index.html"].count("Result 3.2") == 1  # the second link leads to no result of ours
    assert pages["book/index.html"].count("Result 2<") == 1


def test_numbering_twice_changes_nothing_more():
    pages = numbered()
    assert numbering.number_results(pages) == pages


def test_a_page_without_a_number_keeps_its_own():
    page = {"book/x.html": "<h1>No number</h1>" + RESULT.format("own", 1) + LINK.format("#own", 1)}
    assert numbering.number_results(page) == page
