"""The ticks of the thesis's Table 2.1 for the methods that run here, each judged by a test that could fail.

ε is large in all of them, so that noise does not decide: what a method cannot do without noise, it cannot do at all.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dpfair_lib.experiments.fair_learners.constrained import BOUNDS, RATES
from dpfair_lib.experiments.fair_learners.methods import FERMI_PENALTIES, PENALTIES

PRINTED = {
    "Algorithm 2": (True, True, True),
    "odds by counts": (True, True, False),
    "odds by reports": (True, True, False),
    "functional mechanism": (False, False, True),
    "group clipping": (True, False, True),
    "global scaling": (True, False, True),
    "DP-FERMI": (True, False, True),
    "exponentiated gradient": (False, True, True),
    "Lagrangian": (True, False, False),
}
"""Any model, guarantee, all features. Jagielski et al. have two rows: odds by counts is their post-processing,
exponentiated gradient their in-processing. Xu (2019) and Ding share a row. Lagrangian is Tran (2021a)."""
RULES = "Algorithm 2", "odds by counts", "odds by reports"
"""Methods that change the labels of a classifier."""
LARGE, ROWS, DELTA = 50.0, 20_000, 1e-6
TOLERANCE = 0.03
"""A gap that sampling can leave."""


class Tick(NamedTuple):
    """What was measured of a method.

    Attributes
    ----------
    error : float
        The largest error on three labels of two binary features, of which a linear model errs on one for a quarter.
    gap : float
        The largest gap of the method's notion on rows whose groups have equal mean features and unequal labels.
    relation : str
        What the statement of the method itself covers, the classifier before it left out.
    """

    error: float
    gap: float
    relation: str


def measure(name: str, seed: int = 0) -> Tick:
    """Return what is measured of a method.

    Parameters
    ----------
    name : str
        A key of `PRINTED`.
    seed : int
        Of rows and study noise.

    Raises
    ------
    ValueError
        If the method is not in the table.
    """
    if name not in PRINTED:
        raise ValueError(f"name: found {name!r}, expected one of {list(PRINTED)}")
    rng = np.random.default_rng(seed)
    corners, group = rng.integers(0, 2, (ROWS, 2)), rng.integers(0, 2, ROWS)
    x = np.column_stack([2 * corners - 1, np.ones(ROWS)]) / np.sqrt(3)
    targets = corners[:, 0], corners[:, 0] ^ corners[:, 1], 1 - corners[:, 0] * corners[:, 1]
    error = max(float(np.mean(_answers(name, x, y, y, group, rng)[0] != y)) for y in targets)
    features, guesses, labels = skewed(group, rng)
    answers, relation = _answers(name, features, guesses, labels, group, rng)
    rates = [
        [float(answers[(group == g) & chosen].mean()) for g in (0, 1)] for chosen in _chosen(name, labels)
    ]
    return Tick(error, max(abs(one - other) for one, other in rates), relation)


def skewed(group: np.ndarray, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return features with mean 0 in both groups, labels guessed from them, and labels of which one in twenty differs.

    In one group nine of ten have the guess 1, in the other one of ten.
    """
    rare = rng.random(len(group)) < 0.1
    value = np.where(rare, -9.0, 1.0) * np.where(group == 0, 1.0, -1.0) / 10
    guesses = (value > 0).astype(np.int64)
    flipped = (
        rng.random(len(group)) < 0.05
    )  # so that the guesses' true and false positive rates differ between groups
    return (
        np.column_stack([value, np.full(len(group), 0.1)]),
        guesses,
        np.where(flipped, 1 - guesses, guesses),
    )


def _chosen(name: str, labels: np.ndarray) -> list[np.ndarray]:
    """Return among which rows the method's notion compares the groups."""
    if name in ("odds by counts", "odds by reports"):
        return [labels == 0, labels == 1]
    return [np.ones(len(labels), dtype=bool)]


def _answers(
    name: str, x: np.ndarray, guesses: np.ndarray, y: np.ndarray, group: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, str]:
    """Return the labels that a method gives to its rows, and what its statement covers."""
    import dpfair_lib as dpf

    study: dict[str, Any] = {"noise": "study", "random_state": rng}
    descent: dict[str, Any] = {
        "epsilon": LARGE, "delta": DELTA, "sample_rate": 0.1, "steps": 60, "learning_rate": 2.0, **study,
    }  # fmt: skip
    if name in RULES:
        whom: dict[str, Any] = {"sensitive_features": group}
        if name == "Algorithm 2":
            sizes = dict(enumerate(np.bincount(group).tolist()))
            rule: Any = dpf.PrivateFairPostprocessor(
                LARGE, relation="replace-one", group_sizes=sizes, **study
            )
        elif name == "odds by counts":
            rule = dpf.EqualizedOddsPostprocessor(
                gamma=0.0, epsilon=LARGE, relaxed=False, groups=(0, 1), **study
            )
        else:
            channel = dpf.generalized_randomized_response(2, LARGE)
            rule = dpf.ReportedOddsPostprocessor(channel, gamma=0.0, noise="study")
            whom = {"reports": channel.apply(group, rng)}
        rule.fit(guesses, y_true=y, **whom)
        answers, model = rule.predict(guesses, random_state=rng, **whom), rule
    elif name == "functional mechanism":
        model = dpf.FairFunctionalClassifier(
            penalty=PENALTIES[-1], feature_bound=1.0, epsilon=LARGE, delta=DELTA, **study
        )
        answers = model.fit(x, y, sensitive_features=group).predict(x)
    elif name == "group clipping":
        model = dpf.DPGroupClippingClassifier(max_grad_norm=0.6, groups=(0, 1), classes=(0, 1), **descent)
        answers = model.fit(x, y, sensitive_features=group).predict(x)
    elif name == "global scaling":
        model = dpf.DPGlobalScalingClassifier(max_grad_norm=1.0, scale_norm=1.0, classes=(0, 1), **descent)
        answers = model.fit(x, y).predict(x)
    elif name == "exponentiated gradient":
        model = dpf.PrivateExponentiatedGradient(
            notion="demographic_parity", multiplier_bound=BOUNDS[-1], feature_bound=1.0, epsilon=LARGE, delta=DELTA,
            groups=(0, 1), classes=(0, 1), **study,
        )  # fmt: skip
        answers = model.fit(x, y, sensitive_features=group).predict(x, random_state=rng)
    elif name == "Lagrangian":
        model = dpf.DPLagrangianClassifier(
            notion="demographic_parity", multiplier_rate=RATES[-1], max_grad_norm=1.0, groups=(0, 1), classes=(0, 1),
            **descent,
        )  # fmt: skip
        answers = model.fit(x, y, sensitive_features=group).predict(x)
    else:
        model = dpf.DPFermiClassifier(
            penalty=FERMI_PENALTIES[-1], epsilon=LARGE, delta=DELTA, steps=60, batch_size=ROWS // 10, learning_rate=2.0,
            w_learning_rate=1.0, frequency_epsilon=1.0, **study,
        )  # fmt: skip
        answers = model.fit(x, y, sensitive_features=group).predict(x)
    return np.asarray(answers, dtype=np.int64), model.privacy_statement_.relation


def found(tick: Tick) -> tuple[bool, bool, bool]:
    """Return which ticks stand: any model, guarantee, all features.

    Parameters
    ----------
    tick : Tick
        From `measure`.
    """
    return tick.error <= TOLERANCE, tick.gap <= TOLERANCE, tick.relation in ("replace-one", "add-remove")
