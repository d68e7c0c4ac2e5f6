"""What the worst neighbours cost, by what the sampler is handed and at which scale: it is what the statement says.

For numbers v and v′ and Laplace noise of scale b, continuous or on the integers, the largest privacy loss of any
output is Σ|v − v′|/b, attained at y = v. For Gaussian noise the pair is as hard to tell apart as N(0, 1) and N(μ, 1),
with μ = ‖v − v′‖₂/σ. Both hold for several releases together, of which later ones may depend on the answers to
earlier ones, if the answers are held fixed. Here all data sets of a few rows are made, with all their neighbours, and
nothing is taken from the library but what it asks the sampler for.
"""

import itertools
import math

import mpmath
import numpy as np
import pandas as pd
import pytest
from study_watching import exactly
from watching import watched

import dpfair_lib as dpf
from dpfair_lib.central.decoupled import decoupled_statement
from dpfair_lib.central.preparation import private_constants
from dpfair_lib.central.released_rates import release_epsilon
from dpfair_lib.privacy import PrivacyStatement, convert

EXACT = 1e-12  # relative: a few roundings


def data_sets(kinds, size):
    """All data sets of so many rows; their order does not matter."""
    return [tuple(rows) for rows in itertools.combinations_with_replacement(sorted(kinds), size)]


def neighbours(kinds, size, may_replace):
    """All pairs of data sets that differ in one row, where the rule allows the one in place of the other."""
    for rows in data_sets(kinds, size):
        for at, other in itertools.product(range(size), sorted(kinds)):
            if other != rows[at] and may_replace(rows[at], other):
                yield rows, tuple(sorted((*rows[:at], other, *rows[at + 1 :])))


def one_less(kinds, size):
    """All pairs of a data set and one without one of its rows."""
    for rows in data_sets(kinds, size):
        for at in range(size):
            yield rows, (*rows[:at], *rows[at + 1 :])


class Costs:
    """What a release asks the sampler for, of each data set; kept, as every data set has many neighbours."""

    def __init__(self, release):
        self.release, self.kept = release, {}

    def asked(self, rows):
        if rows not in self.kept:
            with watched(exactly) as requests:
                statement = self.release(rows)
            self.kept[rows] = requests, statement
        return self.kept[rows]

    def of(self, first, second):
        """Return the largest loss of pure noise, μ² of Gaussian noise, and the statement."""
        (one, statement), (two, _) = self.asked(first), self.asked(second)
        assert [(r.kind, r.scale, r.values.shape) for r in one] == [
            (r.kind, r.scale, r.values.shape) for r in two
        ]
        loss = squares = 0.0
        for a, b in zip(one, two, strict=True):
            if a.kind == "gaussian":
                squares += float(((a.values - b.values) ** 2).sum()) / a.scale**2
            else:
                assert a.kind in ("laplace", "geometric")
                loss += float(abs(a.values - b.values).sum()) / a.scale
        return loss, squares, statement

    def worst(self, pairs):
        """Return the worst of both, in either order the same."""
        found = [self.of(*pair) for pair in pairs]
        assert len(found) > 3
        assert len({statement for *_, statement in found}) == 1
        return max(loss for loss, *_ in found), max(squares for _, squares, _ in found), found[0][2]


def column(rows, at):
    return np.array([row[at] for row in rows])


MAY_REPLACE = {
    "replace-within-group": lambda one, two, group: one[group] == two[group],
    "replace-one": lambda *_: True,
    "sensitive-attribute": lambda one, two, group: (
        one[:group] + one[group + 1 :] == two[:group] + two[group + 1 :]
    ),
}


def pairs_under(relation, kinds, size, group):
    if relation == "add-remove":
        return one_less(kinds, size)
    return neighbours(kinds, size, lambda one, two: MAY_REPLACE[relation](one, two, group))


PEOPLE = [(group, label) for group in (0, 1) for label in (0, 1)]
RATE_RELATIONS = ("replace-within-group", "add-remove", "replace-one", "sensitive-attribute")


