"""What private estimators are for, asserted: predictions as promised, constraints kept, labels that keep their meaning.

Each check raises AssertionError, also on the faults that are planted for it.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
from cases import Case
from cases_learners import RULES
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import binom
from study_watching import exactly
from watching import same_answers, watched

import dpfair_lib as dpf

ASKED = {
    dpf.PrivateFairPostprocessor: ("y_pred", "sensitive_features"),
    dpf.PrivateFairClassifier: ("X", "sensitive_features"),
    dpf.EqualizedOddsPostprocessor: ("y_pred", "sensitive_features"),
    dpf.ExponentialFairLearner: ("X", "sensitive_features"),
    dpf.PrivateNoRegretFair: ("X",),
    dpf.ObjectivePerturbation: ("X",),
    dpf.OutputPerturbation: ("X",),
    dpf.DPLogisticRegression: ("X",),
    dpf.DPLinearSVM: ("X",),
    dpf.DPFermiClassifier: ("X",),
    dpf.DPGlobalScalingClassifier: ("X",),
    dpf.DPNetworkClassifier: ("X",),
    dpf.FairFunctionalClassifier: ("X",),
    dpf.DPGroupClippingClassifier: ("X",),
    dpf.DPLagrangianClassifier: ("X",),
    dpf.PrivateExponentiatedGradient: ("X",),
    dpf.PrivatePipeline: ("X",),
    dpf.PrivateSelection: ("X",),
}
"""Estimator → the data that its predictions are asked for with."""
LINEAR = (
    dpf.ObjectivePerturbation,
    dpf.OutputPerturbation,
    dpf.DPLogisticRegression,
    dpf.DPLinearSVM,
    dpf.DPFermiClassifier,
    dpf.DPGlobalScalingClassifier,
    dpf.DPGroupClippingClassifier,
    dpf.DPLagrangianClassifier,
    dpf.FairFunctionalClassifier,
)
DRAWS, FAILURE = 1500, 1e-12


def fitted_for(case: Case) -> Any:
    """Return the case's estimator, fitted with answers that are fixed, or with a seed where it draws more."""
    if not case.secure or case.learns:
        return case.release(case.data(), "study", 0)
    with watched(same_answers):
        return case.release(case.data())


def check_predictions(case: Case) -> None:
    """Raise unless labels are those of the probabilities: exactly, or as often as independent draws are."""
    fitted, data = fitted_for(case), case.data()
    asked = {name: data[name] for name in ASKED[type(fitted)]}
    if isinstance(fitted, LINEAR):
        _check_linear(fitted, asked["X"])
        return
    if isinstance(fitted, dpf.DPNetworkClassifier):
        _check_network(fitted, asked["X"])
        return
    if isinstance(fitted, dpf.PrivatePipeline | dpf.PrivateSelection):
        _check_wrapped(fitted, asked["X"])
        return
    chances = fitted.predict_proba(**asked)
    assert chances.shape == (12, 2)
    assert np.allclose(chances.sum(axis=1), 1, rtol=0, atol=1e-12)
    assert (abs(chances[:, 1] - 0.5) > 0.05).any()  # or no draw tells one label from the other
    many = {name: _repeated(values) for name, values in asked.items()}
    drawn = fitted.predict(**many, random_state=1)
    assert drawn.shape == (12 * DRAWS,)
    assert set(drawn.tolist()) <= {0, 1}
    for chance, times in zip(chances[:, 1], drawn.reshape(DRAWS, 12).sum(axis=0), strict=True):
        # both tails of the binomial law
        assert min(binom.cdf(times, DRAWS, chance), binom.sf(times - 1, DRAWS, chance)) > FAILURE
    if isinstance(fitted, dpf.ExponentialFairLearner):
        assert np.array_equal(chances[:, 1], RULES[fitted.index_](data["X"], data["sensitive_features"]))
    if (abs(chances[:, 1] - 0.5) < 0.4).any():  # a coin is thrown: anew for each row, and for each seed
        assert not np.array_equal(drawn, fitted.predict(**many, random_state=2))
        assert not np.array_equal(
            fitted.predict(**many), fitted.predict(**many)
        )  # and at each call without one
        assert (drawn.reshape(DRAWS, 12)[0] != drawn.reshape(DRAWS, 12)[1:]).any()


