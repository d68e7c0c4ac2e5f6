"""What the tools share: which chapters there are, how one is read, and how one is written."""

import ast
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[1]
FOLDER = "notebooks"
PARAMETERS = "parameters"
INJECTED = "injected-parameters"
FORMATS = "ipynb,md:myst"
ANSI = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")


def pages(root: Path) -> list[str]:
    """List every page of the table of contents, in reading order, without suffix."""
    found: list[str] = []

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            found.extend(str(node[key]) for key in ("root", "file") if key in node)
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for item in node:
                walk(item)

    walk(yaml.safe_load((root / "_toc.yml").read_text(encoding="utf-8")))
    return found


def chapters(root: Path) -> list[str]:
    """List the pages that are executed: those under notebooks/."""
    return [page for page in pages(root) if page.startswith(FOLDER + "/")]


def select(root: Path, wanted: list[str]) -> list[str]:
    """Find the chapters that are meant by names given with or without folder and suffix.

    Raises
    ------
    ValueError
        If a name is no chapter of the table of contents.
    """
    known = chapters(root)
    chosen = [full_name(name) for name in wanted] or known
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise ValueError(f"no such chapter in _toc.yml: {', '.join(unknown)}; there are: {', '.join(known)}")
    return chosen


def full_name(name: str) -> str:
    """Complete a chapter's name: ``x``, ``x.md`` and ``notebooks/x`` all become ``notebooks/x``."""
    name = name.removesuffix(".md").removesuffix(".ipynb")
    return name if name.startswith(FOLDER + "/") else f"{FOLDER}/{name}"


def read_source(path: Path) -> Any:
    """Read a chapter's MyST source as a notebook without outputs, its cell ids made from their content."""
    import jupytext

    notebook = jupytext.read(path)
    # the versions of jupytext and of its format say nothing about the chapter
    notebook.metadata["jupytext"] = {"formats": FORMATS}
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    notebook.nbformat, notebook.nbformat_minor = 4, 5
    name_cells(notebook)
    return notebook


def name_cells(notebook: Any) -> None:
    """Give every cell an id that depends on its content only, so that rewriting a chapter changes nothing."""
    seen: dict[str, int] = {}
    for cell in notebook.cells:
        content = f"{cell.cell_type}\n{cell.source}".encode()
        digest = hashlib.sha256(content).hexdigest()[:8]
        seen[digest] = seen.get(digest, 0) + 1
        cell["id"] = digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"


def read_notebook(path: Path) -> Any:
    """Read an .ipynb file."""
    import nbformat

    return nbformat.reads(path.read_text(encoding="utf-8"), as_version=4)


def tags(cell: Any) -> tuple[str, ...]:
    """Return a cell's tags, none if it has none."""
    return tuple(cell.metadata.get("tags", ()))


def default_parameters(notebook: Any) -> set[str]:
    """Return the names that the parameters cell assigns."""
    names: set[str] = set()
    for cell in notebook.cells:
        if PARAMETERS not in tags(cell):
            continue
        for statement in ast.parse(cell.source).body:
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            if isinstance(statement, ast.AnnAssign):
                targets = [statement.target]
            names |= {
                node.id for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)
            }
    return names


def receipt_of(result: Path) -> Path:
    """Return the file beside an executed chapter that says what it was made from."""
    return result.with_name(f".{result.name}.key")


def read_receipt(result: Path) -> dict[str, Any]:
    """Read what an executed chapter was made from; empty if nothing says it, or if it was meddled with."""
    try:
        receipt: dict[str, Any] = json.loads(receipt_of(result).read_text(encoding="utf-8"))
        intact = receipt["sha256"] == hashlib.sha256(result.read_bytes()).hexdigest()
    except (OSError, ValueError, KeyError, TypeError):
        return {}
    return receipt if intact else {}
