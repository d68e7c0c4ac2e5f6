"""A formula stays on one line with its punctuation, a number with its percent sign; nothing else changes."""

import re

import pytest
import unbroken

FORMULA = r'<span class="math notranslate nohighlight">\(K\)</span>'


@pytest.mark.parametrize("text", [f"{FORMULA}.", f"({FORMULA}", f"({FORMULA}),", f"{FORMULA};"])
def test_punctuation_stays_with_its_formula(text):
    page = unbroken.keep_together(f"<p>So {text} is</p>")
    assert page == f'<p>So <span class="unbroken">{text}</span> is</p>'
    assert unbroken.keep_together(page) == page
    assert re.sub(r"<[^>]*>", "", page) == re.sub(r"<[^>]*>", "", f"<p>So {text} is</p>")


@pytest.mark.parametrize(
    "page",
    [f"<p>the {FORMULA} of a</p>", '<div class="math notranslate nohighlight">\\[x\\]</div>.', "<p>(a).</p>"],
)
def test_nothing_else_changes(page):
    assert unbroken.keep_together(page) == page


@pytest.mark.parametrize(
    ("page", "kept"),
    [
        ("<p>with 95 %.</p>", "<p>with 95&nbsp;%.</p>"),
        ("<p><span>5</span> % of all</p>", "<p><span>5</span>&nbsp;% of all</p>"),
    ],
)
def test_a_number_stays_with_its_percent_sign(page, kept):
    assert unbroken.keep_percents(page) == kept
    assert unbroken.keep_percents(kept) == kept


@pytest.mark.parametrize(
    "page",
    [
        "<pre><span>7</span> % 3</pre>",
        "<code>7 % 3</code>",
        "<script>a = 7 % 3</script>",
        '<img alt="at 95 % confidence">',
        "<p>a % b</p>",
    ],
)
def test_what_is_copied_or_run_keeps_its_spaces(page):
    assert unbroken.keep_percents(page) == page
