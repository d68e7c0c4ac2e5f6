"""Check that every chapter is a pair, source and executed notebook, that say the same.

Neither ``jupytext --test`` nor ``--sync`` is that check: the one only tries a round trip, the other lets the
newer file win.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from chapters import FOLDER, PARAMETERS, ROOT, chapters, read_notebook, read_source, tags

LONGEST_CELL = 25


def defects(root: Path) -> Iterator[str]:
    """Find everything that is wrong with the chapters.

    Yields
    ------
    str
        One line for each defect, beginning with the file.
    """
    folder = root / FOLDER
    sources, stored = (
        {path.relative_to(root).with_suffix("").as_posix() for path in folder.rglob(f"[!.]*.{suffix}")}
        for suffix in ("md", "ipynb")
    )
    listed = chapters(root)
    for name in sorted(sources | stored | set(listed)):
        if name not in listed:
            yield f"{name}: not in _toc.yml"
        if name not in sources:
            yield f"{name}.md: missing" + (", the .ipynb is alone" if name in stored else ", but in _toc.yml")
        elif name not in stored:
            yield f"{name}.ipynb: missing, the .md is alone (make notebooks makes it)"
        else:
            yield from defects_of_pair(root, name)


def defects_of_pair(root: Path, name: str) -> Iterator[str]:
    """Compare the two files of a chapter and look at the stored one.

    Yields
    ------
    str
        One line for each defect.
    """
    try:
        source, stored = read_source(root / f"{name}.md"), read_notebook(root / f"{name}.ipynb")
    except Exception as error:  # each of the two readers has its own errors
        yield f"{name}: cannot be read: {' '.join(str(error).split())}"
        return
    yield from (f"{name}: {difference}" for difference in differences(source.cells, stored.cells))
    found = sum(PARAMETERS in tags(cell) for cell in source.cells)
    if found != 1:
        yield f"{name}.md: {found} cells tagged {PARAMETERS}, expected one"
    for number, cell in enumerate(source.cells, 1):
        lines = len(cell.source.splitlines())
        if cell.cell_type == "code" and lines > LONGEST_CELL:
            yield f"{name}.md: cell {number} has {lines} lines, more than {LONGEST_CELL}"
        if PARAMETERS in tags(cell):
            # papermill skips such a line, and warns a user who passes its parameter that there is none
            many = [line for line in cell.source.splitlines() if line.count("=") > 1]
            yield from (f"{name}.md: papermill reads no line with two signs =: {line}" for line in many)
    yield from (f"{name}.ipynb: {line}" for line in defects_of_outputs(stored.cells))


def differences(source: list[Any], stored: list[Any]) -> Iterator[str]:
    """Compare type, text and tags of every cell.

    Yields
    ------
    str
        The first difference in each cell.
    """
    if len(source) != len(stored):
        yield f"{len(source)} cells in the .md, {len(stored)} in the .ipynb (make notebooks refreshes it)"
    for number, (ours, theirs) in enumerate(zip(source, stored, strict=False), 1):
        for what, left, right in (
            ("type", ours.cell_type, theirs.cell_type),
            ("text", ours.source, theirs.source),
            ("tags", sorted(tags(ours)), sorted(tags(theirs))),
        ):
            if left != right:
                yield f"cell {number}: {what} differs between .md and .ipynb (make notebooks refreshes it)"
                break


def defects_of_outputs(cells: list[Any]) -> Iterator[str]:
    """Look for cells that never ran, and for errors and warnings among the outputs.

    Yields
    ------
    str
        One line for each.
    """
    code = [
        (number, cell) for number, cell in enumerate(cells, 1) if cell.cell_type == "code" and cell.source
    ]
    idle = [number for number, cell in code if cell.get("execution_count") is None]
    if idle and len(idle) == len(code):
        yield "never executed (make notebooks does)"
    else:
        yield from (f"cell {number} was never executed" for number in idle)
    for number, cell in code:
        for output in cell.outputs:
            if output.output_type == "error":
                yield f"cell {number} stores an error: {output.ename}: {output.evalue}"
            elif output.get("name") == "stderr":
                first = output.text.strip().partition("\n")[0]
                yield f"cell {number} stores a warning: {first}"
    glued = Counter(
        name for _, cell in code for output in cell.outputs
        if (name := output.get("metadata", {}).get("scrapbook", {}).get("name"))
    )  # fmt: skip
    # the book is built with warnings as errors, and this is one
    yield from (f"the key {name} is glued {times} times" for name, times in glued.items() if times > 1)


def main(arguments: list[str] | None = None) -> int:
    """Print the defects and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository (default: this one)")
    root = parser.parse_args(arguments).root
    lines = list(defects(root))
    print("\n".join(lines) if lines else f"{len(chapters(root))} chapters: source and notebook agree")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
