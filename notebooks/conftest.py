"""nbval compares a stored figure with the fresh one as one sees them, everything else letter by letter."""

import sys
from pathlib import Path

from nbval.plugin import IPyNbCell

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tools"))

from pictures import Figure

sanitized = IPyNbCell.sanitize


def sanitize(self, output):
    """Return what is compared of one output."""
    output = sanitized(self, output)
    return Figure(output) if isinstance(output, str) and "<!DOCTYPE svg" in output[:200] else output


IPyNbCell.sanitize = sanitize
