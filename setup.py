"""What pyproject.toml cannot say: a wheel carries the recorded results, which checks of the ledger read."""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

RESULTS = Path(__file__).with_name("results")


class WithResults(build_py):
    """Copies ``results/`` into the package, unless the repository itself is installed."""

    def run(self) -> None:
        """Build the package, then add the records."""
        super().run()
        if not self.editable_mode:
            target = Path(self.build_lib, "dpfair_lib", "results")
            shutil.copytree(RESULTS, target, dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))


setup(cmdclass={"build_py": WithResults})
