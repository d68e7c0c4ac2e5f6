import math

import numpy as np
import pandas as pd
import pytest
import torch
from fairlearn.metrics import equalized_odds_difference
from fairlearn.postprocessing import ThresholdOptimizer
from scipy.stats import beta
from sklearn.base import BaseEstimator, clone

from dpfair_lib import EqualizedOddsPostprocessor
from dpfair_lib.fairness.rates import label_rates
from dpfair_lib.privacy import STUDY_NOTE, DiscreteLaplaceMechanism
from dpfair_lib.svm.equalized_odds_program import verify
from dpfair_lib.svm.guarantees import noise_radius


def people(seed=0, n=2000, groups=2, weakest=0.3):
    rng = np.random.default_rng(seed)
    group, label = rng.integers(0, groups, n), (rng.uniform(size=n) < 0.4).astype(int)
    wrong = rng.uniform(size=n) < np.linspace(0.1, weakest, groups)[group] + 0.05 * label
    return np.where(wrong, 1 - label, label), label, group


def gap(rule, predicted, label, group):
    chance = rule.predict_proba(predicted, sensitive_features=group)[:, 1]
    rates = [list(label_rates(label, chance, sensitive_features=group, label=y).values()) for y in (0, 1)]
    return max(max(found) - min(found) for found in rates)


def errors(rule, predicted, label, group):
    chance = rule.predict_proba(predicted, sensitive_features=group)
    return float(chance[np.arange(len(label)), 1 - label].sum())


def study(seed=0, **options):
    return EqualizedOddsPostprocessor(
        **{"gamma": 0.02, "epsilon": 1.0, "noise": "study", "random_state": seed, **options}
    )


class Given(BaseEstimator):
    """A classifier that returns the column which it is given."""

    def fit(self, X, y):  # noqa: ARG002
        return self

    def predict(self, X):
        return np.asarray(X)[:, 0]

    def __sklearn_is_fitted__(self):
        return True


@pytest.mark.parametrize("groups", [2, 4])
def test_without_noise_it_is_fairlearns_threshold_optimizer(groups):
    predicted, label, group = people(seed=groups, groups=groups)
    ours = EqualizedOddsPostprocessor(gamma=0.0).fit(predicted, label, sensitive_features=group)
    peer = ThresholdOptimizer(
        estimator=Given(), constraints="equalized_odds", objective="accuracy_score", grid_size=20_000,
        prefit=True, predict_method="predict", flip=True,
    )  # fmt: skip
    X = predicted[:, None]
    peer.fit(X, label, sensitive_features=group)
    chance = peer._pmf_predict(X, sensitive_features=group)
    theirs = float(chance[np.arange(len(label)), 1 - label].sum())
    # the peer's false positive rate is one of 20,001; the errors move by at most 1/20,000 of the rows and more
    # on the steep side of a curve, here below 10
    assert errors(ours, predicted, label, group) == pytest.approx(theirs, abs=10 * len(label) / 20_000)
    assert errors(ours, predicted, label, group) <= theirs + 1e-9
    assert gap(ours, predicted, label, group) <= 1e-12
    assert ours.predict_proba(predicted, sensitive_features=group) == pytest.approx(chance, abs=2e-3)


@pytest.mark.parametrize("gamma", [0.0, 0.03, 0.2, 1.0])
def test_exact_counts_keep_gamma_at_a_certified_optimum(gamma):
    predicted, label, group = people(groups=3)
    fair = EqualizedOddsPostprocessor(gamma=gamma).fit(predicted, label, sensitive_features=group)
    assert gap(fair, predicted, label, group) <= gamma + 1e-9
    assert verify(fair.program_, fair.solution_) <= 1e-12
    assert errors(fair, predicted, label, group) == pytest.approx(fair.solution_.errors)
    assert fair.noise_bound_ == fair.excess_errors_bound_ == 0
    assert not fair.privacy_statement_.guarantee
    drawn = fair.predict(predicted, sensitive_features=group, random_state=0)
    assert equalized_odds_difference(label, drawn, sensitive_features=group) <= gamma + 0.12


