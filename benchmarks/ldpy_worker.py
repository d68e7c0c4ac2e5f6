"""The clients of multi-freq-ldpy, run in its own environment: reads the name of a job from a line, answers "done".

Arguments: how many people, k, ε. "calls" are one Python call per person, as the package's documentation writes them;
"loop" puts the same compiled clients into a compiled loop, which is as fast as they can be used.
"""

from __future__ import annotations

import sys

import numba
import numpy as np
from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Client
from multi_freq_ldpy.pure_frequency_oracles.SS import SS_Client


@numba.njit
def grr_loop(values, k, epsilon):
    reports = np.empty(len(values), np.int64)
    for i in range(len(values)):
        reports[i] = GRR_Client(values[i], k, epsilon)
    return reports


@numba.njit
def ss_loop(values, k, epsilon, size):
    reports = np.empty((len(values), size), np.int64)
    for i in range(len(values)):
        reports[i] = SS_Client(values[i], k, epsilon)
    return reports


def one_hot(reports: np.ndarray, k: int) -> np.ndarray:
    """Return the reports, one or several values each, as bit vectors."""
    several = reports.reshape(len(reports), -1)
    bits = np.zeros((len(reports), k), dtype=np.uint8)
    bits[np.arange(len(reports))[:, None], several] = 1
    return bits


def main() -> None:
    """Answer job after job."""
    n, k, epsilon = int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3])
    values = np.random.default_rng(0).integers(0, k, size=n)
    listed, size = values.tolist(), len(SS_Client(0, k, epsilon))

    def grr_calls() -> np.ndarray:
        return np.array([GRR_Client(value, k, epsilon) for value in listed])

    def ss_calls() -> np.ndarray:
        return np.array([SS_Client(value, k, epsilon) for value in listed])

    jobs = {
        "grr calls": grr_calls,
        "grr loop": lambda: grr_loop(values, k, epsilon),
        "grr calls, one-hot": lambda: one_hot(grr_calls(), k),
        "grr loop, one-hot": lambda: one_hot(grr_loop(values, k, epsilon), k),
        "ss calls": ss_calls,
        "ss loop": lambda: ss_loop(values, k, epsilon, size),
        "ss calls, one-hot": lambda: one_hot(ss_calls(), k),
        "ss loop, one-hot": lambda: one_hot(ss_loop(values, k, epsilon, size), k),
    }
    for line in sys.stdin:
        jobs[line.strip()]()
        sys.stdout.write("done\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
