"""A Sphinx extension: docstrings as they are written here become what Sphinx expects."""

import re
from typing import Any

LITERAL = re.compile(r"(``.+?``|`[^`]+`)")
# what may stand beside a name in backticks; anything else has to be set apart from it
MAY_PRECEDE, MAY_FOLLOW = re.compile(r"[\s(\[{'\"/-]?"), re.compile(r"[\s.,;:!?)\]}'\"/-]?")


def setup(app: Any) -> dict[str, bool]:
    """Connect both functions to autodoc, before napoleon reads the sections."""
    app.connect("autodoc-process-docstring", prepare, priority=400)
    app.connect("autodoc-skip-member", is_hidden)
    return {"parallel_read_safe": True}


def prepare(_app: Any, _what: str, _name: str, _found: Any, _options: Any, lines: list[str]) -> None:
    """Change the lines of a docstring in place; examples stay as they are."""
    lines[:] = [line if line.lstrip().startswith((">>>", "...")) else escaped(line) for line in lines]


def escaped(line: str) -> str:
    """Return a line whose bars are signs, not substitutions, and whose names in backticks end where they should."""
    parts = ["", *LITERAL.split(line), ""]  # text, name, text, …, text
    out = []
    for before, part, after in zip(parts, parts[1:], parts[2:], strict=False):
        if not LITERAL.fullmatch(part):
            out.append(part.replace("|", r"\|"))
            continue
        start = "" if MAY_PRECEDE.fullmatch(before[-1:]) else "\\ "
        end = "" if MAY_FOLLOW.fullmatch(after[:1]) else "\\ "
        out.append(start + part + end)
    return "".join(out)


def is_hidden(_app: Any, _what: str, name: str, found: Any, skip: bool, _options: Any) -> bool:
    """Hide what scikit-learn and named tuples add to a class; their own documentation has it."""
    return (
        skip
        or re.fullmatch(r"set_\w+_request", name) is not None
        or str(getattr(found, "__module__", "")).startswith("sklearn.")
        or "Alias for field number" in str(getattr(found, "__doc__", ""))
    )
