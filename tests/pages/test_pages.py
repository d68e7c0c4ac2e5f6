"""Every built page works without a network, on a phone and in the dark; and these checks can fail."""

import io
import os
import re
from pathlib import Path

import browsing
import pytest
from chapters import pages
from PIL import Image

from dpfair_lib.claims.papers import NAMES

ROOT = Path(__file__).resolve().parents[2]
HTML = Path(os.environ.get("BOOK_HTML", ROOT / "_build" / "html")).resolve()
MATHJAX = (ROOT / "book/_static/vendor/mathjax/tex-svg-full.js").as_uri()
PAGES = browsing.built(HTML)

STYLE = """<style>:root{color-scheme:light dark} body{margin:1rem;background:#fff;color:#111}
@media (prefers-color-scheme:dark){body{background:#111;color:#eee}}</style>
<meta name="viewport" content="width=device-width">"""
MENU = "<script>window.MathJax = {options: {enableMenu: false}}</script>"  # as in _config.yml
MATH = f'{MENU}<script src="{MATHJAX}"></script><p><span class="math">\\(x^2\\)</span></p>'
GIF = "data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7"
PROSE = f'<h1 id="top">Title</h1><img src="{GIF}" alt="A dot"><a href="#top">up</a><p>Costs $5 or $6.</p>'