def _repeated(values: Any) -> Any:
    if isinstance(values, pd.DataFrame):
        return pd.concat([values] * DRAWS, ignore_index=True)
    return np.concatenate([np.asarray(values)] * DRAWS)


def _check_linear(fitted: Any, X: Any) -> None:
    own = (np.asarray(X) @ np.swapaxes(fitted.coef_, -1, -2))[..., 0] + fitted.intercept_
    _check_scores(fitted, X, own)


def _check_network(fitted: Any, X: Any) -> None:
    (inner, outer), (before, after) = fitted.coefs_, fitted.intercepts_
    own = [float((np.tanh(row @ inner + before) @ outer + after)[0]) for row in np.asarray(X)]
    _check_scores(fitted, X, own)


def _check_scores(fitted: Any, X: Any, own: Any) -> None:
    """Raise unless scores are these, labels those of the scores, and chances theirs, if scores are log-odds."""
    scores, labels = fitted.decision_function(X), fitted.predict(X)
    assert np.array_equal(labels, np.asarray(fitted.classes_)[(scores > 0).astype(int)])
    assert len(np.unique(np.sign(scores))) == 2
    assert np.allclose(scores, own, rtol=1e-12, atol=1e-12)
    if getattr(fitted, "loss", "logistic") != "logistic":
        assert not hasattr(fitted, "predict_proba")
        return
    chances = fitted.predict_proba(X)
    assert np.allclose(chances[..., 1], expit(scores), rtol=0, atol=1e-12)
    assert np.allclose(chances.sum(axis=-1), 1, rtol=0, atol=1e-12)


def _check_wrapped(fitted: Any, X: Any) -> None:
    """Raise unless all answers are those of the linear model inside, on the rows as the steps before it map them."""
    inner, rows = getattr(fitted, "best_estimator_", None), np.asarray(X)
    if inner is None:
        *before, (_, inner) = fitted.steps_
        for _, step in before:
            rows = step.transform(rows)
        assert len(before) == 2
    _check_linear(inner, rows)
    for name in ("predict", "predict_proba", "decision_function"):
        assert np.array_equal(getattr(fitted, name)(X), getattr(inner, name)(rows))
    assert np.array_equal(fitted.classes_, inner.classes_)


def _by_label(fitted: Any, groups: list[Any]) -> np.ndarray:
    """Return P(1 | predicted label, group), of shape (2, groups), as predictions have it."""
    asked = list(itertools.product((0, 1), groups))
    chances = fitted.predict_proba(
        [one for one, _ in asked], sensitive_features=[group for _, group in asked]
    )
    return chances[:, 1].reshape(2, len(groups))


def check_parity(fitted: dpf.PrivateFairPostprocessor) -> None:
    """Raise unless people with the released rates get one rate, halfway between the two, with the fewest changes."""
    rates = np.array(list(fitted.noisy_rates_.values()))
    rule = _by_label(fitted, fitted.groups_)
    after = rates * rule[1] + (1 - rates) * rule[0]
    changed = rates * (1 - rule[1]) + (1 - rates) * rule[0]
    assert np.allclose(after, rates.mean(), rtol=0, atol=1e-12)
    assert np.allclose(changed, abs(rates - rates.mean()), rtol=0, atol=1e-12)
    assert abs(fitted.target_rate_ - rates.mean()) < 1e-12


