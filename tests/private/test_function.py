"""Private estimators do what they are for, with the noise held still; and the faults that were not seen are seen."""

import inspect

import numpy as np
import pytest
from cases import cases
from cases_learners import RULES
from checks import caught, check_secure
from functions import (
    ASKED,
    LEARNERS,
    check_joined,
    check_labels,
    check_odds,
    check_parity,
    check_predictions,
    check_subgroups,
    fitted_for,
    mistaken,
)
from neighbours import table
from study_watching import exactly
from watching import watched

import dpfair_lib as dpf
from dpfair_lib.central.flips import FlipRule
from dpfair_lib.compatibility.subgroup_fairness import no_regret

CASES = cases()
BY_NAME = {case.name: case for case in CASES}
PREDICTING = [case for case in CASES if any(kind in ASKED for kind in case.covers)]
LEVELS = {"job": ["none", "full"], "sex": ["f", "m"]}
PAIRS = [(0, 1), (1, 0), (-1, 1), (1, -1), ("no", "yes"), ("yes", "no"), (False, True), (True, False)]
GROUPS = [("a", "b"), ("b", "a"), (1, 0), (True, False), (-3.5, -7.0)]


def test_every_estimator_that_predicts_is_asked():
    predicting = {kind for case in CASES for kind in case.covers if hasattr(kind, "predict")}
    assert predicting - {dpf.SupportVectorPerturbation} == set(ASKED)


@pytest.mark.parametrize("case", PREDICTING, ids=str)
def test_predictions_agree_with_probabilities(case):
    check_predictions(case)


@pytest.mark.parametrize("relation", ["replace-within-group", "add-remove"])
def test_parity_holds_at_the_released_rates(relation):
    sizes = {"a": 5, "b": 7} if relation == "add-remove" else None
    for seed in range(40):
        model = dpf.PrivateFairPostprocessor(
            (0.3, 0.7), relation=relation, group_sizes=sizes, noise="study", random_state=seed
        )
        check_parity(model.fit(**table()))


def test_opportunity_holds_at_the_released_rates():
    for seed in range(40):
        model = dpf.PrivateFairPostprocessor(
            (0.3, 0.7), notion="equal_opportunity", noise="study", random_state=seed
        )
        check_parity(model.fit(**table(labels=("y_pred", "y_true"))))


@pytest.mark.parametrize("relaxed", [True, False])
@pytest.mark.parametrize("gamma", [0.0, 0.1])
def test_odds_hold_at_the_released_counts(relaxed, gamma):
    for seed in range(10):
        model = dpf.EqualizedOddsPostprocessor(
            gamma=gamma, epsilon=2.0, relaxed=relaxed, groups=("a", "b", "c"), noise="study",
            random_state=seed,
        )  # fmt: skip
        check_odds(model.fit(**mistaken(("a", "b", "c"))))


@pytest.mark.parametrize("reverse", [False, True])
def test_subgroups_are_the_named_ones(reverse):
    check_subgroups({name: values[::-1] if reverse else values for name, values in LEVELS.items()})


@pytest.mark.parametrize("declared", [True, False])
@pytest.mark.parametrize("labels", PAIRS, ids=str)
@pytest.mark.parametrize("name", LEARNERS)
def test_labels_keep_their_meaning(name, labels, declared):
    check_labels(name, labels, declared)


def _without_noise(model, data):
    with watched(exactly):
        return model.fit(**data)


@pytest.mark.parametrize("groups", GROUPS, ids=str)
def test_the_names_of_groups_mean_nothing(groups):
    data = mistaken((0, 1))
    code, truth = data["sensitive_features"], data["y_true"]
    labels = {name: data[name] for name in ("y_pred", "y_true")}
    X, chances = np.random.default_rng(4).normal(size=(300, 2)) + truth[:, None], []
    for names in (("a", "b"), groups):
        group = np.array(names)[code]
        asked = {"y_pred": labels["y_pred"], "sensitive_features": group}
        sizes = dict(zip(np.array(names).tolist(), np.bincount(code).tolist(), strict=True))
        rates = dpf.PrivateFairPostprocessor(1.0, relation="add-remove", group_sizes=sizes)
        odds = dpf.EqualizedOddsPostprocessor(gamma=0.01, epsilon=1.0, relaxed=False, groups=list(names))
        chosen = dpf.ExponentialFairLearner(RULES, epsilon=1.0, delta=1e-2, groups=names)
        _without_noise(chosen, {"X": X, "y": truth, "sensitive_features": group})
        chances.append(
            [
                _without_noise(rates, asked).predict_proba(**asked)[:, 1],
                _without_noise(odds, asked | labels).predict_proba(**asked)[:, 1],
                chosen.predict_proba(X, sensitive_features=group)[:, 1],
            ]
        )
    for first, second in zip(*chances, strict=True):
        assert np.allclose(first, second, rtol=0, atol=1e-9)
        assert len(np.unique(first)) > 1


@pytest.mark.parametrize("kind", [bool, np.int8, np.uint8, np.float32, object])
def test_kinds_of_numbers_are_the_same_labels_and_others_are_refused(kind):
    data = table(labels=("y_pred", "y_true"))
    model = dpf.EqualizedOddsPostprocessor(gamma=0.1, epsilon=1.0)
    plain = _without_noise(model, data).counts_.copy()
    other = data | {name: data[name].astype(kind) for name in ("y_pred", "y_true")}
    assert np.array_equal(_without_noise(model, other).counts_, plain)
    for wrong in (2 * data["y_pred"] - 1, np.array(["no", "yes"])[data["y_pred"]]):
        with pytest.raises(ValueError, match="y_pred: found"):
            _without_noise(model, data | {"y_pred": wrong})


