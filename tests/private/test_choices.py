"""The exponential learner: how steeply it prefers small losses, and what that costs the worst neighbours.

The learner hands scores to the sampler, whose law is softmax: P(h) ∝ e^score. All scores are seen here at that call,
and the laws of neighbours compared outcome by outcome.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import logsumexp
from watching import watched

import dpfair_lib as dpf

PLACES = 4  # different rows; a hypothesis answers each of them with 0 or 1
HYPOTHESES = [
    (lambda X, _, answers=answers: np.array(answers, dtype=float)[np.asarray(X)[:, 0].astype(int)])
    for answers in itertools.product((0, 1), repeat=PLACES)
]


def scores(rows, epsilon, repair, noisy=0.0, hypotheses=HYPOTHESES, delta=0.0):
    """Return what is handed to the choice, and the statement; the count is answered with `noisy`."""
    places, labels, groups = (np.array(column) for column in zip(*rows, strict=True))
    learner = dpf.ExponentialFairLearner(hypotheses, epsilon=epsilon, delta=delta, repair=repair)
    with watched(lambda kind, _: 0 if kind == "choice" else [noisy]) as requests:
        learner.fit(places[:, None], labels, sensitive_features=groups)
    assert [request.kind for request in requests] == (
        ["choice"] if repair == "pure" else ["laplace", "choice"]
    )
    return requests, learner


def loss(rows, answers):
    """Error plus the difference of true positive rates, in fractions."""
    wrong = Fraction(sum(answers[place] != label for place, label, _ in rows), len(rows))
    cells = [[answers[place] for place, label, group in rows if label == 1 and group == a] for a in (0, 1)]
    if not all(cells):
        return wrong
    return wrong + abs(Fraction(sum(cells[0]), len(cells[0])) - Fraction(sum(cells[1]), len(cells[1])))


def smallest(rows):
    return min(sum(1 for _, label, group in rows if label == 1 and group == a) for a in (0, 1))


SAMPLES = [
    [(0, 1, 0), (1, 1, 1), (2, 0, 0), (3, 0, 1)],
    [(0, 1, 0), (1, 1, 0), (2, 1, 1), (3, 1, 1), (3, 0, 0)],
    [(0, 1, 0), (1, 1, 0), (2, 1, 0), (3, 0, 0)],  # one group only
]


@pytest.mark.parametrize("rows", SAMPLES, ids=["one each", "two each", "one group"])
@pytest.mark.parametrize("repair", ["pure", True, False])
def test_the_slope(rows, repair):
    n, m = len(rows), smallest(rows)
    if repair is False and m < 2:
        return
    exact = np.array([loss(rows, answers) for answers in itertools.product((0, 1), repeat=PLACES)])
    for epsilon, delta, noisy in [(0.7, 1e-2, 9.0), (2.0, 0.3, -4.0), (0.3, 1e-3, 40.0)]:
        requests, learner = scores(rows, epsilon, repair, noisy, delta=0.0 if repair == "pure" else delta)
        statement = learner.privacy_statement_
        each = Fraction(statement.epsilon) / 2  # one half for the count, the other for the choice
        if repair == "pure":
            due = -float(2 * each * m / 5) * exact.astype(float)
            assert statement.delta == 0
        else:
            assert requests[0].scale == pytest.approx(float(1 / each), rel=1e-15)  # the count moves by 1
            assert requests[0].values.tolist() == [m]
            # P(Lap(1/ε) > s) = e^(−εs)/2 is δ at s = ln(1/(2δ))/ε; the printed shift is ln(1/δ)/ε
            less = math.log((0.5 if repair else 1) / statement.delta) / float(each)
            count = noisy - max(less, 0)
            assert learner.noisy_count_ == pytest.approx(count, rel=1e-14)
            if repair:
                count = max(count, 1)
                scale = max(2 / (count + 1), 1 / count + 1 / n)
            else:
                scale = 2 / (count - 1) + 1 / n
            due = -float(each) / (2 * scale) * exact.astype(float)
        assert requests[-1].values == pytest.approx(due, rel=1e-12, abs=1e-15)


def test_the_scale_is_the_joint_sensitivity_at_a_smaller_count():
    # all samples of five rows, each row by its prediction, label and group, and all neighbours
    n, kinds = 5, list(itertools.product((0, 1), (0, 1), (0, 1)))
    found = {
        rows: (smallest(rows), loss(rows, (0, 1)))
        for rows in itertools.combinations_with_replacement(kinds, n)
    }
    moved = {}
    for rows, (count, u) in found.items():
        for at, other in itertools.product(range(n), kinds):
            other_count, other_u = found[tuple(sorted((*rows[:at], *rows[at + 1 :], other)))]
            least = min(count, other_count)
            moved[least] = max(moved.get(least, 0), abs(u - other_u))
    # a count of 0 is raised to 1; the largest move is attained
    assert moved == {m: max(Fraction(2, m + 1), Fraction(1, m) + Fraction(1, n)) for m in (1, 2)} | {
        0: moved[0]
    }
    assert moved[0] <= 1 + Fraction(1, n)


def worst_log_ratio(rows, other, epsilon):
    """Return the largest |ln P(h)/P′(h)| of the pure learner with two hypotheses, the one copied very often."""
    found = 0.0
    requests, _ = scores(rows, epsilon, "pure")
    one = requests[-1].values
    requests, _ = scores(other, epsilon, "pure")
    two = requests[-1].values
    moved = one - two
    # among copies of the hypothesis whose score falls most, the other one's probability moves by the whole range
    best, least = int(np.argmax(moved)), int(np.argmin(moved))
    copies = 1e9
    for h in (best, least):
        rival = least if h == best else best
        law = [s[h] - logsumexp([s[h], s[rival] + math.log(copies)]) for s in (one, two)]
        found = max(found, abs(law[0] - law[1]))
    return found


def test_the_pure_slope_costs_what_is_stated_and_twice_the_slope_more():
    # many in one group, few in the other, one of the few replaced
    epsilon, found = 0.5, []
    for many, few in ((4, 3), (12, 6)):
        base = [(place % 2, 1, 0) for place in range(many)] + [(2, 1, 1)] * (few - 1)
        rows = [(2, 1, 1), (3, 1, 1), (2, 0, 1), (3, 0, 1), (3, 1, 0), (0, 0, 0)]
        for last, other in itertools.permutations(rows, 2):
            found.append(worst_log_ratio([*base, last], [*base, other], epsilon))
    assert max(found) <= 2 * epsilon
    assert max(found) > 0.55 * 2 * epsilon  # so that twice the slope would cost more than is stated
