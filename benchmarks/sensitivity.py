"""The exhaustive search for the exponential learner's sensitivities: every neighbouring pair up to some size."""

from __future__ import annotations

import time
from fractions import Fraction

from benchmarks.timing import Check, Contender, check
from dpfair_lib.compatibility.private_learner.sensitivity import Moves, enumerate_moves, utility_sensitivity

TITLE = "Every neighbouring pair of samples up to some size, hypotheses with values 0, ½, 1"
UNIT = "all sizes up to the one given"
AXES = {"records": (8, 10, 12)}
REHEARSAL = {"AXES": {"records": (4,)}}
LEVELS = 3


def search(records: int) -> list[Moves]:
    """Compare all pairs of samples of 1, 2, … records."""
    return [enumerate_moves(n, LEVELS) for n in range(1, records + 1)]


def contenders(records: int) -> dict[str, Contender]:
    return {
        "dpfair_lib.compatibility.private_learner.sensitivity.enumerate_moves": Contender(
            lambda: search(records)
        )
    }


def checks() -> list[Check]:
    started = time.process_time()
    most = AXES["records"][-1]
    found = search(most)
    seconds = time.process_time() - started
    above = max(
        moved - utility_sensitivity(counts, moves.n)
        for moves in found
        for counts, moved in moves.utility.items()
    )
    pairs = sum(moves.pairs for moves in found)
    return [
        check(f"processor seconds for all {pairs:,} ordered pairs of up to {most} records", seconds, 20),
        check("how far a move of u exceeds the closed form", float(max(above, Fraction(0))), 0.0),
        check("widest range of the moves of min count times u", float(max(m.scaled_range for m in found)), 5),
    ]
