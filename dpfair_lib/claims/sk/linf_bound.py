"""SK, § 5: noise on support vectors is no noise on the joint law, and what two tails add up to if it were."""

from __future__ import annotations

import copy
import itertools
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from sklearn.svm import SVC

from dpfair_lib.claims.ledger import Claim, Erratum
from dpfair_lib.claims.search import Evidence, Search
from dpfair_lib.claims.shared.svm.noisy_tables import TURNED, TURNED_SHOWN, printed_tails, turned_around
from dpfair_lib.privacy.laplace_vector import largest_error_bound, largest_error_tail
from dpfair_lib.svm.linf_bounds import sum_of_tails_failure, svm_linf_bound
from dpfair_lib.svm.perturbation import SupportVectorPerturbation, flippable_share

BETAS = tuple(Fraction(i, 20) for i in range(1, 20))
SIZES = ((1, 1), (3, 2), (100, 5))  # (m, k), as far as only their ratio counts
# one group is the worst: max|W|/scale − ln(2|A|) gets stochastically smaller with |A|
ADDED = [(1, size) for size in (*SIZES, (10, 9), (2, 1), (5, 1))] + [(2, (1, 1)), (5, (3, 2))]


def check(
    *,
    bound: Callable[..., float] = svm_linf_bound,
    failure: Callable[..., float] = sum_of_tails_failure,
    share: Callable[..., float] = flippable_share,
    search: Search,
) -> Evidence:
    """Judge the printed bound where nothing but the support vectors moves, count its events, and defend ours."""
    _two_tails(failure, search)
    _vectors_fly_away(bound, search)
    _linear_machine(search)
    _our_bound(bound, search)
    _what_can_flip(share, search)
    _whole_bound(bound, share, search)
    return search.evidence()


def _two_tails(failure: Any, search: Search) -> None:
    """As if the second noise were added to two outputs: both thresholds fail too often, their sum does not."""
    search.part("two tails")
    both_over, worst = Fraction(0), 0.0
    for (groups, (m, k)), beta in itertools.product(ADDED, BETAS):
        chosen = {"n_groups": groups, "m": m, "k": k, "beta": float(beta)}
        exact = 1 - (1 - beta / (2 * groups)) ** (2 * groups) * (1 - beta / 2) ** 2
        search.sanity(-abs(failure(**chosen, event="both") - float(exact)), chosen, tolerance=1e-12)
        search.sanity(2 * beta - exact, chosen)
        if beta <= Fraction(1, 2):  # near 1 the union bounds waste more than that
            search.sanity(exact - beta, chosen)
        both_over = max(both_over, exact / beta)
        found = failure(**chosen)
        search.sanity(-abs(found - by_quantiles(groups, m, k, float(beta))), chosen, tolerance=2e-4)
        search.sanity(float(beta) - found, chosen)
        worst = max(worst, found / float(beta))
    search.fact(
        "both_tails", float(both_over), "if the noise were added: both tails at once fail at most so many β"
    )
    search.fact("sum_of_tails", worst, "their sum fails at most so many β")


def by_quantiles(groups: int, m: int, k: int, beta: float) -> float:
    """Return P(max|W| + max|V| > the printed sum) as a mean over equally likely values of max|V|."""
    middle = (np.arange(20_000) + 0.5) / 20_000
    largest = -np.log1p(-np.sqrt(middle))  # in units of its scale
    left = (math.log(2 / beta) - largest) * m / k + math.log(2 * groups / beta)
    return float(np.mean(1 - (1 - np.exp(-np.maximum(left, 0))) ** (2 * groups)))


def _vectors_fly_away(bound: Any, search: Search) -> None:
    """A narrow kernel: with probability near 1 no noisy vector is near a record, and the intercept decides for all."""
    search.part("the law moves by 1")
    for m in (20, 100, 1000):
        width = Fraction(1, 10**9)
        slack = flown_slack(m, width)
        search.against(slack, {"m": m, "width": width}, verify=flown_slack)
        promised = bound(n_groups=2, m=m, k=m, epsilon=1.0, beta=1 / 16)
        search.sanity(-abs(promised - 22 * math.log(2) / m), {"m": m}, tolerance=1e-12)
    search.fact("printed", round(promised, 5), "1000 records, β = 1/16: printed bound")
    search.fact("moves_by", 1 - 3 / 1000, "1000 records, β = 1/16: the joint distribution moves by")
    search.fact("moves_with", float(Fraction(1, 16) - slack), "with probability at least")


