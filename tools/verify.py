"""Compare the numbers of freshly executed chapters with the stored ones, within what printing rounds off."""

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pictures
from chapters import ROOT, chapters, read_notebook, tags

RELATIVE = 1e-6
IGNORED = {"nbval-ignore-output", "nbval-skip"}
SVG = "image/svg+xml"
# not inside a word, an identifier or a longer number; a minus sign may be the typographic one
NUMBER = re.compile(r"(?<![\w.])[-+−]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\w])")


def step(text: str) -> float:
    """Return one unit of the last printed digit; nought for a whole number, which is not rounded."""
    mantissa, _, exponent = text.lower().partition("e")
    if "." not in mantissa and not exponent:
        return 0.0
    decimals = len(mantissa.partition(".")[2])
    return 10.0 ** (int(exponent or 0) - decimals)


def agree(stored: str, fresh: str) -> bool:
    """Say whether two printed numbers are the same up to rounding.

    Examples
    --------
    >>> agree("0.1234", "0.1235"), agree("0.1234", "0.1236"), agree("12", "13")
    (True, False, False)
    """
    if stored == fresh:
        return True
    left, right = stored.replace("−", "-"), fresh.replace("−", "-")
    units = step(left), step(right)
    if max(units) == 0.0:
        return int(left) == int(right)
    before, now = float(left), float(right)
    # a thousandth more than one unit, because 0.3 - 0.2 is not 0.1
    return abs(before - now) <= max(1.001 * max(units), RELATIVE * max(abs(before), abs(now)))


def difference(stored: str, fresh: str) -> str | None:
    """Say in what two texts differ, apart from spaces and rounding; None if in nothing."""
    old, new = (" ".join(text.split()) for text in (stored, fresh))
    if old == new:
        return None
    between_old, between_new = NUMBER.split(old), NUMBER.split(new)
    if between_old != between_new:
        at = next(
            (i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new))
        )
        start = max(0, at - 30)
        return f"stored {old[start : at + 40]!r}, now {new[start : at + 40]!r}"
    for before, now in zip(NUMBER.findall(old), NUMBER.findall(new), strict=True):
        if not agree(before, now):
            return f"stored {before}, now {now}"
    return None


def texts(cell: Any) -> dict[str, str]:
    """Return a code cell's outputs as texts, each under what and which it is."""
    found: dict[str, str] = {}
    for output in cell.outputs:
        if output.output_type == "stream":
            found[output.name] = found.get(output.name, "") + output.text
        elif output.output_type == "error":
            found["error"] = f"{output.ename}: {output.evalue}"
        else:
            for kind, content in sorted(output.data.items()):
                found[f"output {len(found) + 1} ({kind})"] = str(content)
    return found


def compare(stored: Any, fresh: Any) -> Iterator[str]:
    """Compare two notebooks cell by cell.

    Yields
    ------
    str
        One line for each output that differs.
    """
    if [cell.source for cell in stored.cells] != [cell.source for cell in fresh.cells]:
        yield "not the same cells (make notebooks refreshes the stored notebook)"
        return
    for number, (before, now) in enumerate(zip(stored.cells, fresh.cells, strict=True), 1):
        if before.cell_type != "code" or IGNORED & set(tags(before)):
            continue
        old, new = texts(before), texts(now)
        for which in dict.fromkeys([*old, *new]):
            if which not in old or which not in new:
                yield f"cell {number}: {which} is only in the {'fresh' if which in new else 'stored'} notebook"
            elif SVG in which:
                if not pictures.same(old[which], new[which]):
                    yield f"cell {number}: {which}: the figure looks different"
            elif said := difference(old[which], new[which]):
                yield f"cell {number}: {which}: {said}"


def main(arguments: list[str] | None = None) -> int:
    """Compare every chapter and return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "fresh", type=Path, metavar="DIR", help="where execute.py --into has put the notebooks"
    )
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository (default: this one)")
    said = parser.parse_args(arguments)
    lines: list[str] = []
    for name in chapters(said.root):
        stored, fresh = (folder / f"{name}.ipynb" for folder in (said.root, said.fresh))
        missing = [path for path in (stored, fresh) if not path.exists()]
        lines += [f"{name}: {path} is missing" for path in missing]
        if not missing:
            lines += [f"{name}: {line}" for line in compare(read_notebook(stored), read_notebook(fresh))]
    print(
        "\n".join(lines)
        if lines
        else f"{len(chapters(said.root))} chapters: numbers agree with the stored ones"
    )
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main())