def test_a_reference_group_leaves_two_others_farther_apart():
    predicted, label, group = people(seed=3, groups=3)
    between = {
        reference: gap(
            EqualizedOddsPostprocessor(gamma=0.02, reference=reference).fit(
                predicted, label, sensitive_features=group
            ),
            predicted, label, group,
        )
        for reference in (None, 1)
    }  # fmt: skip
    assert between[None] == pytest.approx(0.02)
    assert between[1] == pytest.approx(0.04)


@pytest.mark.parametrize("mechanism", ["geometric", "laplace"])
@pytest.mark.parametrize("relation", ["sensitive-attribute", "add-remove"])
def test_bounds_hold_over_many_draws(mechanism, relation):
    predicted, label, group = people(n=1500)
    best = EqualizedOddsPostprocessor(gamma=0.02).fit(predicted, label, sensitive_features=group)
    least = errors(best, predicted, label, group)
    rng, draws, failure, failures, closest = np.random.default_rng(8), 120, 0.1, 0, 0.0
    for draw in range(draws):
        fair = study(
            rng, relation=relation, mechanism=mechanism, failure=failure, epsilon=0.7, relaxed=draw % 2 == 0
        )
        fair.fit(predicted, label, sensitive_features=group)
        excess = errors(fair, predicted, label, group) - least
        failures += (
            gap(fair, predicted, label, group) > fair.gap_bound_ + 1e-9
            or excess > fair.excess_errors_bound_ + 1e-9
        )
        closest = max(closest, gap(fair, predicted, label, group) / fair.gap_bound_)
    # the upper end of an exact interval at 1e-4
    assert beta.ppf(1 - 1e-4, failures + 1, draws - failures) <= failure
    assert closest > 0.5


def test_counts_have_the_noise_that_the_statement_says():
    predicted, label, group = people()
    exact = EqualizedOddsPostprocessor(gamma=0).fit(predicted, label, sensitive_features=group).counts_
    assert exact.sum() == len(label)
    rng = np.random.default_rng(2)
    for relation, scale in (("sensitive-attribute", 4.0), ("replace-one", 4.0), ("add-remove", 2.0)):
        noisy = study(rng, relation=relation, epsilon=0.5)
        noise = np.concatenate(
            [
                (noisy.fit(predicted, label, sensitive_features=group).counts_ - exact).ravel()
                for _ in range(250)
            ]
        )
        law = DiscreteLaplaceMechanism(scale, 1)
        for k in range(-12, 13):
            # 2,000 draws; P(sup deviation > 0.05) ≤ 2 exp(−2 · 2000 · 0.05²) = 1e-4 by Dvoretzky–Kiefer–Wolfowitz
            assert (noise <= k).mean() == pytest.approx(float(law.cdf(k)), abs=0.05)


@pytest.mark.parametrize("groups", [2, 3, 5])
@pytest.mark.parametrize("relation", ["sensitive-attribute", "replace-one", "add-remove"])
@pytest.mark.parametrize("failure", [0.02, 0.4])
def test_the_radius_is_that_of_all_counts_of_this_estimator(groups, relation, failure):
    """None of the 4|A| independent noises exceeds it, with the probability that is said, exactly."""
    predicted, label, group = people(groups=groups)
    scale = (1 if relation == "add-remove" else 2) / 0.5
    options = {"relation": relation, "epsilon": 0.5, "failure": failure}
    fitted = study(mechanism="laplace", **options).fit(predicted, label, sensitive_features=group)
    within = (1 - math.exp(-fitted.noise_bound_ / scale)) ** (4 * groups)
    assert within == pytest.approx(1 - failure, rel=1e-9)
    # whole numbers: enough, and one less would not be
    fitted = study(mechanism="geometric", **options).fit(predicted, label, sensitive_features=group)
    law, radius = DiscreteLaplaceMechanism(scale, 1), fitted.noise_bound_
    inside = [(1 - float(law.tail(most))) ** (4 * groups) for most in (radius, radius - 1)]
    assert inside[0] >= 1 - failure > inside[1]
    assert fitted.excess_errors_bound_ == 4 * groups * radius