def _linear_machine(search: Search) -> None:
    """The same bound for a linear machine with a tiny feature, whose predictions all turn around."""
    search.part("a linear machine")
    search.against(turned_slack(**TURNED), TURNED, verify=turned_slack, reading="a linear machine")


def turned_slack(m: int, groups: int, beta: Fraction, epsilon: Fraction, feature: Fraction) -> Fraction:
    """Return β minus a chance, from below, that a cell moves from 1/(2|A|) to 0: more than the printed bound 2L."""
    moved = Fraction(1, 2 * groups) > 2 * printed_tails(m, groups, beta, epsilon)
    return beta - (turned_around(m, epsilon, feature) if moved else 0)


def flown_slack(m: int, width: Fraction) -> Fraction:
    """Return β less a lower bound on P(‖q̂ − q̃‖∞ > printed bound), for β = 1/16, ε = 1, |A| = 2, k = m.

    Kernel max(0, 1 − |u|/width). m − 2 positives lie at 0, all but one in group 0, and one negative at ½ and at 1 each;
    group 1 has one of each. With α = 2/3 for each negative, 4/3 for the positives together and b = −1/3 all records
    are on the margin: all are support vectors. A noisy vector has a density of at most mε/4, so some of them come
    within the width of one of the three places with probability at most m·3·2·width·mε/4. Otherwise all get the sign
    of b, and q̃(1, 0, 1) is 0 whatever the noise on the cells is.
    """
    places, alphas, intercept = (
        (Fraction(0), Fraction(1, 2), Fraction(1)),
        (Fraction(4, 3), Fraction(2, 3), Fraction(2, 3)),
        -Fraction(1, 3),
    )
    signs = (1, -1, -1)
    assert width < Fraction(1, 2)
    assert sum(s * a for s, a in zip(signs, alphas, strict=True)) == 0
    for place, sign in zip(places, signs, strict=True):
        kernel = [max(Fraction(0), 1 - abs(place - other) / width) for other in places]
        score = sum(s * a * value for s, a, value in zip(signs, alphas, kernel, strict=True)) + intercept
        assert sign * score == 1
    # e^0.7 > 1 + 0.7 + 0.7²/2 + 0.7³/6 > 2, so that ln 2 < 0.7
    assert 1 + Fraction(7, 10) + Fraction(49, 200) + Fraction(343, 6000) > 2
    promised = Fraction(2, m) * (6 + 5) * Fraction(7, 10)  # 2 ln(64)/m + 2 ln(32)/m
    moved = Fraction(m - 3, m)
    near = m * 3 * 2 * width * Fraction(m, 4)
    return Fraction(1, 16) - (1 - near if moved > promised else 0)


def _our_bound(bound: Any, search: Search) -> None:
    """Noise on the cells exceeds its part with probability sβ at most; and the two changes add up."""
    search.part("our bound")
    for groups, (m, k), beta, part in itertools.product((1, 2, 5), SIZES, BETAS, (0.1, 0.5, 0.9)):
        chosen = {"n_groups": groups, "m": m, "k": k, "epsilon": 0.5, "beta": float(beta)}
        cells = bound(**chosen, kind="corrected", flippable=0.0, share=part)
        tail = largest_error_tail(cells, 4 / m, 2 * groups)
        search.observe(part * float(beta) - tail, chosen | {"share": part}, tolerance=1e-12)
        with_flips = bound(**chosen, kind="corrected", flippable=0.25, share=part)
        search.equal(with_flips - cells, 0.25, chosen, tolerance=1e-12)
    # q̃·r̃ against q̂·r̂ for all cells and rates on a grid; noisy cells may be negative
    grid = [Fraction(i, 4) for i in range(-2, 7)]
    rates = grid[2:7]
    for noisy, cell, rate, moved in itertools.product(grid, rates, rates, rates):
        case = {"noisy": noisy, "cell": cell, "rate": rate, "moved": moved}
        search.observe(abs(noisy - cell) + cell * abs(moved - rate) - abs(noisy * moved - cell * rate), case)
    search.exhausts(
        "noisy cells from −½ to 1½, cells and rates before and after, all in quarters", cases=9 * 5**3
    )


