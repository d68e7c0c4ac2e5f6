"""``python -m dpfair_lib claims new``: the first form of a claim's module and of its chapter."""

from __future__ import annotations

import re
from pathlib import Path

from dpfair_lib._files import write_whole
from dpfair_lib.claims.ledger import OURS, SOURCES
from dpfair_lib.claims.rooms import CLAIMS, module_of

UNWRITTEN = "<write>"
"""The text of a new claim where its author has to write; the tests refuse it."""

PAGES_THAT_COUNT = ("findings", "ledger", "witnesses")
"""Chapters that show every entry: their stored outputs change with each new claim."""

MODULE = '''"""{UNWRITTEN}: what the check goes through, and how it judges a case."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpfair_lib.central.bounds import change_lower_bound
from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.search import Evidence, Search

TWELFTHS = [Fraction(i, 12) for i in range(13)]


# What is examined comes in by name, the library's own function by default, so that a fault can take its place.
def check(*, search: Search, bound: Callable[..., Any] = change_lower_bound) -> Evidence:
    """{UNWRITTEN}: the statement that is judged."""
    search.part("{UNWRITTEN}: what this part goes through")
    for case in search.grid(alpha=TWELFTHS, beta=TWELFTHS, gamma=TWELFTHS):
        search.equal(bound(**case), abs(case["alpha"] - case["beta"]) - case["gamma"], case)
    search.exhausts("all rates and gaps in twelfths", cases=13**3)
{needed}    return search.evidence()


# At least two wrong versions; between them they replace everything that the check examines.
FAULTS: dict[str, dict[str, Any]] = {{
    "the gap counted twice": {{"bound": lambda alpha, beta, gamma: abs(alpha - beta) - 2 * gamma}},
    "no absolute value": {{"bound": lambda alpha, beta, gamma: alpha - beta - gamma}},
}}


CLAIM = Claim(
    id="{claim_id}",
    where="{UNWRITTEN}: {place}",
    statement="{UNWRITTEN}: what it says, in one line of our own words",
{fields}    chapter="{chapter}",
    check=check,
    faults=FAULTS,
)
'''

CHAPTER = """---
jupytext:
  formats: ipynb,md:myst
  text_representation:
    extension: .md
    format_name: myst
kernelspec:
  display_name: Python 3
  language: python
  name: python3
---

# {UNWRITTEN}: the result, as a title

:::{{admonition}} In short
:class: in-short
- **{before}.** {UNWRITTEN}: {said}.
- **Found.** {UNWRITTEN}: what was found.
- **Use.** {UNWRITTEN}: what a reader may rely on.
:::

::::{{admonition}} What you will be able to do
:class: objectives
- {UNWRITTEN}: something that a reader can do afterwards, such as compute, decide or explain.
::::

A claim chapter: it needs no data.

```{{code-cell}} ipython3
:tags: [parameters, hide-input]

alpha, beta = "3/4", "1/4"  # what a reader may change
```

```{{code-cell}} ipython3
:tags: [hide-input]

from fractions import Fraction

from dpfair_lib.central.bounds import change_lower_bound
from dpfair_lib.claims import claim, judge
from dpfair_lib.claims.display import badge, card, source

outcome = judge(claim("{claim_id}"), faults=True).require()
```

## Question

{UNWRITTEN}: one sentence.

## Setting

{UNWRITTEN}: the notation that this chapter adds.

## Claim

{UNWRITTEN}: the statement in our words{stated}.

```{{code-cell}} ipython3
:tags: [remove-input]

badge(outcome)
```

### A worked example

{UNWRITTEN}: the statement with numbers, few enough to follow by hand.

## Derivation

{UNWRITTEN}: complete; where the printed proof breaks, the break, then the repair.

## Algorithm

```{{code-cell}} ipython3
source(change_lower_bound)
```

## Check

```{{code-cell}} ipython3
:tags: [remove-input]

card(outcome)
```

## How tight

```{{code-cell}} ipython3
change_lower_bound(Fraction(alpha), Fraction(beta), 0)
```

## What can go wrong

{UNWRITTEN}: an assumption broken on purpose, and what happens.

## Source against us

{UNWRITTEN}: {against}.

::::{{admonition}} Summary
:class: summary
- {UNWRITTEN}: what was shown.
::::

## Try it

```{{exercise}} Routine: {UNWRITTEN}
:label: {chapter}-routine

{UNWRITTEN}: an exercise that uses the statement as it is.
```

````{{solution}} {chapter}-routine
:class: dropdown

{UNWRITTEN}: its solution.
````

```{{exercise}} Harder: {UNWRITTEN}
:label: {chapter}-harder

{UNWRITTEN}: an exercise that needs a step of the proof.
```

````{{solution}} {chapter}-harder
:class: dropdown

{UNWRITTEN}: its solution.
````

```{{exercise}} Project: {UNWRITTEN}
:label: {chapter}-project

{UNWRITTEN}: an open exercise; it needs no solution.
```
"""


OF_PAPERS = """    verdict="holds",  # or another of VERDICTS in dpfair_lib/claims/ledger.py: what the check is to find
    finding="<write>: what was found, in one line",
    headline="<write>: what a reader should remember, in at most 30 words",
    kind="as-printed",  # or another of KINDS in dpfair_lib/claims/ledger.py; kinds.py says what each requires
    impact="none",
    because="<write>: why no conclusion of the source changes, or which one does",
"""
OF_OURS = """    verdict="holds",
    finding="<write>: how sharp it is, and what else was found",
    headline="<write>: what a reader should remember, in at most 30 words",
    kind="theorem",
"""
"""What an entry says beside its statement: of a paper's claim, and of a theorem of our own."""

