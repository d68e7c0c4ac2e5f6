"""Measure what the core and each extra weigh, as installed here, and how long the first use of each name takes."""

from __future__ import annotations

import json
import platform
import subprocess
import sys
import tomllib
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "results" / "weights.json"
REPEATS = 3
FIRST_USES = """
import json, os, sys, time

def used(names, tell):
    start = time.process_time()
    if names == ["sklearn.base"]:
        import sklearn.base
    else:
        import dpfair_lib
        for name in names:
            getattr(dpfair_lib, name)
    tell(time.process_time() - start)

class Needed:
    def find_spec(self, name, path=None, target=None):
        if name == "sklearn":
            self.tell(None)

def in_a_new_process(names, watched):
    read, write = os.pipe()
    child = os.fork()
    if not child:
        def tell(seconds):
            os.write(write, json.dumps(seconds).encode())
            os._exit(0)
        try:
            if watched:
                sys.meta_path.insert(0, Needed())
                sys.meta_path[0].tell = tell
            used(names, tell)
        finally:
            os._exit(1)
    os.close(write)
    with os.fdopen(read) as said:
        found = json.loads(said.read())
    os.waitpid(child, 0)
    return found

beside, watched, repeats, *rows = json.load(sys.stdin)
if beside:
    import sklearn.base
print(json.dumps([sorted(in_a_new_process(names, watched) for _ in range(repeats)) for names in rows]))
"""
"""Times some names in a fork for each, so that Python, and scikit-learn's base class, are started once."""


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


def first_use(
    rows: list[list[str]], *, beside: bool = False, watched: bool = False, repeats: int = REPEATS
) -> list[Any]:
    """Return for each list of names the processor seconds of several processes that had not used them, sorted.

    With `beside` they had imported scikit-learn's base class; with `watched` they end, with None, where it is needed.
    """
    ran = subprocess.run(
        [sys.executable, "-c", FIRST_USES],
        cwd=ROOT, check=True, capture_output=True, text=True, input=json.dumps([beside, watched, repeats, *rows]),
    )  # fmt: skip
    return json.loads(ran.stdout)


def first_uses(names: list[str], repeats: int = REPEATS) -> dict[str, Any]:
    """Return least and most seconds: of the import, of scikit-learn's base class, of each name; of estimators, beyond.

    Others at work on the machine make processor time longer too. So the least of several says what the work takes.
    """
    watched = first_use([[name] for name in names], watched=True, repeats=1)  # and the files are warm now
    needs = {name for name, found in zip(names, watched, strict=True) if found == [None]}
    timed = {}
    for kind, beside in (("functions", False), ("estimators", True)):
        chosen = [name for name in names if (name in needs) is beside]
        found = first_use([[name] for name in chosen], beside=beside, repeats=repeats)
        timed[kind] = dict(zip(chosen, map(_ends, found), strict=True))
    plain, base = map(_ends, first_use([[], ["sklearn.base"]], repeats=repeats))
    return {"import": plain, "scikit-learn": base, **timed}


def _ends(seconds: list[float]) -> list[float]:
    return [round(seconds[0], 3), round(seconds[-1], 3)]


def sentence(found: dict[str, Any]) -> str:
    """Return what README says about first uses."""
    (least, most), (base, slow) = found["import"], found["scikit-learn"]
    functions, estimators = found["functions"].values(), found["estimators"].values()
    function, estimator = (max(one[0] for one in kind) for kind in (functions, estimators))
    return (
        f"`import dpfair_lib` takes {least:.3f} to {most:.3f} s of processor time, and importing scikit-learn's base "
        f"class {base:.2f} to {slow:.2f} s (the least and the most of several new processes). The first use of a "
        f"function or of a data set takes at most {function:.2f} s, that of an estimator at most {estimator:.2f} s "
        "more than the base class (the least of several, for each name)."
    )


def main() -> int:
    """Measure, write the record in one step, and print the table."""
    where = {"python": platform.python_version(), "platform": f"{platform.system()} {platform.machine()}"}
    import dpfair_lib

    rows, uses = measured(), first_uses(sorted(set(dpfair_lib.__all__) - {"__version__"}))
    partial = RECORD.with_name(f".{RECORD.name}.partial")
    partial.write_text(
        json.dumps({"where": where, "weights": rows, "first use": uses}, indent=1) + "\n", encoding="utf-8"
    )
    partial.replace(RECORD)
    sys.stdout.write("\n".join([*table(rows), "", sentence(uses)]) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
