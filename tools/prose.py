"""Measure the prose of the chapters: form, sentences, proofs, formulas that are displayed, terms that are linked."""

import argparse
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chapters import FOLDER, ROOT, chapters
from glossary_links import entries, not_linked

from dpfair_lib.claims.new import UNWRITTEN, unwritten_lines

WORDS_OF_A_SENTENCE = 40
WORDS_OF_A_PROOF_PARAGRAPH = 120
INLINE_TO_DISPLAYED = 12
EXERCISES = 3
MARKS = ("Routine", "Harder", "Project")
GLOSSARY = "book/glossary.md"
READ_TOO = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "book/**/*.md")
# Generated pages: tables of the ledger, and nothing else.
TABLES_ALONE = {"findings", "ledger", "witnesses"}
# Pages of results, tools and measurements: they state no theorem and teach no method.
NO_LESSON = TABLES_ALONE | {
    "printed-privacy",
    "ten-minutes",
    "from-diffprivlib",
    "from-fairlearn",
    "choose-relation-and-epsilon",
    "which-method",
    "threat-model",
    "private-learners",
    "private-fair-learners",
    "choose-private-fair",
    "several-groups-evidence",
    "benchmarks",
    "mutants",
    "repeats",
    "ci-times",
    "assessment",
    "calculators",
}

FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
CODE = re.compile(r"^(```+|~~~+)\{code-cell\}.*?^\1\s*$", re.DOTALL | re.MULTILINE)
LISTING = re.compile(r"^(`{3,}|~{3,})[a-z][^\n]*\n.*?^\1\s*$", re.DOTALL | re.MULTILINE)
DISPLAYED = re.compile(r"\$\$.*?\$\$", re.DOTALL)
INLINE = re.compile(r"(?<![\\$])\$[^$\n]+(?:\n[^$\n]+)*?\$(?!\$)")
FENCE = re.compile(r"^\s*(?:`{3,}|:{3,}|~{3,})")
ITEM = re.compile(r"^\s*(?:[-*]|\d+\.)\s+")
ROLE = re.compile(r"\{[a-z:]+\}`([^`]*)`")
LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")
# a full stop that ends a sentence: not of "e.g.", "Thm. 2", "§ 3.1", or an initial
END = re.compile(
    r"(?<!\b[A-Z])(?<!\b(?:cf|vs|no|Th|eq))(?<!\b(?:e\.g|i\.e|Thm|Alg|Fig))[.!?](?:[*_)”\"']*)\s+(?=\S)"
)


@dataclass(frozen=True)
class Prose:
    """What one chapter's source holds."""

    sentences: list[str]
    paragraphs_of_proofs: list[str]
    inline: int
    displayed: int
    exercises: list[str]
    solved: list[str]
    parts: set[str]
    unwritten: list[int]
    not_linked: list[str]


def read(text: str, glossary: Sequence[list[str]] = ()) -> Prose:
    """Take a chapter's source apart; the terms of a glossary should be linked in it."""
    unwritten, terms = unwritten_lines(text), not_linked(text, list(glossary))
    text = LISTING.sub("", CODE.sub("", FRONT.sub("", text)))
    titles = {
        label: title.strip() for title, label in re.findall(r"\{exercise\}([^\n]*)\n:label: (\S+)", text)
    }
    solved = set(re.findall(r"\{solution(?:-start)?\} (\S+)", text))
    parts = {
        name for name in ("objectives", "summary") if re.search(rf"^:class: {name}$", text, re.MULTILINE)
    }
    parts |= {"worked example"} if re.search(r"^#+ .*[Ww]orked example", text, re.MULTILINE) else set()
    return Prose(
        [one for paragraph in paragraphs(text) for one in sentences(paragraph)],
        [one for part in proofs(text) for one in paragraphs(part)],
        len(INLINE.findall(DISPLAYED.sub("", text))),
        len(DISPLAYED.findall(text)),
        list(titles.values()),
        [title for label, title in titles.items() if label in solved],
        parts,
        unwritten,
        terms,
    )


def proofs(text: str) -> list[str]:
    """Return the part that derives the claim."""
    return re.findall(r"^## Derivation$.*?(?=^## |\Z)", text, re.DOTALL | re.MULTILINE)


def paragraphs(text: str) -> list[str]:
    """Return the paragraphs and items of running text, formulas as one word; no tables, headings or code."""
    found: list[str] = []
    current: list[str] = []
    for line in [*INLINE.sub("FORMULA", DISPLAYED.sub("\n\n", text)).split("\n"), ""]:
        other = (
            not line.strip() or line.lstrip().startswith(("#", "|", ":", "<", "%")) or line.startswith("    ")
        )
        if other or FENCE.match(line) or ITEM.match(line):
            found += [" ".join(current)] if current else []
            current = []
        if not other and not FENCE.match(line):
            current.append(ITEM.sub("", line).strip())
    return found