def check_joined(fitted: dpf.PrivateFairClassifier, data: dict[str, Any]) -> None:
    """Raise unless chances are those of the released weights and rates: both groups moved to the rate between them."""
    chosen = np.asarray(data["X"]) @ fitted.learner_.coef_[0] + fitted.learner_.intercept_[0] > 0
    rate = np.array([fitted.postprocessor_.noisy_rates_[one] for one in data["sensitive_features"]])
    middle = np.mean(list(fitted.postprocessor_.noisy_rates_.values()))
    down = np.minimum(middle / np.maximum(rate, 1e-300), 1)
    up = np.where(rate < middle, (middle - rate) / np.maximum(1 - rate, 1e-300), 0)
    chances = fitted.predict_proba(data["X"], sensitive_features=data["sensitive_features"])
    assert np.allclose(chances[:, 1], np.where(chosen, down, up), rtol=0, atol=1e-12)


def check_odds(fitted: dpf.EqualizedOddsPostprocessor) -> None:
    """Raise unless people with the released counts have rates within the limits, at the fewest errors that allows."""
    groups = fitted.groups_
    counts, rule = np.maximum(fitted.counts_, 0).astype(float), _by_label(fitted, groups)
    rows = counts.sum(axis=0)  # (groups, true labels)
    share = np.where(rows > 0, counts[1] / np.where(rows > 0, rows, 1), 0.5)
    after = share * rule[1][:, None] + (1 - share) * rule[0][:, None]
    moved = np.minimum(1, fitted.noise_bound_ / np.where(rows > 0, rows, 1)) if fitted.relaxed else 0 * rows
    moved = np.where(rows > 0, moved, 1.0 if fitted.relaxed else 0.0)
    limits, matrix = [], []
    for (first, second), label in itertools.product(itertools.combinations(range(len(groups)), 2), (0, 1)):
        limit = min(fitted.gamma + moved[first, label] + moved[second, label], 1)
        assert abs(after[first, label] - after[second, label]) <= limit + 1e-9
        line = np.zeros((2, len(groups)))
        for group, sign in ((first, 1), (second, -1)):
            line[:, group] = sign * np.array([1 - share[group, label], share[group, label]])
        matrix += [line.ravel(), -line.ravel()]
        limits += [limit, limit]
    price = counts[:, :, 0] - counts[:, :, 1]
    best = linprog(price.ravel(), A_ub=np.array(matrix), b_ub=limits, bounds=(0, 1), method="highs")
    assert (price * rule).sum() <= best.fun + 1e-6 * max(1, counts.sum())


def mistaken(groups: tuple[Any, ...]) -> dict[str, Any]:
    """Return predictions that are mostly right, more often for the first groups."""
    rng = np.random.default_rng(5)
    code, truth = rng.integers(0, len(groups), 300), rng.integers(0, 2, 300)
    wrong = rng.random(300) < 0.1 + 0.15 * code
    return {
        "y_pred": np.where(wrong, 1 - truth, truth),
        "y_true": truth,
        "sensitive_features": np.array(groups)[code],
    }


def crowd(n: int = 600) -> dict[str, Any]:
    """Return people of whom many more men than women have the job that goes with the label 1."""
    at = np.arange(n)
    man = at % 2 == 1
    full = np.where(man, at % 10 < 8, at % 10 < 2)
    y = np.where(full, at % 3 > 0, at % 7 == 0).astype(int)
    return {
        "X": pd.DataFrame({"job": np.where(full, "full", "none")}),
        "y": y,
        "sensitive_features": pd.DataFrame({"sex": np.where(man, "m", "f")}),
    }


def check_subgroups(levels: dict[str, list[str]]) -> None:
    """Raise unless the constraint is on the subgroups that are named, and keeps errors few where there is none."""
    data, worst = crowd(), {}
    for bound in (1e-6, 8.0):
        model = dpf.PrivateNoRegretFair(
            epsilon=1.0, delta=1e-3, subgroups=[{"sex": "f"}, {"sex": "m"}], levels=levels, rounds=400, samples=5,
            dual_bound=bound,
        )  # fmt: skip
        with watched(exactly):
            model.fit(**data)
        chance = model.predict_proba(data["X"])[:, 1]
        negative, sex = data["y"] == 0, data["sensitive_features"]["sex"].to_numpy()
        gaps = [
            (negative & (sex == one)).sum()
            / len(sex)
            * (chance[negative].mean() - chance[negative & (sex == one)].mean())
            for one in ("f", "m")
        ]
        worst[bound] = max(map(abs, gaps))
        if bound < 1:
            assert chance[data["X"]["job"] == "full"].mean() > 0.9
            assert chance[data["X"]["job"] == "none"].mean() < 0.1
    assert worst[1e-6] > 0.05  # there is something to constrain
    assert worst[8.0] < 0.01