SEEN = "How much of it there is, group by group."
CAPTION = f'<div class="table-caption"><p>Table 1. {SEEN}</p></div>'
# what scrolls can be reached by the keyboard, and nothing else
REACHED = """<script>for (const box of document.querySelectorAll('.box'))
if (box.scrollWidth > box.clientWidth) box.tabIndex = 0</script>"""
WIDE = (
    CAPTION + "<div class=box style='overflow-x:auto;box-shadow:inset -9px 0 9px #999'><table><tr>"
    "<td style='position:sticky;left:0'>first<td><div style='width:500px'>second</div></table></div>"
    + REACHED
)
DRAWING_FILE, PICTURE_FILE = "drawing.svg", "picture.png"
DRAWING_TEXT = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 500 100" width="500pt" height="100pt">
<text style="font: 10px 'DejaVu Sans', sans-serif" x="5" y="50">ε</text></svg>"""

PLANTED = {
    "a script from elsewhere": ("<script src='https://cdn.example.org/x.js'></script>", "asks the network"),
    "a style sheet from elsewhere": (
        "<link rel=stylesheet href='http://example.org/x.css'>",
        "asks the network",
    ),
    "a script that is not there": ("<script src='none.js'></script>", "request failed"),
    "a fetch of a file": ("<script>fetch('page.html')</script>", "console error"),
    "a script error": ("<script>nothing.here()</script>", "script error"),
    "an unknown command": (MATH.replace("x^2", r"\undefinedmacro"), "TeX error"),
    "wrong TeX": (MATH.replace("x^2", r"\left( x"), "TeX error"),
    "MathJax missing": (r'<span class="math">\(x^2\)</span>', "formula not typeset"),
    "raw dollars": ("<p>so $$x$$ it is</p>", "raw mathematics"),
    "a raw formula": (r"<p>so $\epsilon = 1$ it is</p>", "raw mathematics"),
    "a wide block": ("<div style='width:500px'>wide</div>", "scrolls sideways"),
    "a wide block cut off": (
        "<div style='overflow:hidden'><div style='width:500px'>wide</div></div>",
        "wider than the page",
    ),
    "dark on dark": ("<p style='color:#333'>unreadable in the dark</p>", "dark mode: contrast"),
    "light on light": ("<p style='color:#ccc'>unreadable by day</p>", "light mode: contrast"),
    "always light": ("<style>body{background:#fff !important}</style>", "the ground is light"),
    "an image that is not there": ("<img src='none.png'>", "image not loaded"),
    "an image without words": (f"<img src='{GIF}'>", "image without words"),
    "an image with its file's name for words": (
        f"<img src='{GIF}' alt='../_images/0a.png'>",
        "image without words",
    ),
    "two images with the same words": (f"<img src='{GIF}' alt='A dot'>", "image with the words of another"),
    "an image with the words of all": (
        f"<img src='{GIF}' alt='One. ␞ Another.'>",
        "image with the words of another",
    ),
    "a link to nowhere": ("<a href='none.html'>x</a>", "broken link"),
    "a link to no place": ("<a href='#none'>x</a>", "broken link"),
    "a cut block of code": ("<pre style='overflow:auto'>" + "x" * 400 + "</pre>", "block cut by"),
    "a hidden column": (
        CAPTION
        + "<div style='overflow-x:auto'><table><tr><td>a<td><div style='width:2000px'>b</div></table></div>",
        "table hides",
    ),
    "a wide table that is cut on a phone": (WIDE.replace("auto", "hidden"), "does not scroll"),
    "a wide table whose first column goes": (WIDE.replace("sticky", "static"), "lets its first column go"),
    "a wide table without a shadow": (
        WIDE.replace("box-shadow", "box-none"),
        "does not show that it goes on",
    ),
    "a clipped formula": (
        MATH.replace("x^2", "x" * 300).replace("<p>", "<p style='overflow:hidden'>"),
        "equation clipped",
    ),
    "a formula that a phone cuts off": (
        MATH.replace("x^2", "x" * 60).replace("<p>", "<p style='overflow:hidden'>"),
        "does not scroll",
    ),
    "a formula that a phone scrolls without a sign": (
        MATH.replace("x^2", "x" * 60).replace("<p>", "<p style='overflow-x:auto' tabindex=0>"),
        "equation at a phone's width does not show that it goes on",
    ),
    "a formula that is cut at its left": (
        MATH.replace("<p>", "<p style='overflow:hidden'><span style='margin-left:-9px'></span>"),
        "is cut at its left",
    ),
    "a box that scrolls without the keyboard": (
        "<div style='overflow-x:auto'><div style='width:2000px'>wide</div></div>",
        "scrolls, but not by the keyboard",
    ),
    "a stop of the keyboard for nothing": ("<div tabindex=0>short</div>", "stops the keyboard"),
    "formulas with a menu": (MATH.replace(MENU, ""), "stops the keyboard"),
    "a fold without a name": (
        "<details><summary aria-label='Toggle hidden content'>Show</summary>x</details>",
        "fold without a name",
    ),
    "two folds with one name": (
        "<details><summary>more</summary>x</details>" * 2,
        "fold with the name of another",
    ),
    "headers beside their cells": (
        CAPTION
        + "<style>th { text-align: right }</style><table class=dataframe><thead><tr><th>a<tbody><tr><td>1</table>",
        "headers that are not over their cells",
    ),
    "two rows of headers": (
        CAPTION + "<table><thead><tr><th><th>b<tr><th>a<th></thead><tr><th>1<td>2</table>",
        "2 rows of headers",
    ),
    "small text in a drawing": (
        "<svg width=100 height=20 role=img aria-label=x><text y=10 font-size=8>small</text></svg>",
        "text of 8.0 px",
    ),
    "small text in a drawing that is shrunk": (
        f"<figure><img src='{DRAWING_FILE}' width=300 alt='A drawing'></figure>",
        "text of 6.0 px",
    ),
    "a picture that is shrunk": (f"<img src='{PICTURE_FILE}' width=100 alt='A picture'>", "picture shown at"),
    "a drawing that goes on below": (
        "<div style='overflow:auto;max-height:50px' tabindex=0>"
        "<svg width=100 height=200 role=img aria-label=x></svg></div>",
        "drawing hides",
    ),
    "a drawing that goes on without a sign": (
        "<div style='overflow-x:auto' tabindex=0><svg width=700 height=20 role=img aria-label=x></svg></div>",
        "drawing does not show that it goes on",
    ),
    "a table without a caption": ("<table><tr><th>a<td>b</table>", "Table without a caption"),
    "a figure without a number": (
        f"<figure><img src='{GIF}' alt='A dot'><figcaption>A dot without a meaning.</figcaption></figure>",
        "Figure without a number",
    ),
    "a caption that says nothing": (
        CAPTION.replace(SEEN, "Data.") + "<table><tr><th>a<td>b</table>",
        "says nothing",
    ),
    "a number that stands twice": (
        (CAPTION + "<table><tr><th>a<td>b</table>") * 2,
        "with the number of another",
    ),
    "a button without a name": ("<button></button>", "axe button-name"),
    "a role without a meaning in code": (
        "<pre><span class=k>x</span><span class=k role=nothing>y</span></pre>",
        "axe aria-roles",
    ),
}

# what readers ask → the pages that answer it; one of them is among the first three.
QUESTIONS = {
    "true epsilon of Adult": {"notebooks/isit-noise", "book/index"},
    "which CGKM theorem holds": {"notebooks/findings", "book/index"},
    "Table 1 MPBT": {"notebooks/mpbt-table-1"},
    "which method": {"notebooks/which-method"},
    "install": {"book/how-to-read"},
    "refuted": {"notebooks/findings", "notebooks/witnesses", "book/index"},
    "support vectors privacy": {"notebooks/sk-alg-1"},
    "equalized odds private": {"notebooks/sk-equalized-odds"},
    "randomised response optimal": {"notebooks/local-randomisers", "notebooks/thesis-thm-14"},
    "how many records": {"notebooks/cgkm-fairnr", "notebooks/cgkm-thm-2"},
    "certificate": {"notebooks/certify-your-model", "notebooks/mpbt-tighter"},
    "neighbouring relation": {"notebooks/isit-thm-3-privacy", "notebooks/privacy-mechanisms"},
    "exercises solutions": {"notebooks/assessment", "book/course"},
    "COMPAS": {"notebooks/sk-private-svms", "notebooks/which-method", "notebooks/thesis-fair-projection"},
}

# some of them → words of the answer, which the excerpt of such a page has
ANSWERS = {
    "true epsilon of Adult": "3.22",
    "which CGKM theorem holds": "None of",
    "Table 1 MPBT": "62.9",
    "which method": "DP-SGD",
    "install": "make book",
    "refuted": "printed statements are false",
}

pytestmark = pytest.mark.skipif(
    browsing.find_browser() is None, reason=f"no Chromium found (looked for {', '.join(browsing.PROGRAMS)})"
)
needs_book = pytest.mark.skipif(
    not PAGES, reason=f"no built book in {HTML.parent.name}/html: make book first"
)


@pytest.fixture(scope="module")
def browser():
    with browsing.chromium() as started:
        yield started


@pytest.fixture(scope="module")
def reader(browser):
    return browsing.Reader(browser)


def planted(folder: Path, body: str) -> Path:
    path = folder / "page.html"
    (folder / DRAWING_FILE).write_text(DRAWING_TEXT)
    Image.new("RGB", (300, 30)).save(folder / PICTURE_FILE)
    path.write_text(
        f"<!doctype html><html lang=en><meta charset=utf-8><title>T</title>{STYLE}<article><p>Text.</p>{body}</article>"
    )
    return path


def shorten(path: Path) -> str:
    return path.relative_to(HTML).as_posix()


@needs_book
@pytest.mark.parametrize("path", PAGES or [None], ids=shorten if PAGES else str)
def test_page(reader, path):
    target = browsing.redirect(path)
    problems = browsing.examine(reader, path) if target is None else []
    assert target is None or target.is_file()
    assert not problems, "\n".join(problems)


@needs_book
def test_every_page_of_the_contents_is_built():
    assert {*pages(HTML.parents[1]), "search"} <= {shorten(path).removesuffix(".html") for path in PAGES}


def in_order(pattern: str, page: str) -> list[str]:
    """Return what a pattern finds in the article of a built page, each once."""
    article = (HTML / f"{page}.html").read_text(encoding="utf-8").partition("<article")[2]
    return list(dict.fromkeys(re.findall(pattern, article)))


@needs_book
@pytest.mark.parametrize("path", PAGES or [None], ids=shorten if PAGES else str)
def test_no_result_of_ours_goes_without_its_chapter(path):
    if re.search(r'<h1><span class="section-number">', page := path.read_text(encoding="utf-8")):
        text = re.sub(r"<(pre|script|style|svg)\b.*?</\1>|<[^>]*>", "", page, flags=re.DOTALL)
        assert re.findall(r".{30}\bResult \d+(?!\.?\d).{20}", text) == []


@needs_book
def test_the_papers_come_in_one_order():
    assert in_order(r'<text x="0"[^>]*>(\w+)</text>', "book/index") == [*NAMES.values()]
    assert in_order(r"<li><p><strong>(\w+)</strong>: <", "book/index") == [*NAMES.values()]
    assert in_order(r'href="errata-(\w+)\.html"', "book/errata") == [*NAMES]
    assert in_order(r'<tr id="[^"]*" data-paper="(\w+)"', "notebooks/ledger") == [*NAMES]
    assert in_order(r'id="statements-(\w+)"', "notebooks/findings") == [*NAMES]


@needs_book
def test_on_a_phone_each_cell_of_the_ledger_names_its_column_in_the_order_of_the_columns(browser):
    look = """() => [...document.querySelector('tr[data-paper]').cells].map(cell => (
      [getComputedStyle(cell, '::before').content, cell.getBoundingClientRect().top]))"""
    for name in ("ledger", "witnesses"):
        path = HTML / f"notebooks/{name}.html"
        with browsing.opened(browser, path.as_uri(), browsing.PHONE, "light", []) as page:
            labels, tops = zip(*page.evaluate(look), strict=True)
        assert labels[0] == "none"
        assert all(re.fullmatch(r'"[a-z ]+" ": "|"[a-z ]+: "', label) for label in labels[1:]), labels
        assert list(tops) == sorted(set(tops))


@needs_book
def test_the_front_page_leads_to_each_answer(browser):
    """The four answers are on the first screen of a desk and of a phone, and lead to the place that shows why."""
    path = HTML / "book/index.html"
    for screen in (browsing.DESK, browsing.PHONE):
        with browsing.opened(browser, path.as_uri(), screen, "light", []) as page:
            asked = page.locator(".asked p")
            assert asked.count() == 4
            box = asked.last.bounding_box()
            assert box["y"] + box["height"] <= screen["height"]
            links = page.locator(".asked a").evaluate_all("all => all.map(one => one.href)")
    assert links[-1].endswith("notebooks/findings.html#statements-cgkm")
    assert browsing.broken_links(links) == []


@needs_book
def test_how_tos_are_in_the_first_screen_of_the_contents(browser):
    """All of "Use the library", to its reference, without scrolling; so titles there take one line or two."""
    below = """() => {
      const heading = [...document.querySelectorAll('.bd-docs-nav p.caption')]
        .find(one => one.textContent.trim() === 'Use the library');
      return [...heading.nextElementSibling.children]
        .map(one => [one.querySelector('a').textContent.trim(), one.getBoundingClientRect().bottom]);
    }"""
    path = HTML / "book/index.html"
    with browsing.opened(browser, path.as_uri(), browsing.DESK, "light", []) as page:
        shown = dict(page.evaluate(below))
    assert {"Ten minutes", "Coming from diffprivlib", "Coming from fairlearn", "Reference"} <= set(shown)
    assert max(shown.values()) < browsing.DESK["height"], shown


@needs_book
def test_search_finds_a_word_of_the_book(browser):
    assert browsing.search(browser, HTML, "parity") == []


@needs_book
@pytest.mark.parametrize("question", QUESTIONS)
def test_search_answers(browser, question):
    found = browsing.answers(browser, HTML, question)
    assert QUESTIONS[question] & {page for page, _ in found}
    said = [excerpt for page, excerpt in found if page in QUESTIONS[question]]
    assert any(ANSWERS.get(question, "") in excerpt for excerpt in said), said
    assert all(len(excerpt) > 20 for _, excerpt in found)
    assert not [excerpt for _, excerpt in found if browsing.UNREADABLE.search(excerpt)]


@needs_book
def test_search_does_not_find_what_is_not_there(browser):
    assert browsing.search(browser, HTML, "zqxjkvbp") == ["search finds nothing for 'zqxjkvbp'"]


@needs_book
def test_no_words_of_the_search_are_source_or_run_together():
    """Every section, not only those that a question finds."""
    for page in browsing.searched(HTML):
        for section in page["sections"]:
            found = browsing.UNREADABLE.search(section["heading"] + " " + section["text"])
            assert found is None, (page["address"], section["heading"], found)


@pytest.mark.parametrize(
    "text", [r"at \varepsilon", r"\(x", "x_{ij}", "e^{2}", "accountantA method", "(Lemma 16)holds"]
)
def test_unreadable_words_are_noticed(text):
    assert browsing.UNREADABLE.search(text)


@needs_book
def test_solutions_are_printed_under_their_names_and_folds_of_code_without(browser):
    """As a reader prints a page, with all folds closed before."""
    from pypdf import PdfReader

    path = HTML / "notebooks/assessment.html"
    names = re.findall(r'<summary class="admonition-title">\s*(.*?)\s*\(', path.read_text(encoding="utf-8"))
    with browsing.opened(browser, path.as_uri(), browsing.DESK, "light", []) as page:
        hidden = page.locator("details.solution > section").first
        assert not hidden.is_visible()
        words = hidden.locator("p").first.text_content()[:30]
        printed = " ".join(sheet.extract_text() for sheet in PdfReader(io.BytesIO(page.pdf())).pages)
    printed = " ".join(printed.split())
    assert len(names) > 4
    assert [name for name in names if printed.count(name) != 1] == []
    assert words in printed
    assert not re.search(r"(?:Show|Hide) the (?:code|parameters|imports)", printed)


@needs_book
def test_code_that_fades_in_is_printed_in_full(browser):
    """A fold that opens for the printer begins to fade in; on paper it stands as it will be."""
    path = HTML / "notebooks/assessment.html"
    moving = """() => {
      const folds = [...document.querySelectorAll('article details')];
      for (const open of [false, true]) {
        folds.forEach(fold => { fold.open = open; });
        document.body.getBoundingClientRect();
      }
      return document.getAnimations().length;
    }"""
    with browsing.opened(browser, path.as_uri(), browsing.DESK, "light", []) as page:
        assert page.evaluate(moving) > 0
        page.emulate_media(media="print")
        assert page.evaluate(moving) == 0


@needs_book
def test_the_keyboard_passes_the_list_of_chapters_and_no_page_moves_smoothly(browser):
    inside = "() => Boolean(document.activeElement.closest('main'))"
    path = HTML / "notebooks/isit-prop-1.html"
    with browsing.opened(browser, path.as_uri(), browsing.DESK, "light", []) as page:
        page.keyboard.press("Tab")
        assert page.evaluate("() => document.activeElement.textContent.trim()") == "Skip to main content"
        for start in ("#pst-skip-link a", ".skip-list"):
            page.locator(start).focus()
            page.keyboard.press("Enter")
            page.keyboard.press("Tab")
            assert page.evaluate(inside)
        assert page.evaluate("() => getComputedStyle(document.documentElement).scrollBehavior") == "auto"


@needs_book
def test_a_link_into_a_fold_opens_it(browser):
    path = HTML / "notebooks/assessment.html"
    with browsing.opened(browser, path.as_uri(), browsing.DESK, "light", []) as page:
        words = page.locator("details.solution > section > p").first
        words.evaluate("one => { one.id = 'folded'; }")
        assert not words.is_visible()
        page.evaluate("() => { location.hash = '#folded'; }")
        words.wait_for(state="visible")


def test_sound_page_passes(reader, tmp_path):
    assert browsing.examine(reader, planted(tmp_path, PROSE + MATH)) == []


@pytest.mark.parametrize("name", PLANTED)
def test_planted_defect_is_found(reader, tmp_path, name):
    body, expected = PLANTED[name]
    problems = browsing.examine(reader, planted(tmp_path, PROSE + body))
    assert any(expected in problem for problem in problems), problems


def test_a_wide_table_that_scrolls_by_itself_is_no_defect(reader, tmp_path):
    body = "<div class=box style='overflow-x:auto'><div style='width:900px'>wide</div></div>" + WIDE
    assert browsing.examine(reader, planted(tmp_path, body)) == []


def test_a_reader_comes_to_each_page_as_to_the_first(reader, tmp_path):
    body = "<script>if (localStorage.been || sessionStorage.been) nothing.here();"
    body += "localStorage.been = sessionStorage.been = 1</script>"
    for _ in range(2):
        assert browsing.examine(reader, planted(tmp_path, body)) == []


def test_what_a_page_still_does_is_not_blamed_on_the_next(reader, tmp_path):
    for name in ("first", "second"):
        (tmp_path / name).mkdir()
    errors = "<script>setInterval(() => nothing.here(), 1)</script>"
    browsing.examine(reader, planted(tmp_path / "first", errors))
    assert browsing.examine(reader, planted(tmp_path / "second", PROSE)) == []


def test_a_window_in_which_a_page_failed_is_not_used_again(reader, tmp_path):
    problems = []
    with (
        pytest.raises(Exception, match="ERR_FILE_NOT_FOUND"),
        reader.opened((tmp_path / "none.html").as_uri(), browsing.DESK, "light", problems),
    ):
        pass
    assert "light" not in reader.windows
    assert browsing.examine(reader, planted(tmp_path, PROSE)) == []


def test_redirect_is_followed_by_reading(tmp_path):
    page = tmp_path / "index.html"
    page.write_text('<meta http-equiv="Refresh" content="0; url=book/index.html" />')
    assert browsing.redirect(page) == tmp_path / "book/index.html"