def noisy_rates(relation, mechanism, epsilon, **changes):
    sizes = {} if relation == "replace-within-group" else {"group_sizes": {0: 2, 1: 3}}

    def release(rows):
        fair = dpf.PrivateFairPostprocessor(
            epsilon, relation=relation, mechanism=mechanism, **sizes, **changes
        )
        return fair.fit(column(rows, 1), sensitive_features=column(rows, 0)).privacy_statement_

    return release


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
@pytest.mark.parametrize("epsilon", [0.7, (0.3, 1.1), (1.1, 0.3)], ids=str)
@pytest.mark.parametrize("relation", RATE_RELATIONS)
def test_noisy_rates(relation, mechanism, epsilon):
    pairs = [
        pair
        for pair in pairs_under(relation, PEOPLE, 3, 0)
        if relation != "replace-within-group" or all({row[0] for row in rows} == {0, 1} for rows in pair)
    ]
    loss, squares, statement = Costs(noisy_rates(relation, mechanism, epsilon)).worst(pairs)
    assert squares == 0
    assert loss == pytest.approx(statement.epsilon, rel=EXACT)
    assert (statement.delta, statement.relation, statement.guarantee) == (0, relation, True)


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
@pytest.mark.parametrize("epsilon", [0.7, (0.3, 1.1, 0.8)], ids=str)
@pytest.mark.parametrize("relation", RATE_RELATIONS)
def test_noisy_counts_of_positives(relation, mechanism, epsilon):
    kinds = [(group, label, truth) for group in (0, 1, 2) for label in (0, 1) for truth in (0, 1)]

    def release(rows):
        fair = dpf.PrivateFairPostprocessor(
            epsilon, relation=relation, mechanism=mechanism, notion="equal_opportunity", group_sizes=[0, 1, 2]
        )
        return fair.fit(
            column(rows, 1), column(rows, 2), sensitive_features=column(rows, 0)
        ).privacy_statement_

    loss, squares, statement = Costs(release).worst(pairs_under(relation, kinds, 2, 0))
    assert squares == 0
    assert loss == pytest.approx(statement.epsilon, rel=EXACT)
    assert (statement.delta, statement.relation, statement.guarantee) == (0, relation, True)


@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
@pytest.mark.parametrize("relation", ["sensitive-attribute", "replace-one", "add-remove"])
def test_noisy_table_of_odds(relation, mechanism):
    kinds = [(label, group, truth) for label in (0, 1) for group in (0, 1) for truth in (0, 1)]

    def release(rows):
        fair = dpf.EqualizedOddsPostprocessor(
            gamma=0.1, epsilon=0.7, relation=relation, mechanism=mechanism, groups=(0, 1)
        )
        data = {"sensitive_features": column(rows, 1), "y_true": column(rows, 2)}
        return fair.fit(column(rows, 0), **data).privacy_statement_

    loss, squares, statement = Costs(release).worst(pairs_under(relation, kinds, 2, 1))
    assert squares == 0
    assert loss == pytest.approx(statement.epsilon, rel=EXACT)
    assert (statement.delta, statement.relation, statement.guarantee) == (0, relation, True)


def test_noisy_certificate():
    # a row of each label and group, and one more; each right, wrong or neither under all models within the reach
    score = {"right": 1.0, "wrong": -1.0, "neither": 0.0}
    kinds = [(label, group, state) for label in (0, 1) for group in (0, 1) for state in score]

    def release(rows):
        y = column(rows, 0)
        scores = np.array([score[row[2]] for row in rows]) * np.where(y == 1, 1, -1)
        made = dpf.private_certificate(
            scores, y, X=np.ones((len(rows), 1)), sensitive_features=column(rows, 1), notion="equalized_odds",
            sigma=0.05, zeta=0.1, epsilon=0.6,
        )  # fmt: skip
        return made.privacy_statement

    cells = list(itertools.product((0, 1), (0, 1)))
    pairs = [
        (first, second)
        for first, second in neighbours(kinds, 5, lambda one, two: one[:2] == two[:2])
        if {row[:2] for row in first} == set(cells)
    ]
    some = np.random.default_rng(0).choice(len(pairs), 300, replace=False)
    loss, squares, statement = Costs(release).worst([pairs[at] for at in some])
    assert squares == 0
    assert loss == pytest.approx(statement.epsilon, rel=EXACT)
    assert (statement.delta, statement.relation, statement.guarantee) == (0, "replace-within-group", True)


@pytest.mark.parametrize("columns", [1, 2])
def test_noisy_constants_for_scaling(columns):
    kinds = list(itertools.product((-9.0, 0.25, 1.0), repeat=columns))

    def release(rows):
        return private_constants(np.array(rows), [(0.0, 1.0)] * columns, 0.6).privacy_statement

    loss, squares, statement = Costs(release).worst(neighbours(kinds, 3, lambda *_: True))
    assert squares == 0
    assert loss == pytest.approx(statement.epsilon, rel=EXACT)
    assert (statement.delta, statement.relation, statement.guarantee) == (0, "replace-one", True)