def test_radius_is_exceeded_as_often_as_said():
    rng = np.random.default_rng(3)
    for mechanism in ("laplace", "geometric"):
        radius = noise_radius(0.5, groups=3, failure=0.2, relation="replace-one", mechanism=mechanism)
        if mechanism == "laplace":
            draws = rng.laplace(scale=4, size=(20_000, 12))
        else:
            stop = -math.expm1(-1 / 4)
            draws = rng.geometric(stop, size=(20_000, 12)) - rng.geometric(stop, size=(20_000, 12))
        exceeded = (abs(draws).max(axis=1) > radius).mean()
        assert exceeded <= 0.2 + 0.012
        assert mechanism == "geometric" or exceeded >= 0.2 - 0.012
    with pytest.raises(ValueError, match="relation: found 'local'"):
        noise_radius(1, groups=2, failure=0.1, relation="local")


def test_what_is_kept_is_noisy_and_the_statement_says_for_whom():
    predicted, label, group = people()
    fair = EqualizedOddsPostprocessor(gamma=0.02, epsilon=0.5, relation="replace-one")
    fair.fit(predicted, y_true=label, sensitive_features=group)
    statement = fair.privacy_statement_
    assert (statement.epsilon, statement.delta, statement.relation) == (0.5, 0, "replace-one")
    assert statement.guarantee
    assert "classifier" in statement.note
    assert {name for name in vars(fair) if name.endswith("_")} == {
        "groups_", "counts_", "noise_bound_", "program_", "solution_", "probabilities_", "gap_bound_",
        "excess_errors_bound_", "privacy_statement_",
    }  # fmt: skip
    again = clone(fair).fit(predicted, label, sensitive_features=group)
    assert (again.counts_ != fair.counts_).any()
    assert STUDY_NOTE in study().fit(predicted, label, sensitive_features=group).privacy_statement_.note
    assert (
        study(relaxed=False).fit(predicted, label, sensitive_features=group).excess_errors_bound_ == math.inf
    )


def test_noise_that_empties_the_table_has_a_defined_outcome():
    # three rows under noise of scale 200: most counts are far below 0, and rates without rows are ½
    for seed in range(30):
        fair = study(seed, epsilon=0.01, groups=["a", "b", "c"]).fit(
            [1, 0, 1], [1, 1, 0], sensitive_features=["a", "a", "b"]
        )
        chance = fair.predict_proba([0, 1, 1], sensitive_features=["a", "b", "c"])
        assert ((chance >= 0) & (chance <= 1)).all()
        assert 0 <= fair.gap_bound_ <= 1
        assert verify(fair.program_, fair.solution_) <= 1e-12
    nobody = study(groups=["a", "b"], relation="add-remove").fit([], [], sensitive_features=[])
    assert nobody.counts_.shape == (2, 2, 2)


def test_private_fits_refuse_no_table_and_exact_ones_need_every_rate():
    one_class = ([1, 0, 1, 1], [1, 1, 1, 1], ["a", "a", "b", "b"])
    study().fit(one_class[0], one_class[1], sensitive_features=one_class[2])
    study(groups=["a", "b"]).fit([1], [1], sensitive_features=["a"])
    with pytest.raises(ValueError, match="found no label 0 in group 'a'"):
        EqualizedOddsPostprocessor(gamma=0).fit(one_class[0], one_class[1], sensitive_features=one_class[2])


def test_containers_agree():
    predicted, label, group = people()
    expected = study().fit(predicted, label, sensitive_features=group)
    for make in (torch.tensor, pd.Series, list):
        fair = study().fit(make(predicted), make(label), sensitive_features=make(group))
        assert fair.probabilities_ == expected.probabilities_
        drawn = fair.predict(make(predicted), sensitive_features=make(group), random_state=0)
        assert (drawn == expected.predict(predicted, sensitive_features=group, random_state=0)).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gamma": -0.1}, "gamma: found -0.1"),
        ({"gamma": 1.5}, "gamma: found 1.5"),
        ({"epsilon": 0}, "epsilon: found 0"),
        ({"epsilon": math.nan}, "epsilon: found nan"),
        ({"relation": "local"}, "relation: found 'local'"),
        ({"mechanism": "gauss"}, "mechanism: found 'gauss'"),
        ({"failure": 1}, "failure: found 1"),
        ({"relaxed": "yes"}, "relaxed: found 'yes'"),
        ({"noise": "none"}, "noise: found 'none'"),
        ({"noise": "secure", "random_state": 1}, "random_state: found 1 beside"),
        ({"reference": 7}, "reference: found 7"),
        ({"groups": [0]}, "groups: found \\[0\\], expected at least two"),
        ({"groups": [0, 0]}, "groups: found \\[0, 0\\]"),
        ({"groups": "ab"}, "groups: found 'ab'"),
        ({"groups": [1, 2]}, "sensitive_features: found group 0"),
    ],
)
def test_bad_parameters(options, message):
    predicted, label, group = people(n=50)
    with pytest.raises(ValueError, match=message):
        study(**options).fit(predicted, label, sensitive_features=group)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (([0, 1], [0, 1], [0, 0]), "sensitive_features: found 1 group"),
        (([0, 2], [0, 1], [0, 1]), "y_pred: found 2"),
        (([0, 1], [0, -1], [0, 1]), "y_true: found -1"),
        (([0, 1], [0, math.nan], [0, 1]), "y_true: found nan"),
        (([0, 1], [0, 1], [0, None]), "sensitive_features: found a missing value"),
        (([0, 1], [0, 1, 1], [0, 1]), "lengths differ"),
        (([], [], []), "sensitive_features: found an empty array"),
        (([0, 1], None, [0, 1]), "y_true: found none"),
    ],
)
def test_bad_rows(rows, message):
    predicted, label, group = rows
    with pytest.raises(ValueError, match=message):
        study().fit(predicted, label, sensitive_features=group)


