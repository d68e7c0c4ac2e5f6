"""Which source files an experiment may run: those that its functions' modules reach by imports."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from dpfair_lib._sources import base_of, imports, parsed


def modules_of(function: Callable[..., Any]) -> frozenset[str]:
    """Return the modules that define a function, and those of its parts if it is a `functools.partial`."""
    if isinstance(function, functools.partial):
        parts = [function.func, *function.args, *function.keywords.values()]
        return frozenset().union(*(modules_of(part) for part in parts if callable(part)))
    return frozenset([getattr(function, "__module__", type(function).__module__)])


def source_files(package: Path) -> frozenset[Path]:
    """Return the modules and tables of a package."""
    return frozenset(path for path in package.rglob("*") if path.suffix in {".py", ".toml"})


def reached_files(modules: Iterable[str], package: Path) -> frozenset[Path]:
    """Return the files of a package that some of its modules may run.

    Imports inside functions count. A name that a package only passes on counts as the module that defines it,
    not as the whole package. Where a module imports by a name that is made at run time, or the package itself,
    every file counts. So do tables (``.toml``) that a module beside them names.

    Parameters
    ----------
    modules : iterable of str
        Dotted names. One that is not of the package could reach anything: then every file counts.
    package : Path
        Folder of the package.

    Returns
    -------
    frozenset of Path
    """
    everything = source_files(package)
    due, reached = [_defining_file(name, package) for name in modules], set()
    while due:
        path = due.pop()
        if path is None:
            return everything
        if path in reached:
            continue
        reached.add(path)
        names = _imported_names(path, package)
        if names is None:
            return everything
        due += [_defining_file(name, package) for name in names]
    return frozenset(path for path in everything if path in reached or _is_named(path, reached))


def _is_named(table: Path, modules: Iterable[Path]) -> bool:
    beside = (path for path in modules if path.parent == table.parent)
    return table.suffix == ".toml" and any(table.name.encode() in path.read_bytes() for path in beside)


def _defining_file(name: str, package: Path) -> Path | None:
    """Return the file that defines a dotted name; None if it may stand in any."""
    place = package
    parts = name.split(".")
    if parts[0] != package.name or len(parts) == 1:
        return None
    for at, part in enumerate(parts[1:], start=1):
        if (place / part).is_dir():
            place = place / part
        elif (file := place / f"{part}.py").is_file():
            return file
        else:
            passed_on = _passed_on(place, package).get(part)
            return (
                _defining_file(".".join([passed_on, *parts[at + 1 :]]), package)
                if passed_on
                else _init(place)
            )
    return _init(place)


def _init(folder: Path) -> Path | None:
    file = folder / "__init__.py"
    return file if file.is_file() else None


@functools.cache
def _passed_on(folder: Path, package: Path) -> dict[str, str]:
    """Return the names that a package imports for others, each with the dotted name that it stands for."""
    stub = folder / "__init__.pyi"  # imports of a lazy package stand there
    path = stub if stub.is_file() else folder / "__init__.py"
    if not path.is_file():
        return {}
    found = {}
    for node in parsed(path).body:
        if isinstance(node, ast.ImportFrom):
            base = base_of(node, path, package)
            found.update({alias.asname or alias.name: f"{base}.{alias.name}" for alias in node.names})
    return {name: target for name, target in found.items() if target.split(".")[0] == package.name}


def _imported_names(path: Path, package: Path) -> frozenset[str] | None:
    """Return the dotted names of the package that a module imports anywhere; None if that is in doubt."""
    found = imports(path, package)
    if found.dynamic:
        return None
    return frozenset(name for name in found.names | found.modules if name.split(".")[0] == package.name)
