"""CGKM, the remarks: other notions, hard thresholds, (ε, δ), and other weights of fairness and error."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib.claims.cgkm.remarks_all_three import FAULTS as ALL_THREE_FAULTS
from dpfair_lib.claims.cgkm.remarks_all_three import judge_all_three
from dpfair_lib.claims.cgkm.remarks_with_delta import chains_with_delta, exact_with_delta
from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.compatibility.hypotheses_on_points import (
    QUARTERS,
    constant_error,
    error_by_definition,
    gap_by_definition,
    law_count,
    laws,
    reference,
)
from dpfair_lib.compatibility.impossibility.acceptable import (
    acceptable_table,
    hypothesis_grid,
    neighbor_table,
)
from dpfair_lib.compatibility.impossibility.constructions import (
    gap_steps,
    levelled_down,
    sign_pair,
    softened,
    zero_table,
)
from dpfair_lib.compatibility.impossibility.criteria import (
    Criterion,
    beats_constants,
    fair_within,
    opportunity_gap,
    worst_gap,
)
from dpfair_lib.compatibility.impossibility.feasibility import decide
from dpfair_lib.compatibility.impossibility.ladder import least_chain_delta, mass_ladder
from dpfair_lib.compatibility.impossibility.opposites import (
    nested_laws,
    opposite_coins,
    opposite_laws,
    servable,
    usable_within,
)
from dpfair_lib.populations import Population

ALPHA = Fraction(1, 10)
ODDS, PARITY, ACCURATE = fair_within("odds"), fair_within("parity"), beats_constants()


def sample_size_factor(fair: Fraction, error: Fraction) -> Fraction:
    """Return by how much weights of Γ and err stretch the printed sample size at most: max(1, w²), w the larger."""
    return max(Fraction(1), max(fair, error) ** 2)


def check(
    *,
    odds: Criterion = ODDS,
    worst: Callable[..., Any] = worst_gap,
    soften: Callable[..., Any] = softened,
    ladder: Callable[..., Any] = mass_ladder,
    least_delta: Callable[..., Any] = least_chain_delta,
    steps: Callable[..., int] = gap_steps,
    level: Callable[..., Any] = levelled_down,
    weight_factor: Callable[..., Any] = sample_size_factor,
    usable: Callable[..., Any] = usable_within,
    coins: Callable[..., Any] = opposite_coins,
    opposite: Callable[..., Any] = opposite_laws,
    nested: Callable[..., Any] = nested_laws,
    serves: Callable[..., bool] = servable,
    search: Search,
) -> Evidence:
    """Judge each remark: what it extends, and what it does not."""
    _other_notions(odds, search)
    _hard_thresholds(worst, search)
    _softened(soften, search)
    _who_is_constant(search)
    exact_with_delta(search)
    chains_with_delta(ladder, least_delta, search)
    _threshold_with_delta(steps, ladder, search)
    judge_all_three(usable, coins, opposite, nested, serves, ladder, search)
    _weights(level, weight_factor, search)
    return search.evidence()


def printed_slack(table: Any, g: Any, alpha: Fraction) -> int:
    """Return −1 if α-fair, private and better than the constants do go together here, else 0; from the definitions."""
    positive = sum(Fraction(row[a][1]) for row in table for a in (0, 1))
    if 2 * positive <= 1:
        h = [[alpha * Fraction(value) for value in row] for row in g]
    else:
        h = [[1 - alpha * (1 - Fraction(value)) for value in row] for row in g]
    # its gap on any law is a difference of two averages of its values, so at most their spread
    spread = max(abs(one[0] - two[1]) for one in h for two in h)
    return -int(spread <= alpha and error_by_definition(table, h) < constant_error(table))


@functools.cache
def _odds_by_definition() -> np.ndarray:
    """Return which hypotheses have equal rates for both labels: for the label 0, with the labels exchanged."""
    met = []
    for law in laws(5):
        flipped = [[people[::-1] for people in point] for point in law.table.tolist()]
        met.append([gap_by_definition(flipped, h) == 0 for h in hypothesis_grid(2).tolist()])
    return np.array(met) & (reference(5)[0] == 0)


@once
def _other_notions(odds: Criterion, search: Search) -> None:
    """Equalized odds asks for more than equal opportunity; its region of solvable laws still excludes privacy."""
    search.part("other notions")
    hypotheses = hypothesis_grid(2)
    both, expected = acceptable_table(laws(5), hypotheses, odds, None), _odds_by_definition()
    at, h = np.indices(both.shape)
    search.agree(both.ravel(), expected.ravel(), {"law": at.ravel(), "h": h.ravel()})
    search.exhausts(
        "all distributions in fifths and all 16 hypotheses, for equalized odds", cases=law_count(5) * 16
    )
    pair = sign_pair(Fraction(1, 100))
    near = neighbor_table(pair, Fraction(1, 100))
    for criterion in (odds, PARITY):
        met = acceptable_table(pair, hypotheses, criterion, ACCURATE)
        search.agree(met.any(axis=1), np.ones(2, dtype=bool), {"pair": "opposite"})
        search.agree(decide(met, near, 3).feasible, False, {"pair": "opposite"})


@functools.cache
def _extreme_gaps() -> np.ndarray:
    """Return each hypothesis' largest gap on the four laws with each group's positives at one point."""
    attained = []
    for x, z in itertools.product((0, 1), repeat=2):
        table = zero_table(2)
        table[..., 0] = Fraction(1, 8)
        table[x, 0, 1] = table[z, 1, 1] = Fraction(1, 4)
        rows = table.tolist()
        attained.append([gap_by_definition(rows, h) for h in hypothesis_grid(2, levels=QUARTERS).tolist()])
    return np.array(attained, dtype=object).max(axis=0)


def threshold_slack(number: int) -> int:
    """Return −1 if this hypothesis in quarters is fair within ½ on its extreme laws, and not constant; else 0."""
    h = hypothesis_grid(2, levels=QUARTERS)[number]
    return -int(_extreme_gaps()[number] <= Fraction(1, 2) and len(set(h.flat)) > 1)


@once
def _hard_thresholds(worst: Callable[..., Any], search: Search) -> None:
    """Deterministic: a threshold below 1, met on all laws, leaves the constants."""
    search.part("hard thresholds")
    grid = hypothesis_grid(2, levels=QUARTERS)
    ours = np.array([worst(h) for h in grid], dtype=object)
    search.agree(ours == _extreme_gaps(), np.ones(len(grid), dtype=bool), {"h": np.arange(len(grid))})
    deterministic = [h for h in hypothesis_grid(2) if 0 < h.sum() < 4]
    search.agree(
        np.array([worst(h) for h in deterministic]) == 1, np.ones(14, dtype=bool), {"deterministic": "all"}
    )
    halves = hypothesis_grid(2, levels=QUARTERS[::2])
    gaps = reference(5, QUARTERS[::2])[0]
    for number, h in enumerate(halves):
        search.observe(worst(h) - gaps[:, number], {"h": h.tolist(), "law": np.arange(len(gaps))})
    search.exhausts(
        "all hypotheses in quarters on the distributions that are extreme for them; "
        "all distributions in fifths, values 0, ½, 1",
        cases=5**4 + 14 + law_count(5) * 3**4,
    )


@once
def _softened(soften: Callable[..., Any], search: Search) -> None:
    """Mixed with the better constant, what is accurate stays so, and its gap on any law is as small as one likes."""
    search.part("softened hypotheses")
    solved = 0
    _, errors, constant = reference(5)
    for law, row, least in zip(laws(5), errors, constant, strict=True):
        for number in np.flatnonzero(row < least)[:2]:
            g = hypothesis_grid(2)[number]
            for alpha in (Fraction(3, 7), Fraction(1), ALPHA) if solved % 8 == 0 else (ALPHA,):
                case = {"table": law.table.tolist(), "g": g.tolist(), "alpha": alpha}
                h = soften(law, g, alpha)
                # of a deterministic g the worst gap is 1
                search.equal(worst_gap(h), alpha, case)
                search.equal(
                    error_by_definition(law.table, h), alpha * row[number] + (1 - alpha) * least, case
                )
            solved += 1
    search.against(printed_slack(**case), case, verify=printed_slack)
    search.fact(
        "softened",
        solved,
        "accurate hypotheses softened to Γ ≤ 1/10 on every distribution, and still better on theirs",
    )


@once
def _who_is_constant(search: Search) -> None:
    """The remark: a hypothesis that is fair within ½ on all laws is constant. It holds for deterministic ones."""
    search.part("thresholds on all laws")
    grid = hypothesis_grid(2, levels=QUARTERS)
    certain = np.array([set(h.flat) <= {0, 1} for h in grid])
    slacks = np.array([threshold_slack(number) for number in range(len(grid))])
    search.under(certain, slacks, {"number": np.arange(len(grid))}, verify=threshold_slack)


@functools.cache
def _nearest_unfair() -> np.ndarray:
    """Return the distance of each law in fifths to the nearest with Γ(h) > ½, where Γ(h) ≤ ½; else 2."""
    gaps = reference(5)[0]
    rows = np.array([[int(5 * value) for value in law.table.flat] for law in laws(5)])
    apart = abs(rows[:, None] - rows[None]).sum(axis=-1)  # in tenths
    nearest = np.full(gaps.shape, 20)
    for column in range(gaps.shape[1]):
        unfair = gaps[:, column] > Fraction(1, 2)
        if unfair.any():
            nearest[~unfair, column] = apart[~unfair][:, unfair].min(axis=1)
    return np.asarray(np.vectorize(Fraction, otypes=[object])(nearest, 10))


@once
def _threshold_with_delta(steps: Callable[..., int], ladder: Callable[..., Any], search: Search) -> None:
    """With a threshold α > 0 the first unfair law is many steps away, and a tiny δ is enough."""
    search.part("thresholds with δ")
    zeta, half = Fraction(1, 100), Fraction(1, 2)
    nearest = _nearest_unfair()
    for number, column in np.argwhere(nearest < 2)[::5]:  # 2 stands for no law in fifths at all
        law, h = laws(5)[number], hypothesis_grid(2)[column]
        # in one step less than these no unfair law can be met
        slack = nearest[number, column] - (steps(law, h, half, zeta) - 1) * zeta
        search.observe(slack, {"table": law.table.tolist(), "h": h.tolist()})
    centre = Population.from_table(zero_table(2) + Fraction(1, 8))
    h = hypothesis_grid(2)[3]  # h = x
    reach = steps(centre, h, ALPHA, Fraction(1, 10_000))
    search.equal(reach, 125, {"alpha": ALPHA, "zeta": Fraction(1, 10_000)})
    delta = Fraction(1, 10**12)
    climbing = ladder(reach, factor=Fraction(5, 2), delta=delta)  # below e, so ε < 1
    certain = next((k for k, q in enumerate(climbing) if q == 1), None)
    search.agree(certain is not None, True, {"delta": delta})
    exactly = ladder(reach, factor=Fraction(1), delta=delta)[-1]
    search.equal(exactly, reach * delta, {"factor": 1})
    search.fact(
        "safe_steps",
        reach,
        "steps of 1/10000 that keep Γ(h = x) below 1/10 on the uniform distribution, at least",
    )
    if certain is not None:
        search.fact(
            "certain_after", certain, "steps after which e^ε = 5/2 and δ = 10⁻¹² allow h with probability 1"
        )


@once
def _weights(level: Callable[..., Any], weight_factor: Callable[..., Any], search: Search) -> None:
    """Weights w stretch the terms of the sample size by max(1, w²); and how little the optimum depends on them."""
    search.part("weights")
    tables = np.stack([law.table for law in laws(5)])[::2]
    halves = hypothesis_grid(2, levels=QUARTERS[::2])[::4]
    gaps, errors, _ = (values[::2] for values in reference(5, QUARTERS[::2]))
    fairer = level(tables[:, None], halves[None])
    wrong = tables[:, None, ..., 1] * (1 - fairer) + tables[:, None, ..., 0] * fairer
    price = wrong.sum(axis=(-2, -1)) - errors[:, ::4]
    most = tables[..., 1].sum(axis=-2).max(axis=-1)
    at, number = (index.ravel() for index in np.indices(price.shape))
    case = {"law": 2 * at, "h": 4 * number}
    search.equal(opportunity_gap(tables[:, None], fairer).ravel(), 0, case)
    search.observe((most[:, None] * gaps[:, ::4] - price).ravel(), case)
    grid = [Fraction(1, 4), Fraction(1), Fraction(3)]
    for fair, error, alpha, least, sensitivity in itertools.product(grid, grid, grid, QUARTERS[1:3], grid):
        # with w = max(fair, error): a deviation of u_w by ρ needs one of ρ/w in Γ + err, and Δu_w ≤ w·Δu
        w = max(fair, error)
        terms = [1 / (alpha**2 * least), sensitivity / alpha, Fraction(1)]
        stretched = [1 / ((alpha / w) ** 2 * least), w * sensitivity / alpha, Fraction(1)]
        factor = weight_factor(fair, error)
        case = {"fair": fair, "error": error, "alpha": alpha, "least": least, "sensitivity": sensitivity}
        search.observe(factor * max(terms) - max(stretched), case)
        if w >= 1:
            search.equal(stretched[0], factor * terms[0], case)


FAULTS: dict[str, dict[str, Any]] = {
    "odds without the negatives": {"odds": fair_within("opportunity")},
    "parity for odds": {"odds": fair_within("parity")},
    "spread within the groups": {"worst": lambda h: max(abs(h[0, 0] - h[1, 0]), abs(h[0, 1] - h[1, 1]))},
    "worst gap on the uniform law": {"worst": lambda h: abs(h.sum(axis=0)[0] - h.sum(axis=0)[1]) / 2},
    "not softened": {"soften": lambda _, g, alpha: g + 0 * alpha},
    "softened to one threshold": {"soften": lambda law, g, alpha: softened(law, g, ALPHA + 0 * alpha)},
    "softened by α²": {"soften": lambda law, g, alpha: softened(law, g, alpha**2)},
    "softened towards the worse constant": {
        "soften": lambda law, g, alpha: 1 - alpha * (1 - g) if 2 * law.table[..., 1].sum() <= 1 else alpha * g
    },
    "ladder without the lower half's condition": {
        "ladder": lambda steps, *, factor, delta: [
            min(delta * sum(factor**j for j in range(k)), Fraction(1)) for k in range(steps + 1)
        ]
    },
    "ladder adds δ alone": {
        "ladder": lambda steps, *, factor, delta: mass_ladder(steps, factor=1 + 0 * factor, delta=delta)
    },
    "least δ of a straight climb": {"least_delta": lambda steps, *, factor: 1 / Fraction(steps) + 0 * factor},
    "least δ without the way down": {
        "least_delta": lambda steps, *, factor: 1 / sum((factor**j for j in range(steps)), 0 * factor)
    },
    "twice as many steps": {"steps": lambda *arguments: 2 * gap_steps(*arguments)},
    "room of a group's share of one": {
        "steps": lambda law, h, alpha, zeta: int((alpha - opportunity_gap(law.table, h)) / zeta)
    },
    "levelled up to the other group's rate": {"level": lambda table, h: h + 0 * table[..., 0]},
    "nobody selected": {"level": lambda table, h: 0 * h * table[..., 0]},
    "weights stretch linearly": {"weight_factor": lambda fair, error: max(1, fair, error)},
    "sum of the weights": {"weight_factor": lambda fair, error: (fair + error) ** 2},
    **ALL_THREE_FAULTS,
}


CLAIM = Claim(
    id="cgkm.remarks",
    where="§ 3, after Theorem 1; § 4, footnote 4 and after Theorem 2",
    statement="Theorem 1 extends to equalized odds and, by the same proof, to hard thresholds on other "
    "notions; small δ > 0 does not help; other weights of Γ and err change Theorem 2's n only "
    "by a constant.",
    statement_uses=("cgkm.thm-1.statement", "cgkm.thm-2.sample-size"),
    proof_uses=("cgkm.thm-1.proof",),
    verdict="corrected",
    finding="Equalized odds: true. Γ ≤ α < 1 on all distributions, if all (x, a, y) occur: deterministic, "
    "only constants; but α·h (or 1 − α·(1 − h)) is α-fair everywhere, needs no data, and beats the constants "
    "where h does. δ > 0: h gets at most δ under exact fairness, up to 1 under a threshold many steps of ζ "
    "away, a constant near it. Fair within α ≥ 0 and accurate, always: for no δ < 1 once two deterministic h "
    "in H are not constant and (α > 0) not the group, (α = 0) select in each group. Weights: a factor max(1, "
    "w²).",
    chapter="cgkm-thm-1",
    headline="Hard thresholds exclude privacy and accuracy for deterministic hypotheses only; a softened one "
    "is α-fair on every distribution and needs no data.",
    witness="On two points and two groups the labels 0 and 1 have the probabilities: {table:point,group}. The "
    "hypothesis has the values: {g:point,group}. It is softened by the tolerance α = {alpha}. It is α-fair on "
    "every distribution, private since it uses no data, and "
    "better than the constants here.",
    kind="condition",
    impact="condition",
    because="Equalized odds, (ε, δ) and the weights stand; the remark on thresholds needs deterministic "
    "hypotheses.",
    errata=(
        Erratum(
            where="§ 3, after Theorem 1, on hard thresholds",
            printed="the same proof excludes privacy with other notions and hard thresholds",
            correct="for deterministic hypotheses; α·h, or 1 − α·(1 − h), is within any threshold α on every "
            "distribution, and beats the constants where h does",
            band="condition",
            why="A randomised hypothesis can be as close to a constant as the threshold asks.",
        ),
    ),
    check=check,
    faults=FAULTS,
)
