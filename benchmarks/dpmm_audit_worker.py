"""dpmm's synthesiser MST, released many times on one table for an audit, as it is or with a planted fault.

It speaks through a pipe as `dpmm_worker` does. A line of JSON asks for releases: "shape" of the table, "sizes" of its
columns, "epsilon", "delta", "steps", "seed", how many "releases", how many "rows" each has (0: the model's noisy counts
alone are wanted), and a "fault", or none. The codes follow, as int64. The answer is a line of JSON, then a table of
numbers, a line for each release: without rows each column's noisy counts, one after the other, whether each possible
pair was chosen, and the noisy counts of chosen pairs (zeros for others); with rows how many of them are in each cell.
"""

from __future__ import annotations

import functools
import itertools
import json
import os
import sys
import warnings
from importlib.metadata import version
from typing import Any

import numpy as np
import pandas as pd
from dpmm.models import mst
from dpmm.models.base.mbi import FactoredInference
from dpmm.models.base.mechanisms import mechanism
from dpmm_worker import PACKAGES, answer

LESS = {"half of the noise": 0.5, "a quarter of the noise": 0.25}
mst.cdp_rho = mechanism.cdp_rho = functools.cache(mst.cdp_rho)  # ρ of ε and δ takes longer than all else


def prepared(asked: dict[str, Any], names: list[str], seed: int) -> Any:
    """Return a synthesiser as `dpmm_worker` sets it up, with a fault if one is asked for."""
    sizes, fault = dict(zip(names, asked["sizes"], strict=True)), asked["fault"]
    mst.FactoredInference = lambda domain, **_: FactoredInference(domain, iters=asked["steps"])
    model = mst.MSTGM(
        epsilon=asked["epsilon"], delta=asked["delta"], n_iters=asked["steps"], domain=sizes, n_jobs=1
    )
    model.set_domain(None if fault == "the domain from the rows" else sizes)
    model.set_random_state(np.random.RandomState(seed))
    inside = model.generator
    if fault in LESS:
        inside.sigma *= LESS[fault]
        choose = inside.exponential_mechanism
        inside.exponential_mechanism = lambda weights, eps, **named: choose(
            weights, eps / LESS[fault], **named
        )
    elif fault == "columns counted without noise":
        measure, calls = inside.measure, itertools.count()
        inside.measure = lambda *rest, **named: measure(*rest, **named | {"public": next(calls) == 0})
    elif fault == "pairs chosen without noise":
        inside.exponential_mechanism = lambda weights, *_, **__: int(np.argmax(weights))
    elif fault not in ("", "the domain from the rows"):
        raise ValueError(f"fault: found {fault!r}, expected one of those above")
    return model


def counted(inside: Any, names: list[str], sizes: list[int]) -> np.ndarray:
    """Return what the model's noisy counts are, before columns were compressed as far as this is known."""
    columns, pairs = [], {}
    for weights, noisy, _, cells in inside.measures:
        # the last count of a compressed column is the sum of those that were left out, over a root in ``weights``
        noisy = noisy / weights.diagonal() if len(cells) == 1 else noisy
        if len(cells) == 1:
            columns.append(np.pad(noisy, (0, max(sizes) + 1 - len(noisy))))
        else:
            pairs[tuple(cells)] = noisy
    most, every = max(sizes) ** 2, list(itertools.combinations(names, 2))
    blank = np.zeros(most)
    shown = [np.pad(pairs[pair], (0, most - len(pairs[pair]))) if pair in pairs else blank for pair in every]
    chosen = np.array([float(pair in pairs) for pair in every])
    return np.concatenate([*columns, chosen, *shown])


def released(codes: np.ndarray, asked: dict[str, Any]) -> tuple[dict[str, Any], np.ndarray]:
    """Return what the releases are set to, and what each of them shows."""
    names, sizes = [f"c{at:02d}" for at in range(codes.shape[1])], asked["sizes"]
    frame, found = pd.DataFrame(codes, columns=names), []
    for at in range(asked["releases"]):
        model = prepared(asked, names, (asked["seed"] + at) % 2**32)
        inside = model.generator
        model.generator.fit(frame.copy(), marginals_only=not asked["rows"])
        if asked["rows"]:
            made = model.generate(n_records=asked["rows"])[names].to_numpy(dtype=np.int64)
            flat = np.ravel_multi_index(tuple(made.T), sizes)
            found.append(np.bincount(flat, minlength=int(np.prod(sizes))).astype(float))
        else:
            found.append(counted(inside, names, sizes))
    about = {
        "epsilon": inside.epsilon,
        "delta": inside.delta,
        "rho": inside.rho,
        "sigma": float(inside.sigma),
    }
    return about, np.array(found)


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
        about, found = released(codes, asked)
        answer(outward, about | {"width": found.shape[1]}, found.tobytes())


if __name__ == "__main__":
    main()