# The least over α > 1 of (bound of the divergence of order α) · (best constant) is a δ for every ρ-zCDP release:
# with x⁺ ≤ 1 − e^(−u) for u = L − ε > 0 and 1 − e^(−u) ≤ c e^((α−1)u), c = (1 − 1/α)^α/(α − 1) by the derivative at
# e^(−u) = 1 − 1/α, E(1 − e^(ε−L))⁺ ≤ c e^(−(α−1)ε) E e^((α−1)L) ≤ c e^((α−1)(αρ−ε)).
def zcdp_delta(rho, epsilon):
    def log_delta(x):  # x = α − 1
        return x * ((x + 1) * rho - epsilon) - mpmath.log(x) + (x + 1) * mpmath.log(x / (x + 1))

    low, high = mpmath.mpf(-30), mpmath.mpf(30)  # of ln x; the function has one minimum
    for _ in range(90):  # to ten digits, and the minimum to twenty
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, two) if log_delta(mpmath.exp(one)) < log_delta(mpmath.exp(two)) else (one, high)
    return mpmath.exp(log_delta(mpmath.exp(low)))


LEVELS = {"job": ["none", "full"], "sex": ["f", "m"]}
GAME = {
    "subgroups": [{"sex": "f"}, {"sex": "m"}],
    "levels": LEVELS,
    "rounds": 2,
    "samples": 3,
    "dual_bound": 3.0,
}
ROWS = list(itertools.product(LEVELS["job"], LEVELS["sex"], (0, 1)))


def game(release):
    def played(rows):
        learner = dpf.PrivateNoRegretFair(epsilon=0.8, delta=1e-4, release=release, **GAME)
        sex = pd.DataFrame({"sex": column(rows, 1)})
        fitted = learner.fit(pd.DataFrame({"job": column(rows, 0)}), column(rows, 2), sensitive_features=sex)
        return fitted.privacy_statement_

    return played


def test_noisy_counts_of_the_game():
    loss, squares, statement = Costs(game("counts")).worst(neighbours(ROWS, 2, lambda *_: True))
    assert loss == 0
    with mpmath.workdps(25):  # ρ = μ²/2, found to ten digits
        assert float(zcdp_delta(squares / 2, statement.epsilon)) == pytest.approx(statement.delta, rel=1e-8)
        assert zcdp_delta(squares / 2, statement.epsilon) <= statement.delta
    assert (statement.relation, statement.guarantee) == ("replace-one", True)


# With the divisors and groups of the ledger's decoupled learners: each learner adds up numbers ±1 of its own records,
# with Laplace noise of scale 1/ε_a; a record more moves the sum by 1, one in another's place by 2.
def decoupled_cost(epsilons, relation):
    kinds = [(group, sign) for group in range(len(epsilons)) for sign in (-1, 1)]

    def sums(rows):
        return np.array([sum(sign for at, sign in rows if at == group) for group in range(len(epsilons))])

    pairs = pairs_under(relation, kinds, 3, 0)
    return max(float(abs(sums(one) - sums(two)) @ np.array(epsilons)) for one, two in pairs)


@pytest.mark.parametrize("epsilons", [(1.0, 1.0), (0.5, 2.0), (2.0, 0.5, 1.0)], ids=str)
@pytest.mark.parametrize("relation", RATE_RELATIONS)
def test_learners_of_each_group_apart(relation, epsilons):
    statements = [PrivacyStatement(epsilon, 0.0, "add-remove") for epsilon in epsilons]
    stated = decoupled_statement(statements, relation)
    assert stated.epsilon == pytest.approx(decoupled_cost(epsilons, relation), rel=EXACT)
    assert stated.relation == relation
    # nobody's conversion of the whole is smaller
    whole = decoupled_statement(statements, "add-remove")
    assert convert(whole, relation).epsilon >= stated.epsilon * (1 - EXACT)


def test_learners_of_each_group_apart_have_a_delta_within_groups_too():
    statements = [PrivacyStatement(0.5, 1e-5, "add-remove"), PrivacyStatement(0.5, 1e-6, "add-remove")]
    stated = decoupled_statement(statements, "replace-within-group")
    assert (stated.epsilon, stated.delta) == (1.0, pytest.approx(1e-5 * (1 + math.exp(0.5)), rel=EXACT))


@pytest.mark.parametrize("epsilons", [(0.3, 1.1), (1.1, 0.3, 0.7), (0.2, 0.2, 0.2, 0.9)], ids=str)
@pytest.mark.parametrize("relation", RATE_RELATIONS)
@pytest.mark.parametrize("mechanism", ["laplace", "geometric"])
def test_noisy_counts_of_several_groups(relation, epsilons, mechanism):
    kinds = [(group, label) for group in range(len(epsilons)) for label in (0, 1)]

    def counts(rows):
        return np.array([sum(label for at, label in rows if at == group) for group in range(len(epsilons))])

    pairs = pairs_under(relation, kinds, 2, 0)
    cost = max(float(abs(counts(one) - counts(two)) @ np.array(epsilons)) for one, two in pairs)
    assert release_epsilon(epsilons, relation, mechanism=mechanism) == pytest.approx(cost, rel=EXACT)