NEEDED = """    half = bound(alpha=Fraction(1), beta=Fraction(0), gamma=Fraction(0)) / 2
    search.needs("the constant: with half of it", slack=half - 1, case={"alpha": 1, "beta": 0, "gamma": 0})
"""
"""What shows that a theorem of our own cannot say more: `Search.needs`."""


def new_claim(
    root: Path, claim_id: str, *, after: str | None = None, chapter: str | None = None
) -> list[str]:
    """Write the stub of a claim's module and, unless it is there, of its chapter; enter both where they belong.

    Parameters
    ----------
    root : Path
        Folder of the repository.
    claim_id : str
        ``source.name``, the name in small letters, digits, hyphens and dots.
    after : str, optional
        Id of the claim of the same source that it comes after; by default the last one.
    chapter : str, optional
        Name of the existing chapter that treats it too; by default it has a chapter named as the id, with hyphens.

    Returns
    -------
    list of str
        What was written, and what to do next, a line each.

    Raises
    ------
    ValueError
        If an argument cannot be met. Then nothing is written.
    """
    source, _, name = claim_id.partition(".")
    if source not in SOURCES or not re.fullmatch(r"[a-z0-9]+([.-][a-z0-9]+)*", name):
        raise ValueError(
            f"ID: found {claim_id!r}, expected SOURCE.NAME with a source of {', '.join(SOURCES)} "
            "and a name such as prop-9 or table-1"
        )
    own = [known for known in CLAIMS if known.startswith(f"{source}.")]
    before = after or own[-1]
    if before not in own:
        raise ValueError(f"--after: found {before!r}, expected one of {', '.join(own)}")
    room = root / "dpfair_lib" / "claims" / source
    module = room / f"{module_of(claim_id).rpartition('.')[2]}.py"
    if module.exists():
        raise ValueError(
            f"ID: found the module {module.relative_to(root)}, expected a claim that is not there"
        )
    order, contents = room / "__init__.py", root / "_toc.yml"
    if not contents.exists():
        raise ValueError(f"found no {contents}, expected the folder of the repository: run this there")
    if chapter is not None and not (root / "notebooks" / f"{chapter}.md").exists():
        raise ValueError(
            f"--chapter: found {chapter!r}, expected an existing chapter, such as {CLAIMS[before].chapter}; "
            "leave the option out for a new one"
        )
    chapter = chapter or claim_id.replace(".", "-")
    page = root / "notebooks" / f"{chapter}.md"

    words = {"claim_id": claim_id, "chapter": chapter, "UNWRITTEN": UNWRITTEN, **_words(source)}
    texts = {module: MODULE.format(**words)}
    texts[order] = _after(order, f'    "{before.partition(".")[2]}",', f'    "{name}",')
    new_chapter = not page.exists()
    if new_chapter:
        texts[page] = CHAPTER.format(**words)
        last = f"- file: notebooks/{CLAIMS[before].chapter}"
        (line,) = (line for line in contents.read_text().splitlines() if line.strip() == last)
        texts[contents] = _after(contents, line, line.replace(last, f"- file: notebooks/{chapter}"))
    for path, text in texts.items():
        write_whole(path, text)
    return [
        *(f"{_verb(path)} {path.relative_to(root)}" for path in texts),
        *_next_steps(claim_id, chapter, new_chapter),
    ]


def _words(source: str) -> dict[str, str]:
    """Return what the stubs of a paper's claim, or of a theorem of our own, say in their gaps."""
    if source == OURS:
        return {
            "fields": OF_OURS,
            "needed": NEEDED,
            "place": "the chapter and the result, such as Composition, Result 2",
            "before": "Usual",
            "said": "what is usually known or done",
            "stated": ", as a result of ours with all its hypotheses",
            "against": "what is due to others, and what is ours",
        }
    return {
        "fields": OF_PAPERS,
        "needed": "",
        "place": "the place in the source",
        "before": "Printed",
        "said": "the statement, with its place",
        "stated": ", with its place",
        "against": "printed numbers and ours; misprints",
    }


def _verb(path: Path) -> str:
    return "entered the name in" if path.name in ("__init__.py", "_toc.yml") else "wrote"


def _next_steps(claim_id: str, chapter: str, new_chapter: bool) -> list[str]:
    """Return what the author of a claim does next, a line each."""
    where = "in the module and in the chapter" if new_chapter else "in the module"
    return [
        f"Now replace each {UNWRITTEN} {where}; the functions are those of an example.",
        *(
            []
            if new_chapter
            else [
                f"Add to notebooks/{chapter}.md a section that shows the entry, with two code cells:",
                f'    outcome = judge(claim("{claim_id}"), faults=True).require(); badge(outcome)',
                "    card(outcome)",
            ]
        ),
        f"make check CLAIM={claim_id}   judges the claim, its faults and its entry",
        f"make chapter NAME={chapter}   runs the chapter and builds its page",
        f".venv/bin/python tools/prose.py {chapter}   says what the chapter lacks",
        f'make notebooks NAME="{chapter} {" ".join(PAGES_THAT_COUNT)}"   '
        "stores the chapter and the pages that count the entries",
        "Then add a line to CHANGELOG.md.",
    ]


def unwritten_lines(text: str) -> list[int]:
    """Return the numbers of the lines of a text that its author has still to write."""
    return [number for number, line in enumerate(text.splitlines(), start=1) if UNWRITTEN in line]


def _after(path: Path, line: str, more: str) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    lines.insert(lines.index(line) + 1, more)
    return "\n".join(lines) + "\n"