@pytest.mark.parametrize("epsilon", [None, 1.0])
@pytest.mark.parametrize(
    ("name", "why"), [("scores", "would tell them"), ("sample_weight", "moves a count by w")]
)
def test_scores_and_weights_are_refused_with_the_reason(name, why, epsilon):
    predicted, label, group = people(n=200)
    fair = EqualizedOddsPostprocessor(gamma=0.02, epsilon=epsilon)
    with pytest.raises(ValueError, match=f"^{name}: found .*{why}.*FairPostprocessor"):
        fair.fit(predicted, label, sensitive_features=group, **{name: np.ones(200)})


def test_predict_wants_known_groups_and_a_fit():
    fair = study()
    with pytest.raises(Exception, match="not fitted"):
        fair.predict_proba([0], sensitive_features=[0])
    predicted, label, group = people(n=200)
    fair.fit(predicted, label, sensitive_features=group)
    with pytest.raises(ValueError, match="found group 5"):
        fair.predict([0, 1], sensitive_features=[0, 5], random_state=0)
    with pytest.raises(ValueError, match="labels in both"):
        fair.fit(predicted, label, y_true=label, sensitive_features=group)


def test_a_refit_that_fails_leaves_the_former_one_whole():
    rng = np.random.default_rng(5)
    groups = np.repeat(list("abcd"), 60)
    labels = rng.integers(0, 2, size=(2, 240))
    fitted = EqualizedOddsPostprocessor(gamma=0.1).fit(labels[0], labels[1], sensitive_features=groups)
    before = fitted.predict_proba([0, 1], sensitive_features=["c", "c"])[:, 1]
    with pytest.raises(ValueError, match="y_true: found"):
        fitted.fit(labels[0][120:], np.full(120, 2), sensitive_features=groups[120:])
    assert fitted.predict_proba([0, 1], sensitive_features=["c", "c"])[:, 1].tolist() == before.tolist()
    assert before.tolist() == list(fitted.probabilities_["c"])


def test_group_labels_may_come_as_an_index():
    named = EqualizedOddsPostprocessor(gamma=0.1, groups=pd.Index(["a", "b"]))
    fitted = named.fit([0, 1, 0, 1], [0, 1, 0, 1], sensitive_features=list("aabb"))
    assert fitted.groups_ == ["a", "b"]
    with pytest.raises(ValueError, match="gamma: found True"):
        EqualizedOddsPostprocessor(gamma=True).fit([0, 1], [0, 1], sensitive_features=list("ab"))


def test_declared_groups_may_come_in_any_order():
    y, a = np.tile([0, 1], 20), np.repeat(["b", "a"], 20)
    first, second = (
        EqualizedOddsPostprocessor(gamma=0.1, epsilon=1.0, groups=groups, noise="study", random_state=0).fit(
            y, y=y, sensitive_features=a
        )
        for groups in (["a", "b"], ["b", "a"])
    )
    assert first.groups_ == second.groups_ == ["a", "b"]
    assert first.probabilities_ == second.probabilities_