def signs(labels: tuple[Any, Any]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows whose first feature tells their label, the labels, and groups that have nothing to do with it."""
    second = np.arange(40) % 2 == 1
    X = np.column_stack([np.where(second, 1.5, -1.5), np.cos(np.arange(40.0))])
    return X, np.array(labels)[second.astype(int)], np.arange(40) // 2 % 2


LEARNERS = {
    "objective perturbation": lambda classes: dpf.ObjectivePerturbation(
        feature_bound=3.0, epsilon=1.0, delta=1e-3, classes=classes
    ),
    "output perturbation": lambda classes: dpf.OutputPerturbation(
        regularization=0.01, feature_bound=3.0, epsilon=1.0, delta=1e-3, classes=classes
    ),
    "logistic regression": lambda classes: dpf.DPLogisticRegression(classes=classes, **_GENTLE),
    "support vector machine": lambda classes: dpf.DPLinearSVM(classes=classes, **_GENTLE),
    "functional mechanism": lambda classes: dpf.FairFunctionalClassifier(
        penalty=0.0, feature_bound=3.0, epsilon=1e4, delta=1e-3, classes=classes
    ),
    "group clipping": lambda classes: dpf.DPGroupClippingClassifier(classes=classes, **_COUNTED),
    "lagrangian": lambda classes: dpf.DPLagrangianClassifier(
        classes=classes, notion="equalized_odds", **_COUNTED
    ),
    "exponentiated gradient": lambda classes: dpf.PrivateExponentiatedGradient(
        classes=classes, notion="equalized_odds", feature_bound=3.0, epsilon=1e3, delta=1e-3, multiplier_bound=1e-9,
    ),
    "global scaling": lambda classes: dpf.DPGlobalScalingClassifier(
        classes=classes, scale_norm=2.0, **_COUNTED
    ),
    "network": lambda classes: dpf.DPNetworkClassifier(classes=classes, **_COUNTED),
    "fermi": lambda _: dpf.DPFermiClassifier(
        penalty=0.0, epsilon=1e4, delta=1e-3, steps=20, batch_size=20, learning_rate=1.0, noise="study", random_state=0,
        group_frequencies={0: 0.5, 1: 0.5},
    ),
}  # fmt: skip
_GENTLE: dict[str, Any] = {
    "noise_multiplier": 1e-3, "delta": 1e-3, "max_grad_norm": 1.0, "sample_rate": 0.8, "steps": 20,
    "learning_rate": 1.0, "noise": "study", "random_state": 0, "device": "cpu",
}  # fmt: skip
BY_GROUP = ("fermi", "functional mechanism", "group clipping", "lagrangian", "exponentiated gradient")
_COUNTED: dict[str, Any] = {name: value for name, value in _GENTLE.items() if name != "device"}


def check_labels(name: str, labels: tuple[Any, Any], declared: bool) -> None:
    """Raise unless rows that are easy to tell apart get their own labels, whatever these are called."""
    X, y, group = signs(labels)
    model = LEARNERS[name](labels if declared else None)
    with watched(exactly):
        model.fit(X, y, **({"sensitive_features": group} if name in BY_GROUP else {}))
    assert model.classes_.tolist() == sorted(labels)
    assert model.predict(X).tolist() == y.tolist()
    if hasattr(model, "predict_proba"):
        column = model.classes_.tolist().index(labels[1])
        likely = model.predict_proba(X)[:, column]
        assert (likely[y == labels[1]] > 0.6).all()
        assert (likely[y == labels[0]] < 0.4).all()