def sentences(paragraph: str) -> list[str]:
    """Split a paragraph into sentences."""
    plain = re.sub(r"[*_`]", "", LINK.sub(r"\1", ROLE.sub(r"\1", paragraph)))
    return [one for one in re.split(END, plain) if one and one.strip()]


def words(sentence: str) -> int:
    """Count words; a formula is one."""
    return len(re.findall(r"\S*\w\S*", sentence))


def complaints(name: str, prose: Prose) -> list[str]:
    """Return what one chapter lacks or has too much of, and what to do about it."""
    found = [f"line {number}: {UNWRITTEN} is left" for number in prose.unwritten]
    found += too_long(prose) + [
        f"a paragraph of {words(one)} words in a proof, at most {WORDS_OF_A_PROOF_PARAGRAPH}: {one[:60]} …"
        for one in prose.paragraphs_of_proofs if words(one) > WORDS_OF_A_PROOF_PARAGRAPH
    ]  # fmt: skip
    if name not in TABLES_ALONE and "summary" not in prose.parts:
        found.append("no summary")
    if name in NO_LESSON:
        return found + without_solution(prose)
    found += [
        f"{term!r} is used and linked nowhere: write {{term}}`{term}` at its first use"
        for term in prose.not_linked
    ]
    found += [f"no {part}" for part in sorted({"objectives", "worked example"} - prose.parts)]
    if len(prose.exercises) < EXERCISES:
        found.append(f"{len(prose.exercises)} exercises, expected at least {EXERCISES}")
    return found + without_solution(prose)


def without_solution(prose: Prose) -> list[str]:
    """Return the exercises whose title has no mark, and those that have to be solved and are not."""
    found = []
    for title in prose.exercises:
        mark = title.partition(":")[0]
        if mark not in MARKS:
            found.append(
                f"exercise {title!r}: expected a title that begins with one of {', '.join(MARKS)} and a colon"
            )
        elif mark != "Project" and title not in prose.solved:
            found.append(f"exercise {title!r} has no solution")
    return found


def too_long(prose: Prose) -> list[str]:
    """Return the sentences that are too long."""
    return [
        f"a sentence of {words(one)} words, at most {WORDS_OF_A_SENTENCE}: {one[:70]} …"
        for one in prose.sentences if words(one) > WORDS_OF_A_SENTENCE
    ]  # fmt: skip


def main(arguments: list[str] | None = None) -> int:
    """Print every complaint and the figures; return how the check ended."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", help="chapters, without folder and suffix (default: all)")
    parser.add_argument("--root", type=Path, default=ROOT)
    said = parser.parse_args(arguments)
    known = [name.removeprefix(f"{FOLDER}/") for name in chapters(said.root)]
    glossary = said.root / GLOSSARY
    terms = entries(glossary.read_text("utf-8")) if glossary.is_file() else []
    found = {
        name: read((said.root / FOLDER / f"{name}.md").read_text("utf-8"), terms)
        for name in said.names or known
    }
    wrong = [f"{name}: {one}" for name, prose in found.items() for one in complaints(name, prose)]
    for path in (
        [] if said.names else sorted(path for pattern in READ_TOO for path in said.root.glob(pattern))
    ):
        wrong += [f"{path.relative_to(said.root)}: {one}" for one in too_long(read(path.read_text("utf-8")))]
    inline, displayed = (
        sum(getattr(prose, part) for prose in found.values()) for part in ("inline", "displayed")
    )
    # a rule for the book as a whole: a single chapter may need few displayed steps
    if not said.names and inline > INLINE_TO_DISPLAYED * displayed:
        wrong.append(
            f"found {inline} inline and {displayed} displayed formulas in all chapters, expected a displayed one "
            f"for each {INLINE_TO_DISPLAYED} inline ones: display the steps of proofs with $$"
        )
    solved = sum(len(prose.solved) for prose in found.values())
    for one in wrong:
        print(one)
    many = "chapter" if len(found) == 1 else "chapters"
    print(f"{len(found)} {many}: {inline} inline and {displayed} displayed formulas,", end=" ")
    objectives, summaries = (
        sum(part in prose.parts for prose in found.values()) for part in ("objectives", "summary")
    )
    print(
        f"{sum(len(prose.exercises) for prose in found.values())} exercises, {solved} solved,",
        f"{objectives} objectives, {summaries} summaries, {len(wrong)} complaints",
    )
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
