"""The noise of DP-SGD as MPBT prints it."""

from __future__ import annotations

import math


def printed_noise(n: int, steps: int, epsilon: float, delta: float, power: int) -> float:
    """Return the printed σ/Λ, with T to the power 2 as in the lemma or 1 as in the proof."""
    return 8 * math.sqrt(steps**power * math.log(3 * steps / delta) * math.log(2 / delta)) / (n * epsilon)
