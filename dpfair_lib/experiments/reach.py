"""The source files on which an experiment depends: those that its functions' modules import, directly or not."""

from __future__ import annotations

import ast
import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from dpfair_lib._sources import DYNAMIC, base_of, parsed


class Imported(NamedTuple):
    """One import: what the module calls it, and its dotted name."""

    called: str
    name: str


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
    every file counts. So do tables (``.toml``) that a module in the same folder names.

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
    due, reached = [_definition(name, package) for name in modules], set()
    while due:
        found = due.pop()
        if found is None:
            return everything
        path = found[0]
        if path in reached:
            continue
        reached.add(path)
        imports = imports_of(path, package)
        if imports is None:
            return everything
        due += [_definition(imported.name, package) for imported in imports]
    return frozenset(reached.union(*(tables_of(path) for path in reached)))


def tables_of(module: Path) -> frozenset[Path]:
    """Return the tables (``.toml``) in a module's folder that it names."""
    text = module.read_bytes()
    return frozenset(table for table in module.parent.glob("*.toml") if table.name.encode() in text)


def files_of(modules: Iterable[str], package: Path) -> list[Path]:
    """Return the files of some modules of a package, in their order."""
    found = (_definition(name, package) for name in modules)
    return [place[0] for place in found if place is not None]


def definition_of(imported: Imported, package: Path) -> tuple[Path, str]:
    """Return the file that defines what a module imports, and its name there.

    Raises
    ------
    ValueError
        If any file may define it.
    """
    found = _definition(imported.name, package)
    if found is None:
        raise ValueError(f"imported: found {imported.name}, expected a name of one module")
    return found


def _definition(name: str, package: Path) -> tuple[Path, str] | None:
    """Return the file that defines a dotted name, and the name there; None if any file may define it."""
    place = package
    parts = name.split(".")
    if parts[0] != package.name or len(parts) == 1:
        return None
    for at, part in enumerate(parts[1:], start=1):
        if (place / part).is_dir():
            place = place / part
        elif (file := place / f"{part}.py").is_file():
            return file, ".".join(parts[at + 1 :])
        elif passed_on := _passed_on(place, package).get(part):
            return _definition(".".join([passed_on, *parts[at + 1 :]]), package)
        else:
            return _in_init(place, ".".join(parts[at:]))
    return _in_init(place, "")


def _in_init(folder: Path, name: str) -> tuple[Path, str] | None:
    file = folder / "__init__.py"
    return (file, name) if file.is_file() else None


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


@functools.cache
def imports_of(path: Path, package: Path) -> frozenset[Imported] | None:
    """Return what a module imports from its package anywhere; None if that is in doubt."""
    found: set[Imported] = set()
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.ImportFrom | ast.Import):
            found |= {*imports_in(node, path, package)}
        elif isinstance(node, ast.Name | ast.Attribute):
            called = node.id if isinstance(node, ast.Name) else node.attr
            if called in DYNAMIC:
                return None
    return frozenset(found)


def imports_in(node: ast.ImportFrom | ast.Import, path: Path, package: Path) -> list[Imported]:
    """Return what a statement of a module imports from its package."""
    if isinstance(node, ast.Import):
        found = [Imported(alias.asname or alias.name, alias.name) for alias in node.names]
    else:
        base = base_of(node, path, package)
        found = [
            Imported("*", base) if alias.name == "*" else Imported(alias.asname or alias.name, f"{base}.{alias.name}")
            for alias in node.names
        ]  # fmt: skip
    return [imported for imported in found if imported.name.split(".")[0] == package.name]
