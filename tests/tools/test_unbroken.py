"""A formula stays on one line with its punctuation, and a page does not change otherwise."""

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
