"""The benchmarks are run from the root of the repository and are no part of the installed library."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
