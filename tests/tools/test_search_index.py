"""What a search looks through: words of the sections, without code; and the search page uses it."""

import json

import pytest
import search_index

PAGE = """<html><body><nav>menu</nav><article class="bd-article">
<section id="top"><h1>Title<a class="headerlink">#</a></h1>
<p>First <span class="math">\\(x_1 \\le \\tfrac12\\)</span>-rule<br>words.</p>
<div class="highlight"><pre>code = 1</pre></div><pre>more code</pre>
<section id="next"><h2>Next</h2><table><tr><th></th><th>head</th></tr><tr><th>row</th><td>cell</td></tr></table>
<script>var a</script></section></section></article>
<footer>end</footer></body></html>"""


def section(body: str) -> str:
    """Return the words of a section with this body."""
    (found,) = search_index.sections_of(f'<article class="bd-article"><h1>T</h1>{body}</article>')
    return found["text"]


def test_sections_have_place_heading_and_words_without_code():
    assert search_index.sections_of(PAGE) == [
        {"place": "top", "heading": "Title", "text": "First x₁ ≤ 1/2-rule words."},
        {"place": "next", "heading": "Next", "text": "head; row · cell."},
    ]


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("<dl><dt>term</dt><dd>Its meaning.</dd></dl>", "term: Its meaning."),
        (
            "<table><tr><th>a</th><td>b</td></tr><tr><th>c</th><td>d.</td></tr></table><p>e</p>",
            "a · b; c · d. e",
        ),
        ("<p>Caption.</p><table><tr><td>a</td><td></td><td>b</td></tr></table>", "Caption. a · b."),
        ("<ul><li>one</li><li>two.</li><li>three</li></ul>", "one; two. three"),
        ("<p>e<sup>−2</sup> + x<sub>a</sub></p>", "e⁻² + xₐ"),
        (r"<div class='math'><span class='eqno'>(1)</span>\[\varepsilon = 1 .\]</div>", "ε = 1."),
        ("<p>Exercise 2.1 (Routine: a coin)</p>", "(Routine: a coin)"),
        (
            "<details><summary>Solution to Exercise 2.1 (Routine: a coin)</summary><p>Heads.</p></details>",
            "Heads.",
        ),
        (
            '<div class="claim-card"><p>True.</p><details><summary>How</summary><p>In cases.</p></details></div>'
            "<details><summary>More</summary><p>Words.</p></details>",
            "True. Words.",
        ),
    ],
)
def test_pieces_that_a_page_sets_apart_stay_apart(body, words):
    assert section(body) == words


def test_a_heading_with_a_place_of_its_own_is_found_there_under_the_heading_around():
    one, two, three, four = search_index.sections_of(
        '<article class="bd-article"><section id="t"><h1>Title</h1><h2 id="own">Own</h2>'
        '<section id="which"><h2>Which</h2><h3 id="which-a">A</h3><p>a</p><h3 id="which-b">B</h3><p>b</p>'
        "</section></section></article>"
    )[1:]
    assert (one["place"], one["heading"]) == ("own", "Own")
    assert two["place"] == "which"
    assert (three["place"], three["heading"], three["text"]) == ("which-a", "Which: A", "a")
    assert (four["place"], four["heading"], four["text"]) == ("which-b", "Which: B", "b")


def test_commands_are_read_where_a_reader_looks_for_them_alone():
    (_, found, other) = search_index.sections_of(
        '<article class="bd-article"><section id="t"><h1>Title</h1>'
        '<section id="install"><h2>Install</h2><div class="highlight"><pre>make it</pre></div></section>'
        '<section id="next"><h2>Next</h2><div class="highlight"><pre>make it</pre></div></section>'
        "</section></article>"
    )
    assert (found["text"], other["text"]) == ("make it", "")


def test_the_search_page_uses_the_index_in_place_of_the_stock_one(tmp_path):
    (tmp_path / "_static").mkdir()
    (tmp_path / "page.html").write_text(PAGE)
    stock = (
        '<body><script src="_static/searchtools.js"></script><script src="searchindex.js"></script></body>'
    )
    (tmp_path / "search.html").write_text(stock)
    for _ in range(2):
        search_index.write_index(tmp_path)
        assert (tmp_path / "search.html").read_text() == f"<body>{search_index.OWN}</body>"
    index = (tmp_path / search_index.INDEX).read_text()
    (page,) = json.loads(index.removeprefix("window.BOOK = ").rstrip(";\n"))
    assert (page["address"], page["title"], len(page["sections"])) == ("page.html", "Title", 2)
