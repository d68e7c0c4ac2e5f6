"""The game beside the public code as run: SaeedSharifiMa/FairDP, its exponentiated gradient, at commit 8c984e2f.

It ran unchanged with the Python and the libraries of its time, on rows that the seeds here make anew. A round of its
game and a round of ours are the same functions. The games are not: it answers with the best classifier of all so far.
"""

import math

import numpy as np
import pytest

from dpfair_lib import PrivateExponentiatedGradient
from dpfair_lib.learners.constrained import exponentiated_gradient
from dpfair_lib.learners.constrained.reduction_game import Auditor, Deviations

ALLOWED, BOUND = 0.02, 2.0
# Each round without noise: prices of all groups, gaps to the rate of all that the auditor sees, weights of the answer
# to the prices, and its gaps between groups. Prices and gaps are those of group 0 and 1, for each label where there
# are two. Weights are the difference of its two regressions, times the mean size of a cost.
AS_RUN = {
    ("equalized_odds", 4): [
        ([0.0, 0.0, 0.0, 0.0], [-0.0851851852, 0.2433862434, -0.1666666667, 0.3333333333],
         [0.5384365083, -0.0415168093, -0.2798240906], [0.3285714286, 0.5]),
        ([-0.0369734261, 0.1065554843, -0.0725868619, 0.1471946972],
         [-0.0851851852, 0.2433862434, -0.1666666667, 0.3333333333],
         [0.3680043486, 0.0630061351, -0.2264446257], [0.3785714286, 0.5714285714]),
        ([-0.0692759122, 0.2048484257, -0.1373981531, 0.2902046484],
         [-0.0981481481, 0.2804232804, -0.1666666667, 0.3333333333],
         [0.2077138024, 0.1603981336, -0.176285127], [0.2785714286, 0.2857142857]),
        ([-0.0979850123, 0.3045669222, -0.1878867374, 0.4237319272],
         [0.1962962963, -0.5608465608, 0.1428571429, -0.2857142857],
         [0.0566122038, 0.254316428, -0.1289001715], [-0.3071428571, 0.0]),
        ([-0.0295269358, 0.0848888268, -0.1490066083, 0.3172220413],
         [-0.0481481481, 0.1375661376, -0.0476190476, 0.0952380952],
         [0.2656710005, 0.0943651817, -0.1958962991], [0.3285714286, 0.4285714286]),
    ],
    ("demographic_parity", 1): [
        ([0.0, 0.0], [-0.1212121212, 0.2666666667], [0.6429602784, 0.0841897092, -0.3093145697], [0.3878787879]),
        ([-0.0951810112, 0.2113708499], [-0.1212121212, 0.2666666667],
         [0.4444104985, 0.1601642834, -0.2381982702], [0.2848484848]),
        ([-0.1816362956, 0.4147407945], [-0.0170454545, 0.0375],
         [0.2551920142, 0.2325682608, -0.170424242], [0.0545454545]),
        ([-0.1920753016, 0.4409271427], [0.0037878788, -0.0083333333],
         [0.2310735142, 0.2417971441, -0.1617855093], [-0.0121212121]),
    ],
}  # fmt: skip
EXACT = 1e-9  # of figures that are recorded with ten digits after the point


def drawn(seed, d=2, n=48):
    """Return the rows on which the public code ran."""
    rng = np.random.default_rng(seed)
    second = (rng.random(n) < 0.4).astype(int)
    X = rng.normal(size=(n, d))
    X[:, :2] += np.column_stack([second, -second])
    X = np.clip(np.rint(64 * X) / 64, -2.5, 2.5)
    return X, (X[:, 0] + rng.normal(size=n) > 0.5).astype(int), second


def priced(rounds, allowed=ALLOWED, rate=1.0):
    """Return the largest difference of the prices of groups that our auditor asks, round by round, from theirs."""
    auditor, differences = Auditor(len(rounds[0][0]), allowed, BOUND, rate), []
    for prices, gaps, _, _ in rounds:
        differences.append(abs(auditor.multipliers() - prices).max())
        auditor.see(np.array(gaps))
    return max(differences)


class Told:
    """An auditor whose prices are given, and who keeps what it sees."""

    def __init__(self, prices):
        self.left, self.seen = list(prices), []

    def multipliers(self):
        return self.left.pop(0)

    def see(self, gaps):
        self.seen.append(gaps)


