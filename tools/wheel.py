"""Build the source distribution and, from it, the wheel; try the wheel where nothing of the repository is at hand.

First with the core alone, then with the extras that the examples need. With ``--quick`` nothing is downloaded: the
packages are those of the environment at hand, and only the library is the wheel's.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
EXTRAS = "secure,accounting"
"""What README's example needs, and one claim of those that read records."""
BUILD = "import sys; from setuptools import build_meta; print(build_meta.build_sdist(sys.argv[1]))"
TYPED = """
import dpfair_lib as dpf
from dpfair_lib.central import records_needed

gap: float = dpf.demographic_parity_difference([0, 1], [0, 1], sensitive_features=["a", "b"])
statement: dpf.PrivacyStatement = dpf.PrivacyStatement(1.0, 0.0, "add-remove")
reveal_type(dpf.FairPostprocessor)
reveal_type(records_needed)
"""
WRONG = "import dpfair_lib as dpf\nstatement: int = dpf.PrivacyStatement(1.0, 0.0, 'add-remove')\n"


def example(readme: str) -> str:
    """Return the Python code of README."""
    return "\n".join(re.findall(r"```python\n(.*?)```", readme, re.S))


def build(into: Path, quick: bool) -> tuple[Path, Path]:
    """Build both from the files that Git knows or would add, and return their paths."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout.splitlines()  # fmt: skip
    into.mkdir(parents=True, exist_ok=True)
    for old in into.glob("dpfair_lib-*"):
        old.unlink()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "source")
        for name in listed:
            if ((ROOT / name).is_file() and name.startswith(("dpfair_lib/", "results/"))) or "/" not in name:
                (source / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, source / name)
        python = sys.executable if quick else environment(Path(folder, "builder"), "setuptools>=77")
        subprocess.run([python, "-c", BUILD, into], cwd=source, check=True, stdout=subprocess.DEVNULL)
    (sdist,) = into.glob("*.tar.gz")
    pip = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", into, sdist]
    pip += ["--no-build-isolation"] if quick else []
    subprocess.run(pip, check=True)
    (wheel,) = into.glob("*.whl")
    return sdist, wheel


def environment(folder: Path, *requirements: str) -> str:
    """Return the interpreter of a new environment with these packages, at the versions of the lock."""
    venv.create(folder, with_pip=True, clear=True)
    python = str(folder / "bin" / "python")
    install(python, *requirements)
    return python


def borrowed(folder: Path, wheel: Path) -> str:
    """Return the interpreter of a new environment with the wheel, and the packages of the one at hand."""
    venv.create(folder, with_pip=False, clear=True)
    python = str(folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-deps", str(wheel)]
    subprocess.run(pip, check=True)
    where = [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"]
    own = Path(subprocess.run(where, check=True, capture_output=True, text=True).stdout.strip())
    # what stands in .pth files of the folder is not followed, so the repository stays out
    (own / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return python


def install(python: str, *requirements: str) -> None:
    """Install packages into an environment."""
    lock = lock_of("{}.{}".format(*sys.version_info[:2]))
    pip = [python, "-m", "pip", "install", "--quiet", "--constraint", str(lock), *requirements]
    subprocess.run(pip, check=True)


def lock_of(version: str) -> Path:
    """Return the lock of a version of Python; the book's own is that of 3.11."""
    return ROOT / ("requirements.lock" if version == "3.11" else f"requirements-{version}.lock")


def attempt(program: str, folder: Path, *words: str, status: int = 0) -> str:
    """Run a program of the environment far from the repository, and return what it said."""
    surroundings = {
        k: v for k, v in os.environ.items() if k not in {"PYTHONPATH", "DPFAIR_LEDGER", "DPFAIR_DATA"}
    }
    ran = subprocess.run([program, *words], cwd=folder, env=surroundings, capture_output=True, text=True)
    if ran.returncode != status:
        raise SystemExit(f"{' '.join(words)[:200]}: ended with {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran.stdout + ran.stderr


def expect(text: str, said: str) -> None:
    """End with a message unless a text was said."""
    if text not in said:
        raise SystemExit(f"expected {text!r}, found {said!r}")


def try_commands(python: str, folder: Path) -> None:
    """Try the command line, and a claim."""
    expect("randomize", attempt(python, folder, "-m", "dpfair_lib", "--help"))
    expect("randomize", attempt(str(Path(python).with_name("dpfair")), folder, "--help"))
    expect(
        "isit.alg-1",
        attempt(python, folder, "-m", "dpfair_lib", "claims", "--only", "isit.alg-1", "--faults"),
    )
    where = attempt(python, folder, "-c", "import dpfair_lib; print(dpfair_lib.__file__)")
    expect(str(Path(python).parents[1]), where)


def try_core(python: str, folder: Path, code: str) -> None:
    """Try README's example with the core alone: what is private needs an extra, and says which."""
    public, private = code.split("private = ", 1)
    attempt(python, folder, "-c", public)
    refused = attempt(python, folder, "-c", f"{public}private = {private}", status=1)
    expect('pip install "dpfair-lib[secure]"', refused)


def try_extras(python: str, folder: Path, code: str) -> None:
    """Try README's whole example, and a claim that reads recorded results."""
    expect("ε = 0.5", attempt(python, folder, "-c", code))
    shown = attempt(python, folder, "-m", "dpfair_lib", "claims", "--only", "sk.sentences")
    expect("sk.sentences", shown)


def try_types(python: str, folder: Path) -> None:
    """Check that a type checker reads the installed library's types."""
    for name, text, status, said in (
        ("typed.py", TYPED, 0, "Success"), ("wrong.py", WRONG, 1, "Incompatible types in assignment"),
    ):  # fmt: skip
        (folder / name).write_text(text, encoding="utf-8")
        mypy = ["-m", "mypy", "--python-executable", python, "--follow-imports", "silent", name]
        expect(said, attempt(sys.executable, folder, *mypy, status=status))


def main(arguments: Sequence[str] | None = None) -> int:
    """Build both, try them, and print what was tried."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=ROOT / "_build" / "dist", metavar="FOLDER")
    parser.add_argument("--quick", action="store_true", help="use the packages of the environment at hand")
    said = parser.parse_args(arguments)
    sdist, wheel = build(said.into.resolve(), said.quick)
    code = example((ROOT / "README.md").read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as empty:
        folder = Path(empty)
        env = folder / "env"
        python = borrowed(env, wheel) if said.quick else environment(env, str(wheel))
        try_commands(python, folder)
        if not said.quick:
            try_core(python, folder, code)
            install(python, f"{wheel}[{EXTRAS}]")
        try_extras(python, folder, code)
        try_types(python, folder)
    for path in (sdist, wheel):
        sys.stdout.write(f"{path}: {path.stat().st_size / 1e6:.1f} MB\n")
    alone = "" if said.quick else "the core alone, "
    sys.stdout.write(f"tried: {alone}README's example, the command line, the ledger, the types\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
