"""MPBT, § 2.2: privacy on a random fraction of the data."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.privacy.amplification import amplified, amplified_odds

ODDS = (Fraction(1), Fraction(3, 2), Fraction(2), Fraction(3), Fraction(9))


def constant_slack(constant: int, odds: int, records: int) -> int:
    """Return the sign of c·q·ε − ε′ for randomised response on one of n records, exactly.

    Its subsampled odds are 1 + (e^ε − 1)/n, attained; they are at most e^(cε/n) if and only if
    (n + e^ε − 1)^n ≤ n^n e^(cε).
    """
    return 1 if (records + odds - 1) ** records <= records**records * odds**constant else -1


def check(
    *,
    odds_of: Callable[..., Any] = amplified_odds,
    pair_of: Callable[..., tuple[float, float]] = amplified,
    search: Search,
) -> Evidence:
    """Judge the exact rate on small mechanisms, and the printed O(qε): e − 1 for ε ≤ 1, no constant beyond."""
    _mechanisms(odds_of, search)
    search.part("the printed rate O(qε)")
    for constant in range(1, 13):
        odds = 2 ** (constant // 2 + 4)
        for records in (2, 10, 100, 1000):
            case = {"constant": constant, "odds": odds, "records": records}
            search.under(False, constant_slack(**case), case, verify=constant_slack)
    search.part("the linear rate below ε = 1")
    epsilons, fractions = np.linspace(0.001, 1, 40), np.linspace(0.001, 1, 40)
    for epsilon in epsilons:
        for q in fractions:
            single = float(search.rng.choice([0.0, 1e-9, 1e-5, 0.3]))
            grown, delta = pair_of(float(epsilon), single, float(q))
            case = {"epsilon": epsilon, "fraction": q}
            linear = (math.e - 1) * q * epsilon - grown
            search.under(True, linear, case, verify=constant_slack, tolerance=1e-15)
            search.equal(math.expm1(grown), q * math.expm1(epsilon), case, tolerance=1e-14)
            search.observe(Fraction(delta) - Fraction(float(q)) * Fraction(single), case)  # rounded up
            search.equal(delta, q * single, case, tolerance=1e-15)
    _poisson(search)
    return search.evidence()


@once
def _mechanisms(odds_of: Callable[..., Any], search: Search) -> None:
    """All mechanisms that see how many of m records are 1 and answer yes with a probability in eighths.

    The subset of m of n records is uniform; δ at given odds is exact for both orders of both neighbours.
    """
    search.part("all small mechanisms, exact")
    tight, sizes = 0, ((1, 2), (1, 3), (1, 5), (2, 3), (2, 4), (3, 4))
    for m, n in sizes:
        eighths = np.stack(np.meshgrid(*[np.arange(9)] * (m + 1), indexing="ij"), axis=-1).reshape(-1, m + 1)
        ways = np.array(
            [[math.comb(j, k) * math.comb(n - j, m - k) for k in range(m + 1)] for j in range(n + 1)]
        )
        subsets, q = math.comb(n, m), Fraction(m, n)
        drawn = eighths @ ways.T  # in units of 1/(8·subsets)
        for odds in ODDS:
            inner, grown = _worst(eighths, 8, odds), odds_of(odds, q)
            outer = _worst(drawn, 8 * subsets, grown)
            scale = 8 * subsets * odds.denominator * grown.denominator * q.denominator
            left = np.array([int(x) for x in outer * scale])
            right = np.array([int(x) for x in inner * q * scale])
            search.observe(right - left, {"m": m, "n": n, "odds": odds, "answers": eighths})
            tight += int(((right == left) & (left > 0)).sum())
            # one record is asked by randomised response: the odds are attained
            if m == 1 and odds > 1:
                yes = [(1 - q) / (1 + odds) + q * share for share in (1 / (1 + odds), odds / (1 + odds))]
                search.equal(yes[1] / yes[0], grown, {"n": n, "odds": odds})
    cases = len(ODDS) * sum(9 ** (m + 1) for m, _ in sizes)
    search.exhausts("mechanisms on counts of at most 3 records, answers in eighths, five ε", cases=cases)
    search.fact("attained", tight, "mechanisms that attain qδ")


def _worst(answers: np.ndarray, unit: int, odds: Fraction) -> np.ndarray:
    """Return δ at given odds, as fractions: the largest excess over neighbouring counts and both answers."""
    top, bottom = odds.numerator, odds.denominator
    worst = np.zeros(len(answers), dtype=np.int64)
    for yes in (answers, unit - answers):
        for one, two in ((yes[:, :-1], yes[:, 1:]), (yes[:, 1:], yes[:, :-1])):
            worst = np.maximum(worst, (bottom * one - top * two).max(axis=1))
    return worst.astype(object) * Fraction(1, unit * bottom)


@once
def _poisson(search: Search) -> None:
    """One record, sampled with probability q; the mechanism says whether it saw one, then randomises.

    It is ε-private under replace-one, and stays exactly as private: the answers' odds do not change.
    """
    search.part("Poisson batches under replace-one")
    for odds in ODDS[1:]:
        for q in (Fraction(1, 10), Fraction(1, 2)):
            one = (1 - q, q * odds / (1 + odds), q / (1 + odds))  # nobody there, yes, no
            two = (one[0], one[2], one[1])
            for share in (Fraction(1, 2), Fraction(9, 10), Fraction(1)):
                at = 1 + share * (odds - 1)
                excess = sum(
                    (max(a - at * b, Fraction(0)) for a, b in zip(one, two, strict=True)), Fraction(0)
                )
                case = {"odds": odds, "q": q, "at": at}
                search.equal(
                    excess, q * (odds - at) / (1 + odds), case
                )  # 0 from the unsampled odds on, not before
    search.fact("poisson", "no amplification", "Poisson batches, private under replace-one only")


FAULTS: dict[str, dict[str, Any]] = {
    "nine tenths of the growth": {"odds_of": lambda odds, q: 1 + (odds - 1) * q * Fraction(9, 10)},
    "q² for q": {"odds_of": lambda odds, q: 1 + (odds - 1) * q * q},
    "qε": {"pair_of": lambda e, d, q: (q * e, q * d)},
    "δ of 1e-5 always": {"pair_of": lambda e, d, q: amplified(e, 1e-5 + 0 * d, q)},
    "δ kept": {"pair_of": lambda e, d, q: (amplified(e, d, q)[0], d)},
}


CLAIM = Claim(
    id="mpbt.amplification",
    where="§ 2.2",
    statement="An (ε, δ)-DP mechanism applied to a random fraction q of the data is (O(qε), qδ)-DP.",
    verdict="corrected",
    kind="condition",
    impact="condition",
    because="For ε ≤ 1, where the paper's DP-SGD stands, the order is right with the constant 1.72, for batches of "
    "fixed size.",
    headline="O(qε) holds for ε ≤ 1, with 1.72qε; for large ε no multiple of qε is enough. Exact is ln(1 + q(e^ε − "
    "1)).",
    witness="{records} records, e^ε = {odds}, randomised response on one drawn record: its ε is larger than "
    "{constant} · q · ε.",
    finding="Exact is ε′ = ln(1 + q(e^ε − 1)), δ′ = qδ, for a subset of fixed size under replace-one: "
    "at most 1.72qε for ε ≤ 1, and no multiple of qε for all ε. With Poisson batches a mechanism that "
    "is private under replace-one only may gain nothing.",
    errata=(
        Erratum(
            where="§ 2.2, amplification by subsampling",
            printed="(O(qε), qδ)-DP, for every ε and every way to draw the fraction q",
            correct="(ln(1 + q(e^ε − 1)), qδ)-DP, at most 1.72qε for ε ≤ 1, for a subset of fixed size",
            band="condition",
            why="The odds of randomised response on one of n records grow by (e^ε − 1)/n; a Poisson batch tells its "
            "size.",
        ),
    ),
    chapter="mpbt-output-perturbation",
    check=check,
    faults=FAULTS,
)
