"""DP-SGD with the noise that MPBT prints, and a lower bound on the δ that it really has."""

from __future__ import annotations

import math

from scipy.special import ndtr


def printed_noise(n: int, steps: int, epsilon: float, delta: float, power: int) -> float:
    """Return the printed σ/Λ, with T to the power 2 as in Lemma 4.2 or 1 as in its proof."""
    return 8 * math.sqrt(steps**power * math.log(3 * steps / delta) * math.log(2 / delta)) / (n * epsilon)


def proof_steps(n: int, epsilon: float, delta: float) -> int:
    """Return the proof's T on the losses of `last_iterate_delta`: 2 ln(n²ε²/(512 ln(2/δ))), rounded up.

    There h_0 = −1, and h* is next to 0.
    """
    return math.ceil(2 * math.log(n**2 * epsilon**2 / (512 * math.log(2 / delta))))


def last_iterate_delta(n: int, steps: int, epsilon: float, delta: float, power: int) -> float:
    """Return a proved lower bound on the δ that T-step DP-SGD with the printed noise really has at ε.

    Losses β(h − z)²/2 on [−1, 1] (smooth and strongly convex with μ = β, Λ = 2β), step 1/(2β), start at −1: each step
    goes half way to the drawn z and adds noise of standard deviation s = σ/Λ. All z are 0 but one, which is 1 or −1.
    If no noise exceeds 1/16, the last iterate is above 1/4 if the odd record was drawn last and is 1, and is below 1/4
    if it is −1.

    Parameters
    ----------
    n : int
        Number of records.
    steps : int
        T, at least 5: the way from the start must be forgotten.
    epsilon, delta : float
        As stated.
    power : int
        As in `printed_noise`.

    Raises
    ------
    ValueError
        If there are fewer than 5 steps.
    """
    if steps < 5:
        raise ValueError(f"steps: found {steps}, expected at least 5")
    s = printed_noise(n, steps, epsilon, delta, power)
    exceeded = 2 * steps * float(ndtr(-1 / (16 * s)))
    return (1 - exceeded) / n - math.exp(epsilon) * exceeded
