"""What a search looks through: words of the sections, without code; and the search page uses it."""

import json

import search_index

PAGE = """<html><body><nav>menu</nav><article class="bd-article">
<section id="top"><h1>Title<a class="headerlink">#</a></h1>
<p>First \\(x\\)<br>words.</p><div class="highlight"><pre>code = 1</pre></div>
<section id="next"><h2>Next</h2><table><tr><td>cell</td></tr></table>
<script>var a</script></section></section></article>
<footer>end</footer></body></html>"""


def test_sections_have_place_heading_and_words_without_code():
    assert search_index.sections_of(PAGE) == [
        {"place": "top", "heading": "Title", "text": "First x words."},
        {"place": "next", "heading": "Next", "text": "cell"},
    ]


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
