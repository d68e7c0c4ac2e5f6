"""CGKM, Algorithm 2: it noises the running sum; release t leaks t times what one noisy loss does."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.compat.leader_laws import bit_chance, cube_law, expert_law
from dpfair_lib.compat.perturbed_leader import follow_the_leader, noisy_totals, perturbed_leader

RATIOS = (Fraction(1, 2), Fraction(2, 3), Fraction(9, 10))
CUBE = np.array(list(itertools.product((0, 1), repeat=2)))


def check(
    *,
    plain: Callable[..., np.ndarray] = follow_the_leader,
    step: Callable[..., int] = perturbed_leader,
    totals: Callable[..., np.ndarray] = noisy_totals,
    chance: Callable[..., Any] = bit_chance,
    law: Callable[..., np.ndarray] = cube_law,
    search: Search,
) -> Evidence:
    """Judge the leader, its law as drawn and in closed form, what is noised, and the leak of each release."""
    _leaders(plain, search)
    _law_as_drawn(step, law, chance, search)
    _what_is_noised(totals, search)
    _leak_of_a_release(chance, search)
    return search.evidence()


def _leaders(plain: Callable[..., np.ndarray], search: Search) -> None:
    """Each choice costs least on the losses so far: all losses in {−1, 0, 1}², two rounds, all classes."""
    search.part("the leader without noise")
    for size in range(1, 5):
        for chosen in itertools.combinations(range(4), size):
            rows = CUBE[list(chosen)]
            for flat in itertools.product((-1, 0, 1), repeat=4):
                losses = np.array(flat).reshape(2, 2)
                played = plain(losses, rows)
                for t in (0, 1):
                    paid = [sum(int(loss @ h) for loss in losses[: t + 1]) for h in rows]
                    search.observe(min(paid) - paid[played[t]], {"losses": flat, "class": chosen, "t": t})
    search.exhausts(
        "all classes of predictions on two points and all losses −1, 0, 1 over two rounds",
        cases=(2**4 - 1) * 3**4 * 2,
    )


def _law_as_drawn(
    step: Callable[..., int], law: Callable[..., np.ndarray], chance: Callable[..., Any], search: Search
) -> None:
    search.part("closed forms")
    for ratio, total in itertools.product(RATIOS, range(-12, 13)):
        epsilon = -math.log(ratio)
        exact = chance(total, ratio)
        case = {"ratio": ratio, "total": total}
        search.equal(float(law(np.array([total]), epsilon)[0]), float(exact), case, tolerance=1e-12)
        search.equal(exact + chance(-total, ratio), 1, case)
        # {00, 11} on two points with costs that add up to the total is a pair of experts
        below = expert_law([total, 0], epsilon)[0]
        tail = (1 + epsilon * abs(total) / 2) * float(ratio) ** abs(total) / 2
        search.equal(below, tail if total >= 0 else 1 - tail, case, tolerance=1e-12)
    search.part("as drawn")
    draws = 2000
    for start, epsilon in itertools.product(([0.0, 0.0], [1.0, -0.5], [3.0, 0.2]), (0.5, 2.0)):
        one = law(np.array(start), epsilon)
        expected = np.where(CUBE == 1, one, 1 - one).prod(axis=1)
        hits = np.zeros(4)
        for _ in range(draws):
            hits[step(start, CUBE, 1 / epsilon, search.rng)] += 1
        # six standard deviations and one draw
        spread = 6 * np.sqrt(draws * expected * (1 - expected)) + 1
        at: dict[str, Any] = {"total": start, "epsilon": epsilon}
        search.observe(spread - abs(hits - draws * expected), at)


def _what_is_noised(totals: Callable[..., np.ndarray], search: Search) -> None:
    """Noise of round t: of variance 2b² and independent of the round before, or a growing sum, of 2tb²."""
    search.part("what is noised")
    losses, scale, people = np.array([[1.0], [-2.0], [0.5]]), 1.5, 20_000
    wide = np.repeat(losses, people, axis=1)
    for noised, noisy, stepped in (("sum", (1, 1, 1), 2), ("losses", (1, 2, 3), 1)):
        noise = totals(wide, scale, search.rng, noised=noised) - np.cumsum(wide, axis=0)
        changes = noise[1] - noise[0]
        for values, parts in (
            (noise[0], noisy[0]),
            (noise[1], noisy[1]),
            (noise[2], noisy[2]),
            (changes, stepped),
        ):
            square = float((values**2).mean()) / (2 * scale**2)
            # the square of a sum of k Laplace variables has the variance (2k² + 3k)(2b²)²
            spread = 6 * math.sqrt((2 * parts**2 + 3 * parts) / people)
            search.observe(spread - abs(square - parts), {"noised": noised, "parts": parts})


def _leak_of_a_release(chance: Callable[..., Any], search: Search) -> None:
    """Totals that differ by t: the chance of a play moves by at most e^(tε), and does; one noisy loss allows e^ε."""
    search.part("leak of a release")
    cases, times = 0, 0
    for ratio, moved in itertools.product(RATIOS, range(1, 9)):
        ratios = []
        for total in range(-10, 11):
            case: dict[str, Any] = {"ratio": ratio, "rounds": moved, "total": total}
            here, there = chance(total, ratio), chance(total + moved, ratio)
            factor = max(here / there, (1 - there) / (1 - here))
            search.observe(ratio**-moved - factor, case)
            ratios.append(factor)
            cases += 1
            if moved <= 3:
                search.against(printed_slack(**case), case, verify=printed_slack)
        search.equal(max(ratios), ratio**-moved, {"ratio": ratio, "rounds": moved})
        times = next((k for k in range(10) if ratio**-k >= max(ratios)), 10)
    search.exhausts("totals from −10 to 10 with up to eight losses that all move by one", cases=cases)
    search.fact("loss of release 8, in units of that of one noisy loss", times)


def printed_slack(ratio: Fraction, rounds: int, total: int) -> Fraction:
    """Return what releasing one noisy loss allows, e^ε, minus the factor by which the release moves.

    After t losses that move by one each, the running sum moves by t.
    """
    here, there = bit_chance(total, ratio), bit_chance(total + rounds, ratio)
    return 1 / ratio - max(here / there, (1 - there) / (1 - here))


def _one_noise(losses: Any, scale: float, rng: np.random.Generator, *, noised: str) -> np.ndarray:
    """One draw of the noise for all rounds, as in the algorithm that the source starts from."""
    rows = np.cumsum(np.asarray(losses, dtype=float), axis=0)
    if noised == "losses":
        return noisy_totals(losses, scale, rng, noised="losses")
    return rows + rng.laplace(scale=scale, size=rows.shape[1])


FAULTS: dict[str, dict[str, Any]] = {
    "follows the worst": {"plain": lambda losses, rows: follow_the_leader(-losses, rows)},
    "follows the last loss only": {
        "plain": lambda losses, rows: np.array([int(np.argmin(rows @ loss)) for loss in losses])
    },
    "noise of scale ε": {"step": lambda total, rows, b, rng: perturbed_leader(total, rows, 1 / b, rng)},
    "one noise for all coordinates": {
        "step": lambda total, rows, b, rng: int(np.argmin(rows @ (np.asarray(total) + rng.laplace(scale=b))))
    },
    "one noise for all rounds": {"totals": _one_noise},
    "losses noised although the sum is asked for": {
        "totals": lambda losses, b, rng, **_: noisy_totals(losses, b, rng, noised="losses")
    },
    "half of the noise": {"chance": lambda total, ratio: bit_chance(2 * total, ratio)},
    "one-sided noise": {"law": lambda total, epsilon: 2 * np.minimum(cube_law(total, epsilon), 0.5)},
}


CLAIM = Claim(
    id="cgkm.alg-2",
    where="Algorithm 2, Appendix C.1",
    statement="FTPL*(ε) plays in round t + 1 a minimiser over H ⊆ {0,1}ⁿ of ⟨Σ_{r≤t} ℓʳ + ξᵗ, h⟩, ξᵗ "
    "having fresh Lap(1/ε) coordinates in each round; this amounts to releasing the loss "
    "vector by the Laplace mechanism.",
    verdict="corrected",
    finding="It noises each running sum afresh. Release t then moves by a factor of e^(tεΔ), not e^(εΔ): it is "
    "the Laplace mechanism on the sum of t losses. Noise added to each loss once, and kept, is the "
    "Laplace mechanism on the loss, but the noise in the sum grows like √t.",
    chapter="cgkm-ftpl",
    errata=(
        Erratum(
            where="Algorithm 2, initialisation, first and last line of the loop",
            printed="h¹ is initialised, hᵗ is played, ⟨ℓᵗ, dᵗ⟩ is suffered and d^(t + 1) is updated",
            correct="one name for the play of round t",
        ),
    ),
    check=check,
    faults=FAULTS,
)