def _what_can_flip(share: Any, search: Search) -> None:
    """Within the box that holds all noise, a record counts as one that can flip exactly if the worst noise does it."""
    search.part("what can flip")
    for number in range(4 * search.effort):
        svc, X, y, groups = _machine(search.rng)
        if number % 2:  # other people in the cells than those that the machine was trained on
            other = search.rng.spawn(1)[0]
            y, groups = other.permutation(y), other.permutation(np.repeat([0, 1], (20, 28)))
        for epsilon, beta in ((2.0, 0.1), (20.0, 0.1), (200.0, 0.01)):
            k, d = svc.support_vectors_.shape
            reach = largest_error_bound(beta, 2 / (k * epsilon), k * d, "printed")
            flips = [worst_noise_flips(svc, x, reach) for x in X]
            cells = [(a, b) for a in (0, 1) for b in (0, 1)]
            worst = max(np.mean(np.array(flips) & (groups == a) & (y == b)) for a, b in cells)
            found = share(svc, X, y, sensitive_features=groups, epsilon=epsilon, failure=beta)
            case = {"epsilon": epsilon, "beta": beta}
            search.equal(found, float(worst), case, tolerance=1e-12)


def worst_noise_flips(svc: SVC, x: np.ndarray, reach: float) -> bool:
    """Return whether noise of at most `reach` in every coordinate can change the sign of the score at x."""
    side = np.sign(svc.decision_function(x[None])[0])
    moved = copy.deepcopy(svc)
    moved.support_vectors_ = svc.support_vectors_ - reach * side * np.sign(np.outer(svc.dual_coef_[0], x))
    return bool(side * moved.decision_function(x[None])[0] <= 0)


def _machine(rng: np.random.Generator, unit: float = 1.0) -> tuple[SVC, np.ndarray, np.ndarray, np.ndarray]:
    groups, y = np.arange(48) % 2, np.arange(48) // 2 % 2
    X = (rng.normal(size=(48, 2)) + 2.0 * y[:, None]) / unit
    return SVC(kernel="linear", C=unit**2).fit(X, y), X, y, groups


def _whole_bound(bound: Any, share: Any, search: Search) -> None:
    """Draws of the whole method: the share beyond our bound, which is not below β only by chance."""
    search.part("draws of the method")
    # the features in another unit: the same machine, and noise that is ten times as large relative to it
    svc, X, y, groups = _machine(search.rng, unit=10.0)
    epsilon, beta, draws = 20.0, 0.1, 150
    k = len(svc.support_vectors_)
    flippable = share(svc, X, y, sensitive_features=groups, epsilon=epsilon, failure=beta / 2)
    limits = [
        bound(n_groups=2, m=48, k=k, epsilon=epsilon, beta=beta, kind=kind, flippable=flippable)
        for kind in ("printed", "corrected")
    ]
    predicted = svc.predict(X)
    exact = np.array(
        [
            [[np.mean((predicted == p) & (groups == a) & (y == b)) for b in (0, 1)] for a in (0, 1)]
            for p in (0, 1)
        ]
    )
    moved = []
    for _ in range(draws):
        machine = SupportVectorPerturbation(svc, epsilon=epsilon).perturb(search.rng)
        q, _ = machine.noisy_joint(X, y, sensitive_features=groups, rng=search.rng)
        moved.append(abs(q - exact).max())
    over = [int(np.sum(np.array(moved) > limit)) for limit in limits]
    # more than this many of 150 have a probability below 1e-9 at β = 0.1
    search.observe(40 - over[1], {"beyond our bound": over[1]})
    search.fact(
        "beyond_printed",
        over[0],
        "48 records on a plane, ε = 20, β = 0.1: draws beyond the printed bound, of 150",
    )
    search.fact("beyond_ours", over[1], "beyond ours")


