"""Write the grid of subsampled Gaussian steps that the page of calculators shows, by the library's accountant."""

import argparse
import json
from itertools import product
from pathlib import Path
from typing import Any

from chapters import ROOT

from dpfair_lib._files import write_whole
from dpfair_lib.privacy.accounting import dp_sgd_epsilon

TARGET = ROOT / "book/_static/subsampled-grid.js"
NAME = "window.dpfairSubsampledGrid = "
SIGMA = (0.7, 1.0, 2.0, 4.0)
RATE = (0.001, 0.01, 0.1)
STEPS = (1, 100, 1000, 10000)
DELTA = (1e-2, 1e-4, 1e-5, 1e-6, 1e-8)
DIGITS = 12


def epsilon(sigma: float, rate: float, steps: int, delta: float) -> float:
    """Return ε of one point, as `dp_sgd_epsilon` computes it with the accountant "pld" under add-remove."""
    return dp_sgd_epsilon(sigma, rate, steps, delta, "pld", relation="add-remove")


def grid() -> dict[str, Any]:
    """Compute all points; the last axis is δ, the one before it the number of steps."""
    found = [
        float(f"{epsilon(*point):.{DIGITS}g}") for point in product(SIGMA, RATE, STEPS, DELTA)
    ]  # takes a minute or two
    return {"sigma": SIGMA, "rate": RATE, "steps": STEPS, "delta": DELTA, "epsilon": found}


def read(path: Path = TARGET) -> dict[str, Any]:
    """Return the grid that is stored."""
    text = path.read_text(encoding="utf-8")
    return dict(json.loads(text[text.index(NAME) + len(NAME) :].rstrip().removesuffix(";")))


def main(arguments: list[str] | None = None) -> None:
    """Compute the grid and write it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--into", type=Path, default=TARGET)
    said = parser.parse_args(arguments)
    head = (
        "// Made by tools/subsampled_grid.py: ε of DP-SGD, σ × q × steps × δ, add-remove, accountant pld.\n"
    )
    write_whole(said.into, f"{head}{NAME}{json.dumps(grid())};\n")


if __name__ == "__main__":
    main()
