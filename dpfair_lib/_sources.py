"""What a result depends on: the names that source files import, and one digest of all that was read.

Stored outcomes of claims, executed chapters, timings and whole files of records each list what they depend on. The
digest of the list is made here. The definitions that a record reaches, and mutants, have digests of their own form:
`dpfair_lib.experiments.code_digest` and ``tools/mutants.py``.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

DYNAMIC = {"import_module", "__import__"}


def digest(parts: Mapping[str, bytes]) -> str:
    """Return the SHA-256, in hexadecimal, of some named contents; the order in which they are given does not count."""
    found = hashlib.sha256()
    for name, content in sorted(parts.items()):
        found.update(f"{name} {len(content)}\n".encode())
        found.update(content)
    return found.hexdigest()


def meaning(path: Path) -> bytes:
    """Return what a file computes: a Python module without comments, docstrings and layout; another file as it is."""
    content = path.read_bytes()
    return written_out(ast.parse(content)).encode() if path.suffix == ".py" else content


def written_out(node: Any) -> str:
    """Write a syntax tree out, without docstrings, in the same way under every version of Python."""
    if isinstance(node, list):
        return f"[{','.join(map(written_out, node))}]"
    if not isinstance(node, ast.AST):
        return repr(node)
    if isinstance(node, ast.Constant):
        return f"Constant({node.value!r})"
    fields = dict(ast.iter_fields(node))
    if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
        fields["body"] = node.body[ast.get_docstring(node, clean=False) is not None :]
    # fields that are empty are left out: later versions of Python have more of them
    filled = (f"{name}={written_out(value)}" for name, value in fields.items() if value not in (None, []))
    return f"{type(node).__name__}({','.join(filled)})"


class Imports(NamedTuple):
    """What a module imports anywhere, in functions too.

    Attributes
    ----------
    names : frozenset of str
        Dotted names of what ``from … import`` takes; of ``*``, the name of the module.
    modules : frozenset of str
        Dotted names that ``import`` takes.
    dynamic : bool
        Whether a name that is made at run time may be imported: that could be anything.
    """

    names: frozenset[str]
    modules: frozenset[str]
    dynamic: bool


@functools.cache
def imports(path: Path, package: Path) -> Imports:
    """Return what a module of a package imports; relative names are written out."""
    names, modules, dynamic = set(), set(), False
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom):
            base = base_of(node, path, package)
            names |= {base if alias.name == "*" else f"{base}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Name | ast.Attribute):
            dynamic |= (node.id if isinstance(node, ast.Name) else node.attr) in DYNAMIC
    return Imports(frozenset(names), frozenset(modules), dynamic)


def base_of(node: ast.ImportFrom, path: Path, package: Path) -> str:
    """Return the dotted name of what an import statement takes names from."""
    inside = [package.name, *path.relative_to(package).parts[:-1]]
    above = inside[: len(inside) + 1 - node.level] if node.level else []
    return ".".join([*above, *([node.module] if node.module else [])])


@functools.cache
def parsed(path: Path) -> ast.Module:
    """Return the syntax tree of a module, as first read by this process."""
    return ast.parse(path.read_bytes())
