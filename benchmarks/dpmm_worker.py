"""dpmm's synthesiser MST, run in its own environment on codes that come through a pipe.

A line of JSON asks for a release: "shape" of the table, "sizes" of its columns (codes are 0 to size − 1), "epsilon",
"delta", "steps" and "seed". The codes follow, as int64. The answer is a line of JSON, then synthetic codes, as many
rows as came in. The first line of all tells the versions.
"""

from __future__ import annotations

import json
import os
import sys
import time
import warnings
from importlib.metadata import version
from typing import Any, BinaryIO

import numpy as np
import pandas as pd
from dpmm.models import mst
from dpmm.models.base.mbi import FactoredInference

PACKAGES = ("dpmm", "numpy", "opendp", "pandas", "scikit-learn", "scipy")


def released(codes: np.ndarray, asked: dict[str, Any]) -> tuple[dict[str, Any], np.ndarray]:
    """Return what a release is about, and as many synthetic rows as there are codes."""
    names = [f"c{at:02d}" for at in range(codes.shape[1])]
    sizes, start = dict(zip(names, asked["sizes"], strict=True)), time.process_time()
    # The graphical model is fitted twice: to columns, with 2,500 steps that no parameter reaches, and to pairs. Both
    # only see noisy counts, so that fewer steps cost no privacy.
    mst.FactoredInference = lambda domain, **_: FactoredInference(domain, iters=asked["steps"])
    model = mst.MSTGM(
        epsilon=asked["epsilon"], delta=asked["delta"], n_iters=asked["steps"], domain=sizes, n_jobs=1
    )
    model.set_domain(sizes)  # else the largest code of the rows would be looked up
    model.set_random_state(np.random.RandomState(asked["seed"]))
    model.fit(pd.DataFrame(codes, columns=names))
    made = model.generate(n_records=len(codes))[names].to_numpy(dtype=np.int64)
    inside = model.generator
    pairs = [[names.index(name) for name in pair] for pair in inside.cliques if len(pair) == 2]
    about = {
        "epsilon": inside.epsilon,
        "delta": inside.delta,
        "rho": inside.rho,
        "sigma": float(inside.sigma),
    }
    about |= {"pairs": pairs, "shape": list(made.shape), "seconds": time.process_time() - start}
    return about, made


def answer(outward: BinaryIO, content: dict[str, Any], rows: bytes = b"") -> None:
    outward.write(json.dumps(content).encode() + b"\n" + rows)
    outward.flush()


def main() -> None:
    """Answer line after line until the pipe is closed."""
    inward, outward = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what the packages print does not get among the answers
    warnings.simplefilter("ignore")
    answer(outward, {"versions": {package: version(package) for package in PACKAGES}})
    for line in iter(inward.readline, b""):
        asked = json.loads(line)
        n, k = asked["shape"]
        codes = np.frombuffer(inward.read(8 * n * k), dtype=np.int64).reshape(n, k)
        about, made = released(codes, asked)
        answer(outward, about, made.tobytes())


if __name__ == "__main__":
    main()