def played(case, monkeypatch, noise=1e-9, swap=False):
    """Return how far answers and gaps are from theirs, if the whole estimator plays at their prices without noise."""
    (notion, seed), rounds = case
    X, y, second = drawn(seed)
    conditions = [np.ones(len(y), dtype=bool)] if notion == "demographic_parity" else [y == 0, y == 1]
    shares = np.array([second[about].mean() for about in conditions])
    prices = np.array([one[0] for one in rounds]).reshape(len(rounds), -1, 2)
    # a gap of group k to the rate of all is the gap between the groups times the share of the other group
    between = prices[:, :, 1] * (1 - shares) - prices[:, :, 0] * shares
    told = Told(between)
    monkeypatch.setattr(PrivateExponentiatedGradient, "_auditor", lambda _: told)
    monkeypatch.setattr(exponentiated_gradient, "deviations", lambda *_: Deviations(noise, noise))
    monkeypatch.setattr(exponentiated_gradient, "ratio", lambda *_: 1.0)
    model = PrivateExponentiatedGradient(
        notion=notion, feature_bound=math.sqrt(15), epsilon=1.0, delta=1e-6, rounds=len(rounds), regularization=1e-12,
        noise="study", random_state=0,
    )  # fmt: skip
    model.fit(X, y, sensitive_features=1 - second if swap else second)
    weights = np.column_stack([model.coefs_, model.intercepts_])
    return abs(weights - [one[2] for one in rounds]).max(), abs(
        told.seen - np.array([one[3] for one in rounds])
    ).max()


@pytest.mark.parametrize("case", AS_RUN.items(), ids=lambda case: case[0][0])
def test_prices_answers_and_gaps_agree_with_the_public_code_as_run(case, monkeypatch):
    assert priced(case[1]) < EXACT
    assert max(played(case, monkeypatch)) < EXACT


@pytest.mark.parametrize("case", AS_RUN.items(), ids=lambda case: case[0][0])
def test_another_rate_or_tolerance_and_exchanged_groups_would_not_agree(case, monkeypatch):
    assert priced(case[1], rate=0.99) > 1e-4
    assert priced(case[1], allowed=0.021) > 1e-5
    assert min(played(case, monkeypatch, swap=True)) > 1e-2


# With noise, four rounds, B as above. What its learner added to the six sums of the first round (found from the
# released weights, since everything else in it is public), and the weights of the classifier with the largest part in
# the mixture that it returned. In the second data set the first person is in the other group.
ADDED = {
    ("first", 1.0): [432.1027273276, 432.5627835824, 432.2300759652, 399.6940539718, 431.8343108727, 173.1450121144],
    ("first", 0.1): [4320.1027273276, 4320.5627835824, 4320.2300759652, 3996.0940539718, 4319.8343108727,
                     1728.3450121144],
    ("second", 1.0): [540.1027273276, 540.5627835824, 540.2300759652, 499.5940539718, 539.8343108727, 216.3450121144],
}  # fmt: skip
RETURNED = {
    "first": [0.5298627259657076, -0.09468179832890491, -0.2478360751487316, 0.34657366716714, -0.11009902956112812,
              -0.3831593985547581],
    "second": [0.5351840729602022, -0.07509528811079802, -0.24831575332555372, 0.3173206372461925,
               -0.13040022825217276, -0.3806005843043421],
}  # fmt: skip


def neighbours():
    X, y, first = drawn(0, d=5)
    second = first.copy()
    second[0] = 1 - second[0]
    return np.column_stack([X, np.ones(len(X))]), y, {"first": first, "second": second}


def smallest(y, groups):
    """Return how many rows the smallest part of a label and a group has."""
    return min(((groups == k) & (y == label)).sum() for k in (0, 1) for label in (0, 1))


@pytest.mark.parametrize(("name", "epsilon"), ADDED)
def test_the_public_code_moves_its_noise_by_what_should_be_its_scale(name, epsilon):
    rows, y, groups = neighbours()
    place = 2 * (4 * BOUND + 1) * len(y) / (smallest(y, groups[name]) - 1) / epsilon * abs(rows).max(axis=0)
    noise = np.random.RandomState(0).laplace(size=6)  # of scale 1, whatever ε is
    assert ADDED[name, epsilon] == pytest.approx(place + noise, abs=1e-8)


def test_where_its_noise_is_tells_the_size_of_a_group():
    _, y, groups = neighbours()
    assert [smallest(y, one) for one in groups.values()] == [6, 5]
    places = [2 * (4 * BOUND + 1) * len(y) / (smallest(y, one) - 1) for one in groups.values()]
    # chances that the entry of the intercept is above the middle: e^{−Δ/2}/2, and one minus that
    half = (places[1] - places[0]) / 2
    beyond = math.exp(-half) / 2
    assert ADDED["first", 1.0][-1] < np.mean(places) < ADDED["second", 1.0][-1]
    assert math.log((1 - beyond) / beyond) > 20  # where ε is 1


def distance(rows, y, groups, weights):
    """Return how far weights are from those of least squares on costs that depend on label and group alone."""
    parts = np.array([(y == label) & (groups == k) for label in (0, 1) for k in (0, 1)])
    possible = np.linalg.solve(rows.T @ rows, rows.T @ parts.T)
    fitted = np.linalg.lstsq(possible, weights, rcond=None)[0]
    return np.linalg.norm(possible @ fitted - weights) / np.linalg.norm(weights)


def test_a_classifier_that_it_returned_tells_the_group_of_one_person():
    # the answers that it fits to check the gap of the game have no noise, and it mixes those
    rows, y, groups = neighbours()
    for name, weights in RETURNED.items():
        distances = {one: distance(rows, y, groups[one], weights) for one in groups}
        assert distances.pop(name) < 1e-12
        assert min(distances.values()) > 1e-2
