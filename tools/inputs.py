"""What a chapter's result depends on: its source, the library, pinned versions, parameters and data."""

import json
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from chapters import default_parameters, full_name, read_source, select

from dpfair_lib._sources import digest

SOURCE_SUFFIXES = {".py", ".pyi", ".toml"}
TOOLS = ("chapters.py", "execute.py", "inputs.py")
Parameters = dict[str, dict[str, Any]]


def data_folders() -> list[Path]:
    """Return the folders in which the library looks for data sets."""
    from platformdirs import user_cache_path

    named = os.environ.get("DPFAIR_DATA")
    return [*([Path(named)] if named else []), user_cache_path("dpfair_lib")]


def describe_files(folder: Path) -> Iterator[str]:
    """Describe the files under a folder by name, size and time, which is quick for large ones."""
    for path in visible_files(folder):
        stat = path.stat()
        yield f"{path.relative_to(folder)} {stat.st_size} {stat.st_mtime_ns}"


def visible_files(folder: Path) -> list[Path]:
    """List the files under a folder, without those that are under way: these have a dot before their name."""
    found = ((path, path.relative_to(folder).parts) for path in sorted(folder.rglob("*")))
    return [
        path for path, parts in found if not any(part.startswith(".") for part in parts) and path.is_file()
    ]


def digest_common(root: Path, folders: Iterable[Path]) -> str:
    """Digest what every chapter depends on: library, pinned versions, recorded results, data, these tools."""
    library = (path for path in (root / "dpfair_lib").rglob("*") if path.suffix in SOURCE_SUFFIXES)
    tools = (Path(__file__).with_name(name) for name in TOOLS)
    files = [*library, root / "requirements.lock", *visible_files(root / "results")]
    parts = {path.relative_to(root).as_posix(): path.read_bytes() for path in files if path.exists()}
    parts |= {f"tools/{path.name}": path.read_bytes() for path in tools}
    data = {f"data {at}": "\n".join(describe_files(folder)).encode() for at, folder in enumerate(folders)}
    return digest(parts | data)


def chapter_key(root: Path, chapter: str, parameters: Mapping[str, Any], common: str) -> str:
    """Digest everything that a chapter's result depends on."""
    content = (root / f"{chapter}.md").read_bytes()
    said = json.dumps(parameters, sort_keys=True, default=str)
    return digest({"source": content, "parameters": said.encode(), "common": common.encode()})


def load_parameters(root: Path, path: Path | None) -> Parameters:
    """Read a parameters file, chapter → {name: value}, and refuse what no chapter knows.

    Raises
    ------
    ValueError
        If the file has another shape, or names an unknown chapter or parameter.
    """
    if path is None:
        return {}
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8")) or {}
    except (OSError, yaml.YAMLError) as error:
        raise ValueError(f"{path}: found no readable parameters ({error}), expected a YAML file") from None
    if not isinstance(content, dict) or not all(isinstance(value, dict) for value in content.values()):
        raise ValueError(f"{path}: expected chapter names, and under each its parameters as name: value")
    chosen = {full_name(str(name)): value for name, value in content.items()}
    for chapter in select(root, list(chosen)) if chosen else []:
        known = default_parameters(read_source(root / f"{chapter}.md"))
        unknown = sorted(str(name) for name in chosen[chapter] if name not in known)
        if unknown:
            there = ", ".join(sorted(known)) or "none"
            raise ValueError(f"{path}: {chapter} has no parameter {', '.join(unknown)}; it has: {there}")
    return chosen
