"""A term of the glossary is linked in each chapter that uses it; one that is not is named."""

import re
from pathlib import Path

import glossary_links
import prose
import pytest

ROOT = Path(__file__).resolve().parents[2]
GLOSSARY = """# Glossary

:::{glossary}
coupling
  A joint distribution.

  In two paragraphs.

adjacency
neighbouring data sets
  Two data sets.
:::
"""
TERMS = [["coupling"], ["adjacency", "neighbouring data sets"]]


def test_terms_that_share_a_definition_are_one_entry():
    assert glossary_links.entries(GLOSSARY) == TERMS


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("Take a coupling.", ["coupling"]),
        ("Two couplings of neighbouring data sets.", ["coupling", "neighbouring data sets"]),
        ("Take a {term}`coupling`. The coupling is good.", []),
        ("Two {term}`couplings <coupling>`.", []),
        ("By {term}`adjacency`: neighbouring data sets differ in one record.", []),
    ],
)
def test_what_is_used_and_not_linked_is_named(text, missing):
    assert glossary_links.not_linked(f"# Title\n\n## Question\n\n{text}\n", TERMS) == missing


@pytest.mark.parametrize(
    "text",
    [
        "### A coupling",
        "`coupling`",
        "[coupling](other.md)",
        "*coupling*",
        "$\\text{coupling}$",
        "```{code-cell} ipython3\ncoupling = 1\n```",
        "| coupling |",
        "coupling-free",
    ],
)
def test_what_is_no_running_text_needs_no_link(text):
    assert glossary_links.not_linked(f"# Title\n\n## Question\n\n{text}\n", TERMS) == []


def test_before_the_question_nothing_is_looked_at():
    assert glossary_links.not_linked("# A coupling\n\nA coupling.\n\n## Question\n\nWhy?\n", TERMS) == []


def test_a_chapter_s_missing_link_is_a_complaint():
    found = prose.read("# Title\n\n## Question\n\nTake a coupling.\n", TERMS)
    assert any("'coupling'" in one for one in prose.complaints("any", found))


def test_the_book_s_glossary_is_read():
    found = glossary_links.entries((ROOT / "book/glossary.md").read_text("utf-8"))
    assert len(found) > 30
    assert ["adjacency", "neighbouring data sets"] in found
    assert {term for terms in found for term in terms} >= glossary_links.OTHERWISE


def test_every_link_leads_to_a_term_of_the_glossary():
    entries = glossary_links.entries((ROOT / "book/glossary.md").read_text("utf-8"))
    known = {term.lower() for terms in entries for term in terms}
    for path in [*(ROOT / "notebooks").glob("*.md"), *(ROOT / "book").glob("*.md")]:
        linked = re.findall(r"\{term\}`(?:[^`<]*<)?([^`>]+)>?`", path.read_text("utf-8"))
        assert not [term for term in linked if term.lower() not in known], path.name