FAULTS: dict[str, dict[str, Any]] = {
    "half of β forgotten": {
        "bound": lambda *, kind="printed", share=0.5, **chosen: svm_linf_bound(
            kind=kind, share=1 - 1e-12 if kind == "corrected" else share, **chosen
        )
    },
    "flips left out": {
        "bound": lambda *, flippable=1.0, **chosen: svm_linf_bound(flippable=0 * flippable, **chosen)
    },
    "four times |A| cells in the printed one": {
        "bound": lambda *, n_groups, kind="printed", **chosen: svm_linf_bound(
            n_groups=2 * n_groups if kind == "printed" else n_groups, kind=kind, **chosen
        )
    },
    "the sum taken for both": {"failure": lambda **chosen: sum_of_tails_failure(**chosen | {"event": "sum"})},
    "one cell": {
        "failure": lambda *, n_groups, event="sum", **chosen: sum_of_tails_failure(
            n_groups=1 + 0 * n_groups, event=event, **chosen
        )
    },
    "tail of one coordinate": {
        "share": lambda svc, X, y, *, failure, **chosen: flippable_share(
            svc, X, y, failure=min(failure * svc.support_vectors_.size, 0.999), **chosen
        )
    },
    "nobody's label looked at": {
        "share": lambda svc, X, y, **chosen: flippable_share(svc, X, np.sort(y), **chosen)
    },
    "groups in another order": {
        "share": lambda svc, X, y, *, sensitive_features, **chosen: flippable_share(
            svc, X, y, sensitive_features=np.sort(sensitive_features), **chosen
        )
    },
    "half of the noise": {
        "share": lambda svc, X, y, *, epsilon, **chosen: flippable_share(
            svc, X, y, epsilon=2 * epsilon, **chosen
        )
    },
}


CLAIM = Claim(
    id="sk.linf-bound",
    where="§ 5 and Appendix A, after Claim A.1",
    statement="With probability at least 1 − β, ‖q̂ − q̃‖∞ ≤ 2 ln(2|A|/β)/(mε) + 2 ln(2/β)/(kε), for "
    "|A| groups, m points and k support vectors: the sum of the two perturbations' tails.",
    statement_uses=("sk.alg-1-privacy",),
    proof_uses=("cgkm.laplace", "sk.claim-a1", "sk.scaling"),
    verdict="corrected",
    finding="Noise on a vector is no noise on the joint distribution: that can move by nearly 1 with "
    "probability nearly 1. True: 2 ln(4|A|/β)/(mε) plus the share, in one cell, that a linear machine's "
    "noise can flip at β/2. Were the noise added to two outputs, both tails would hold at 1 − 2β only, but, "
    "on the grid of the check, their sum fails with less than β.",
    headline="The printed bound is none: for 1000 records it says 0.015, yet the joint distribution moves by "
    "0.997 with probability at least 0.998.",
    witness="{m} records and a narrow kernel of width {width}. Noise moves the support vectors out of its "
    "reach, and the joint distribution moves by more than the printed bound.",
    kind="replaced",
    impact="conclusion",
    because="Section 5 and Lemma A.2 build every guarantee of Algorithm 1 on this bound, which fails at ε = 1.",
    shown_by="moves_by",
    chapter="sk-linf-bound",
    errata=(
        Erratum(
            where="§ 5, and Appendix A after Claim A.1",
            printed="‖q̂ − q̃‖∞ ≤ 2 ln(2|A|/β)/(mε) + 2 ln(2/β)/(kε) with probability 1 − β",
            correct="2 ln(4|A|/β)/(mε) plus the largest share of a cell that the noise on a linear machine can flip",
            band="result",
            why="Noise on support vectors is not added to the joint distribution: it moves the score, and "
            "can flip everyone.",
            shown=TURNED_SHOWN
            + "assert turned > beta and 0.25 > 2 * L  # a cell moves from ¼ to 0, more than the bound",
        ),
    ),
    check=check,
    faults=FAULTS,
)
