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


def test_headings_and_text_of_the_chapter_carry_its_number_too_and_nothing_else_does():
    own = HEAD.format("7") + RESULT.format("own", 1)
    text = "<h3>Proof of Result 1</h3><p>By Result 1 (a); not Result 4, nor Results 1.</p>"
    aside = '<pre>Result 1</pre><img alt="Result 1"><svg><text>Result 1</text></svg>'
    other = '<a href="b.html#there">Result 2.1</a><a href="c.html">Result 1 there</a>'
    page = numbering.number_results({"a.html": own + text + aside + other})["a.html"]
    assert "<h3>Proof of Result 7.1</h3><p>By Result 7.1 (a); not Result 4, nor Results 1.</p>" in page
    assert page.endswith(aside + other)
    assert page.count("7.1") == 3


def test_a_link_to_another_chapter_carries_the_number_of_that_one():
    pages = {
        "a.html": HEAD.format("7") + RESULT.format("own", 1) + '<a href="b.html">Result 1 there</a>',
        "b.html": HEAD.format("9") + RESULT.format("own", 1),
    }
    assert ">Result 9.1 there</a>" in numbering.number_results(pages)["a.html"]


def test_a_link_to_a_chapter_that_an_earlier_build_numbered_carries_its_number_too():
    numbered_before = numbering.number_results({"b.html": HEAD.format("9") + RESULT.format("own", 1)})
    new = {
        "a.html": HEAD.format("7") + '<a href="b.html">Result 1 there</a> <a href="b.html#own">Result 1</a>'
    }
    page = numbering.number_results(numbered_before | new)["a.html"]
    assert page.count("Result 9.1") == 2
