"""Resolve requirements.txt in an empty environment and write requirements.lock."""

import re
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HEADER = (
    "# Every package that requirements.txt resolves to (`make lock`). Used as constraints, so that a platform's\n"
    "# own extra packages (the CUDA libraries of PyTorch on Linux) may come along.\n"
)


def freeze() -> list[str]:
    """Install requirements.txt into a new environment and list what is there."""
    with tempfile.TemporaryDirectory() as folder:
        venv.create(folder, with_pip=True)
        python = str(Path(folder, "bin", "python"))
        subprocess.run([python, "-m", "pip", "install", "--quiet", "-r", "requirements.txt"], check=True)
        listed = subprocess.run(
            [python, "-m", "pip", "freeze"], check=True, capture_output=True, text=True
        ).stdout.splitlines()
    # of a local file, or of a local build such as 2.13.0+cpu, only the public version counts
    listed = [re.sub(r" @ file:.*?-(\d[^-]*?)-.*", r"==\1", line) for line in listed]
    return [line.partition("+")[0] for line in listed]


def main() -> None:
    """Write the lock file in one step; the library is not there yet where this runs."""
    lines = freeze()
    partial = Path("requirements.lock.partial")
    partial.write_text(HEADER + "\n".join(lines) + "\n")
    partial.replace("requirements.lock")
    sys.stdout.write(f"requirements.lock: {len(lines)} packages\n")


if __name__ == "__main__":
    main()
