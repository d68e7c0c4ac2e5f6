"""Digests of the library's code: of given files, and of what modules compute, whatever their names and places.

A record that took hours should stay valid when a module gets a better name. So the code that an experiment may run is
identified without the names of modules: each module by its own code and by what it imports.
"""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from dpfair_lib._sources import digest, meaning, written_out
from dpfair_lib.experiments.reach import (
    Imported,
    definition_of,
    files_of,
    imports_in,
    reached_files,
    source_files,
    tables_of,
)

ABOUT_ITSELF = {"__file__", "__name__", "__package__", "__spec__"}
"""Names by which a module can see its own place."""


def code_digest(files: Iterable[Path], package: Path) -> str:
    """Return a digest of some files of a package and of their places.

    Parameters
    ----------
    files : iterable of Path
        Python modules count without comments, docstrings and layout; other files byte for byte.
    package : Path
        Folder of the package.

    Returns
    -------
    str
        SHA-256, in hexadecimal.
    """
    return digest({path.relative_to(package).as_posix(): meaning(path) for path in files})


def reached_digest(modules: Iterable[str], package: Path) -> str:
    """Return a digest of all that some modules may run, which stays when a module is moved or renamed.

    Parameters
    ----------
    modules : iterable of str
        Dotted names. Where `reached_files` has to take every file of the package, places count after all.
    package : Path
        Folder of the package.

    Returns
    -------
    str
        SHA-256, in hexadecimal.

    Notes
    -----
    A module's digest is that of its code without its imports from the package, of the tables that it names, and of
    each import: what it is called here, what it is called where it is defined, and the digest of the module there.
    Modules may import one another in a circle. So digests begin with the code alone, and each round puts the last
    round's digests of the imported modules in; after as many rounds as there are modules, a change anywhere has
    reached every module that can reach it. The place of a module counts if the module can see it (`__file__`).
    """
    modules = list(modules)
    reached = reached_files(modules, package)
    if reached == source_files(package):
        return code_digest(reached, package)
    parted = {path: _parted(path, package) for path in reached if path.suffix == ".py"}
    found = dict.fromkeys(parted, "")
    for _ in parted:
        found = {
            path: _sha256(own, *(f"{name} {found[file]}" for file, name in imported))
            for path, (own, imported) in parted.items()
        }
    return _sha256(*sorted(found[path] for path in files_of(modules, package)))


def _parted(path: Path, package: Path) -> tuple[str, list[tuple[Path, str]]]:
    """Return a module's code and tables without what it imports from the package, and that: files and names there."""
    tree = ast.parse(path.read_bytes())
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    place = path.relative_to(package).as_posix() if names & ABOUT_ITSELF else ""
    tables = (f"{table.name} {table.read_text(encoding='utf-8')}" for table in sorted(tables_of(path)))
    imports = _Imports(path, package)
    return _sha256(place, written_out(imports.visit(tree)), *tables), imports.found


class _Imports(ast.NodeTransformer):
    """Replaces each import from the package by what it is called, and lists in ``found`` what it stood for.

    Imports that follow one another are sorted by what they are called: usually their order is that of the modules'
    names.
    """

    def __init__(self, path: Path, package: Path) -> None:
        self.path, self.package = path, package
        self.found: list[tuple[Path, str]] = []

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Replace the imports in each block of statements."""
        for field, block in ast.iter_fields(node):
            if isinstance(block, list):
                setattr(node, field, self._replaced(block))
        return super().generic_visit(node)

    def _replaced(self, block: list[Any]) -> list[Any]:
        done: list[Any] = []
        together: list[Imported] = []
        for node in [*block, None]:
            statement = isinstance(node, ast.Import | ast.ImportFrom)
            inside = imports_in(node, self.path, self.package) if statement else []
            together += inside
            if inside and len(inside) == len(node.names):
                continue
            for imported in sorted(together, key=lambda imported: imported.called):
                self.found.append(definition_of(imported, self.package))
                done.append(ast.Import(names=[ast.alias("", imported.called)]))
            together = []
            done.append(node)
        return done[:-1]


def _sha256(*parts: str) -> str:
    """Return one digest of several texts in their order; the records in ``results/`` hold it, so the form stays."""
    return hashlib.sha256("".join(f"{len(part)} {part}" for part in parts).encode()).hexdigest()
