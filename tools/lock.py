"""Resolve requirements.txt in an empty environment and write requirements.lock, or that of another Python.

The book is built with Python 3.11, whose lock holds everything. The lock of a later version holds what the library's
tests need there, without PyTorch: on Linux its usual build takes several GB.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

DEFAULT = "3.11"
HEADER = (
    "# Every package that requirements.txt resolves to (`make lock`). Used as constraints, so that a platform's\n"
    "# own extra packages (the CUDA libraries of PyTorch on Linux) may come along.\n"
)
TESTED_HEADER = (
    "# What the library's tests need under Python {version}, without PyTorch; versions as in requirements.txt\n"
    "# (`make lock PYTHON=python{version}`). `make test-python` installs it.\n"
)
TORCH = ("torch", "opacus")
CHECKS = (
    "pytest", "pytest-xdist", "hypothesis", "array-api-strict", "polars", "mpmath", "fairlearn", "cvxpy", "PyYAML",
)  # fmt: skip
"""What the tests import besides the library's own packages."""


def tested(text: str) -> list[str]:
    """Return the pinned requirements of the library's tests, from the text of requirements.txt."""
    library = text.partition("# the book\n")[0]
    of = {line.partition("==")[0]: line.partition(" ")[0] for line in text.splitlines() if "==" in line}
    own = [line.partition("==")[0] for line in library.splitlines() if "==" in line]
    return [of[name] for name in (*own, *CHECKS) if name not in TORCH]


def freeze(requirements: list[str]) -> list[str]:
    """Install requirements into a new environment and list what is there."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder, "bin", "python"))
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)
        listed = subprocess.run(
            [python, "-m", "pip", "freeze"], check=True, capture_output=True, text=True
        ).stdout.splitlines()
    return [public_version(line) for line in listed]


def public_version(line: str) -> str:
    """Return a pin alone: of a local file, or of a local build such as 2.13.0+cpu, only the public version counts."""
    line = re.sub(r" @ file:.*?-(\d[^-]*?)-.*", r"==\1", line)
    return line.partition("+")[0]


def main(arguments: list[str] | None = None) -> int:
    """Write the lock of the running Python in one step; the library is not there yet where this runs."""
    argparse.ArgumentParser(description=__doc__).parse_args(arguments)
    version = "{}.{}".format(*sys.version_info[:2])
    if version == DEFAULT:
        name, header, requirements = "requirements.lock", HEADER, ["-r", "requirements.txt"]
    else:
        name, header = f"requirements-{version}.lock", TESTED_HEADER.format(version=version)
        requirements = tested(Path("requirements.txt").read_text(encoding="utf-8"))
    lines = freeze(requirements)
    partial = Path(f"{name}.partial")
    partial.write_text(header + "\n".join(lines) + "\n", encoding="utf-8")
    partial.replace(name)
    sys.stdout.write(f"{name}: {len(lines)} packages\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