# --- faults ---


def _inverted(usual):
    def predict(self, *arguments, **options):
        labels = usual(self, *arguments, **options)
        kinds = np.asarray(getattr(self, "classes_", [0, 1]))
        return np.where(labels == kinds[0], kinds[1], kinds[0])

    return predict


@pytest.mark.parametrize("kind", ASKED)
def test_inverted_predictions_are_caught(kind, monkeypatch):
    case = next(case for case in PREDICTING if kind in case.covers)
    monkeypatch.setattr(kind, "predict", _inverted(kind.predict))
    assert caught(check_predictions, case)


def _always_alike(usual):
    def predict(self, *arguments, random_state=None, **options):
        return usual(self, *arguments, random_state=0 if random_state is None else random_state, **options)

    return predict


DRAWING = [kind for kind in ASKED if "random_state" in inspect.signature(kind.predict).parameters]


@pytest.mark.parametrize("kind", DRAWING)
def test_the_same_draws_at_every_call_are_caught(kind, monkeypatch):
    monkeypatch.setattr(kind, "predict", _always_alike(kind.predict))
    assert any(caught(check_predictions, case) for case in PREDICTING if kind in case.covers)


OTHERS = {
    dpf.PrivateFairPostprocessor: lambda: check_parity(
        dpf.PrivateFairPostprocessor(1.0, noise="study", random_state=0).fit(**table())
    ),
    dpf.EqualizedOddsPostprocessor: lambda: check_odds(
        dpf.EqualizedOddsPostprocessor(gamma=0.1, epsilon=2.0, noise="study", random_state=0).fit(
            **mistaken(("a", "b"))
        )
    ),
    dpf.PrivateFairClassifier: lambda: check_joined(
        fitted_for(BY_NAME["joined replace-one split"]), BY_NAME["joined replace-one split"].data()
    ),
    dpf.ExponentialFairLearner: lambda: check_predictions(BY_NAME["exponential learner, repair=True"]),
    dpf.PrivateNoRegretFair: lambda: check_subgroups(LEVELS),
    dpf.ObjectivePerturbation: lambda: check_labels("objective perturbation", ("no", "yes"), True),
    dpf.OutputPerturbation: lambda: check_labels("output perturbation", ("no", "yes"), True),
    dpf.DPLogisticRegression: lambda: check_labels("logistic regression", ("no", "yes"), True),
    dpf.DPFermiClassifier: lambda: check_labels("fermi", ("no", "yes"), False),
    dpf.FairFunctionalClassifier: lambda: check_labels("functional mechanism", ("no", "yes"), True),
    dpf.DPGlobalScalingClassifier: lambda: check_labels("global scaling", ("no", "yes"), True),
    dpf.DPNetworkClassifier: lambda: check_labels("network", ("no", "yes"), True),
    dpf.DPGroupClippingClassifier: lambda: check_labels("group clipping", ("no", "yes"), True),
    dpf.DPLagrangianClassifier: lambda: check_labels("lagrangian", ("no", "yes"), True),
    dpf.PrivateExponentiatedGradient: lambda: check_labels("exponentiated gradient", ("no", "yes"), True),
}


@pytest.mark.parametrize("kind", OTHERS)
def test_probabilities_of_the_other_label_are_caught(kind, monkeypatch):
    OTHERS[kind]()
    usual = next(vars(one)["predict_proba"] for one in kind.__mro__ if "predict_proba" in vars(one))
    usual = getattr(usual, "fn", usual)  # of scikit-learn's available_if
    monkeypatch.setattr(kind, "predict_proba", lambda *a, **k: usual(*a, **k)[..., ::-1])
    assert caught(OTHERS[kind])


def _ignored(count_table):
    return lambda cell, profile, *rest: count_table(cell, 0 * profile, *rest)


GRID = {
    "count_table": _ignored,
    "membership": lambda usual: lambda *a: np.ones_like(usual(*a)),
    "cell_of": lambda usual: (
        lambda frame, levels, name: (
            usual(frame, levels, name)
            if name == "X"
            else (0 * usual(frame, levels, name)[0], usual(frame, levels, name)[1])
        )
    ),
}


@pytest.mark.parametrize("name", GRID)
def test_a_profile_that_is_ignored_is_caught(name, monkeypatch):
    monkeypatch.setattr(no_regret, name, GRID[name](getattr(no_regret, name)))
    assert caught(check_subgroups, LEVELS)
    if name != "membership":
        assert caught(check_secure, BY_NAME["no regret, counts"], BY_NAME["no regret, counts"].data())


def test_a_constraint_that_is_not_kept_is_caught():
    data = mistaken(("a", "b"))
    odds = dpf.EqualizedOddsPostprocessor(
        gamma=0.0, epsilon=2.0, noise="study", random_state=3, relaxed=False
    )
    check_odds(odds.fit(**data))
    assert caught(check_odds, odds.set_params(gamma=0.2).fit(**data).set_params(gamma=0.0))
    rates = dpf.PrivateFairPostprocessor(1.0, noise="study", random_state=0).fit(**table())
    rates.rules_ = {
        group: FlipRule(rule.label, 0.0, 0.9 * rule.probability) for group, rule in rates.rules_.items()
    }
    assert caught(check_parity, rates)


def test_labels_that_change_places_are_caught(monkeypatch):
    from dpfair_lib.learners import linear

    usual = linear._known_labels
    monkeypatch.setattr(linear, "_known_labels", lambda *a: (usual(*a)[0], 1 - usual(*a)[1]))
    for name in (
        "objective perturbation",
        "output perturbation",
        "logistic regression",
        "support vector machine",
    ):
        assert caught(check_labels, name, ("no", "yes"), True)
