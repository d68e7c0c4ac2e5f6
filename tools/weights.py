"""Measure what the core and each extra weigh: the files of all packages that they need, as installed here."""

from __future__ import annotations

import json
import platform
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "results" / "weights.json"


def needed(requirements: list[str], own: dict[str, list[str]]) -> dict[str, str]:
    """Return every package that some requirements lead to, with its version; `own` are the extras of this library."""
    due, found, seen = [Requirement(text) for text in requirements], {}, set()
    while due:
        one = due.pop()
        name = canonicalize_name(one.name)
        key = (name, frozenset(one.extras))
        if key in seen:
            continue
        seen.add(key)
        if name == "dpfair-lib":
            due += [Requirement(text) for extra in one.extras for text in own[extra]]
            continue
        installed = distribution(name)
        found[name] = installed.version
        for text in installed.requires or ():
            inner = Requirement(text)
            marks = [{"extra": extra} for extra in one.extras] or [{"extra": ""}]
            if inner.marker is None or any(inner.marker.evaluate(mark) for mark in marks):
                due.append(inner)
    return dict(sorted(found.items()))


def size(package: str) -> int:
    """Return the bytes of a package's files, with what pip compiles of them at installation."""
    files = distribution(package).files or ()
    paths = (Path(str(file.locate())) for file in files)
    return sum(path.lstat().st_size for path in paths if path.exists())


def measured() -> dict[str, dict[str, Any]]:
    """Return the weight of the core, and what each extra adds to it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    core = needed(project["dependencies"], extras)
    rows = {"core": core}
    for name, requirements in extras.items():
        rows[name] = {
            one: version for one, version in needed(requirements, extras).items() if one not in core
        }
    return {
        name: {"megabytes": round(sum(map(size, packages)) / 1e6, 1), "packages": packages}
        for name, packages in rows.items()
    }


def table(rows: dict[str, dict[str, Any]]) -> list[str]:
    """Return the rows of README's table, in whole megabytes."""
    return [
        f"| {'the core' if name == 'core' else f'`{name}`'} | {'' if name == 'core' else '+ '}{row['megabytes']:,.0f} |"
        for name, row in rows.items()
    ]


def main() -> int:
    """Measure, write the record in one step, and print the table."""
    where = {"python": platform.python_version(), "platform": f"{platform.system()} {platform.machine()}"}
    rows = measured()
    partial = RECORD.with_name(f".{RECORD.name}.partial")
    partial.write_text(json.dumps({"where": where, "weights": rows}, indent=1) + "\n", encoding="utf-8")
    partial.replace(RECORD)
    sys.stdout.write("\n".join(table(rows)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
