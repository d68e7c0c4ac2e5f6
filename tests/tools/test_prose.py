"""The form of a chapter that teaches: each part that is missing, and each sentence that is too long, is named."""

import prose
import pytest

GOOD = """---
kernelspec:
  name: python3
---

# A title

:::{admonition} What you will be able to do
:class: objectives
- count to ten.
:::

## Claim

A sentence with $x$ and **few** words, as in {cite:p}`one`.

### A worked example

Two and two.

## Derivation

**Idea.** Add them. Then

$$
2 + 2 = 4 .
$$ (eq-four)

It is seen at once.

## Check

:::{admonition} Summary
:class: summary
- Four.
:::

## Try it

```{exercise} Routine: three
:label: x-three
```

```{solution} x-three
:class: dropdown

Two and one.
```

```{exercise} Harder: four
:label: x-four
```

```{solution-start} x-four
:class: dropdown
```

```{code-cell} ipython3
print(2 + 2)  # $a$ and $b$ here are no formulas, and this comment is longer than any sentence may be """ + (
    "word " * 50 + "\n```\n\n```{solution-end}\n```\n\n```{exercise} Project: five\n:label: x-five\n```\n"
)


def test_a_good_chapter_has_no_complaints():
    found = prose.read(GOOD)
    assert (found.inline, found.displayed, len(found.exercises), len(found.solved)) == (1, 1, 3, 2)
    assert prose.complaints("x", found) == []


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (":class: objectives", ":class: note", "no objectives"),
        (":class: summary", ":class: note", "no summary"),
        ("### A worked example", "### Two people", "no worked example"),
        ("```{exercise} Project: five\n:label: x-five\n```\n", "", "2 exercises, expected at least 3"),
        ("Harder: four", "Hard: four", "expected a title that begins with one of Routine"),
        ("{solution-start} x-four", "{solution-start} x-three", "'Harder: four' has no solution"),
        ("Two and two.", "word " * 41 + "ends.", "a sentence of 42 words, at most 40"),
        ("It is seen at once.", "It is so. " * 41, "a paragraph of 123 words in a proof"),
        ("- Four.", "- Four " + "and one " * 20 + ".", "a sentence of 41 words"),
        ("Two and two.", "<write>: an example.", "line 19: <write> is left"),
    ],
)
def test_what_is_missing_or_too_long_is_named(before, after, said):
    assert before in GOOD
    found = prose.complaints("x", prose.read(GOOD.replace(before, after)))
    assert len(found) == 1
    assert said in found[0]


@pytest.mark.parametrize(("before", "after", "said"), [
    (":class: summary", ":class: note", "no summary"),
    ("{solution-start} x-four", "{solution-start} x-three", "'Harder: four' has no solution"),
])  # fmt: skip
def test_pages_of_evidence_need_a_summary_and_solutions_but_no_objectives(before, after, said):
    page = GOOD.replace(":class: objectives", ":class: note").replace(
        "### A worked example", "### Two people"
    )
    assert prose.complaints("mutants", prose.read(page)) == []
    (found,) = prose.complaints("mutants", prose.read(page.replace(before, after)))
    assert said in found


def test_generated_tables_need_no_exercises_but_short_sentences():
    text = "# Findings\n\n" + "word " * 41 + ".\n"
    assert [one.partition(":")[0] for one in prose.complaints("findings", prose.read(text))] == [
        "a sentence of 41 words, at most 40"
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It holds, e.g. here. By Thm. 2 of J. Smith it is true.", 2),
        ('He said "yes." Then (as we saw) he left. Why?', 3),
        ("See § 3.1 and 0.5 of it.", 1),
        ("**Idea.** Add them. $x$ is four.", 3),
    ],
)
def test_sentences_end_where_they_end(text, expected):
    assert len(prose.sentences(prose.paragraphs(text)[0])) == expected


def test_listings_are_no_prose_and_other_pages_are_read_too(tmp_path, capsys):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "book" / "data").mkdir(parents=True)
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: notebooks/x\n")
    (tmp_path / "notebooks" / "x.md").write_text(GOOD)
    listing = "```sh\n" + "word " * 50 + "\n```\n"
    (tmp_path / "README.md").write_text(listing)
    assert prose.main(["--root", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("1 chapter: "), "a line is empty"
    assert out.endswith("3 exercises, 2 solved, 1 objectives, 1 summaries, 0 complaints\n")
    (tmp_path / "book" / "data" / "one.md").write_text(listing + "word " * 50 + ".\n")
    assert prose.main(["--root", str(tmp_path)]) == 1
    assert "book/data/one.md: a sentence of 50 words" in capsys.readouterr().out


def test_many_inline_formulas_for_few_displayed_ones_are_too_many(tmp_path, capsys):
    folder = tmp_path / "notebooks"
    folder.mkdir()
    (tmp_path / "_toc.yml").write_text("format: jb-book\nroot: notebooks/x\n")
    for inline, status in ((12, 0), (13, 1)):
        (folder / "x.md").write_text(GOOD.replace("Two and two.", "And $y$. " * (inline - 1)))
        assert prose.main(["--root", str(tmp_path)]) == status
    said = "found 13 inline and 1 displayed formulas in all chapters, expected a displayed one for each 12"
    assert said in capsys.readouterr().out
    assert prose.main(["x", "--root", str(tmp_path)]) == 0, "the rule is one for the whole book"
