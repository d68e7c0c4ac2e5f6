"""The lines of code that fit each method of the comparison, with the numbers that the record used."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from dpfair_lib.experiments.fair_learners.bases import ATTRIBUTE, PRESENT, RECORD, divided, nearest
from dpfair_lib.experiments.fair_learners.methods import (
    CHANGED,
    FREQUENCIES_SHARE,
    MOVED,
    PLAIN,
    SIZES_SHARE,
    THRESHOLDS,
)
from dpfair_lib.experiments.fair_learners.settings import EPSILONS
from dpfair_lib.experiments.fair_learners.trials import CONSTANT, OF_NOTION
from dpfair_lib.privacy.rounding import below

ASSUMED = (
    "X, X_new: arrays of rows of norm at most 1, one combination of columns constant, none of them the group; "
    "y, group, group_new: 0 and 1; all of this fixed before the data were seen"
)
"""What the lines take for granted."""
IMPORTED = {
    "LogisticRegression": "from sklearn.linear_model import LogisticRegression",
    "NoiseSource": "from dpfair_lib.privacy.noise_source import NoiseSource",
    "noise_scale": "from dpfair_lib.privacy.rounding import noise_scale",
    "FINE": "from dpfair_lib.learners.functional import FINE, sensitivity",
}
"""What the lines import beside ``import numpy as np`` and ``import dpfair_lib as dpf``, where they use it."""
BASES = {
    RECORD: (
        "strength = max({least!r} / {first!r}, X.shape[1] ** 0.5 * dpf.gaussian_sigma({first!r}, {delta!r}, 2.0, "
        "'analytic') / {length!r}) / len(y)",
        "model = dpf.ObjectivePerturbation(regularization=strength, feature_bound=1.0, epsilon={first!r}, "
        "delta={delta!r}, fit_intercept=False, classes=(0, 1)).fit(X, y)",
    ),
    PRESENT: (
        "model = dpf.DPLogisticRegression(epsilon={first!r}, delta={delta!r}, max_grad_norm=1.0, {descent}, "
        "fit_intercept=False, classes=(0, 1)).fit(X, y)",
    ),
    ATTRIBUTE: ("model = LogisticRegression(C=1e4, fit_intercept=False, max_iter=5000).fit(X, y)",),
}
"""The classifier whose labels are changed, by what is protected."""
CHANGE = "rule.fit(model.predict(X), y_true=y, sensitive_features=group)"
ANSWER = "labels = rule.predict(model.predict(X_new), sensitive_features=group_new)"
LEARN = {
    "functional mechanism": "model = dpf.FairFunctionalClassifier(penalty={dial!r}, feature_bound=1.0, "
    "epsilon={epsilon!r}, delta={delta!r}, regularization={strength}).fit(X, y, sensitive_features=group)",
    "DP-FERMI": "model = dpf.DPFermiClassifier(penalty={dial!r}, epsilon={epsilon!r}, delta={delta!r}, steps={steps}, "
    "batch_size=max(round({rate!r} * len(y)), 1), learning_rate={speed!r}, w_learning_rate={w_rate!r}, "
    "max_grad_norm=1.0, frequency_epsilon={frequencies!r}).fit(X, y, sensitive_features=group)",
    "group clipping": "model = dpf.DPGroupClippingClassifier(groups=(0, 1), epsilon={epsilon!r}, delta={delta!r}, "
    "max_grad_norm={dial!r}, {descent}, fit_intercept=False, classes=(0, 1)).fit(X, y, sensitive_features=group)",
    "global scaling": "model = dpf.DPGlobalScalingClassifier(scale_norm=1.0, epsilon={epsilon!r}, delta={delta!r}, "
    "max_grad_norm={dial!r}, {descent}, fit_intercept=False, classes=(0, 1)).fit(X, y)",
    **{
        f"Lagrangian, {notion}": f"model = dpf.DPLagrangianClassifier(notion={name!r}, multiplier_rate={{dial!r}}, "
        "groups=(0, 1), epsilon={epsilon!r}, delta={delta!r}, max_grad_norm=1.0, {descent}, fit_intercept=False, "
        "classes=(0, 1)).fit(X, y, sensitive_features=group)"
        for notion, name in OF_NOTION.items()
    },
    **{
        f"exponentiated gradient, {notion}": f"model = dpf.PrivateExponentiatedGradient(notion={name!r}, "
        "multiplier_bound={dial!r}, multiplier_rate={rate!r}, feature_bound=1.0, groups=(0, 1), epsilon={epsilon!r}, "
        "delta={delta!r}, classes=(0, 1)).fit(X, y, sensitive_features=group)"
        for notion, name in OF_NOTION.items()
    },
}
"""Methods that learn by themselves, in one line."""
LEAST_DELTA = 1.5e-10
"""A δ that the accountant of DP-SGD resolves, after what it takes off for its own rounding."""


def recipe(
    name: str, protection: str, epsilon: float, rows: int, dial: float | None, parameters: Mapping[str, Any]
) -> list[str]:
    """Return the lines that fit a method and predict, with secure noise.

    Parameters
    ----------
    name, protection : str
        Which method.
    epsilon : float
        ε of all that is released. What was chosen for the largest recorded ε that is not above it is taken.
    rows : int
        Number of training rows, for `delta`.
    dial : float or None
        The setting of the dial.
    parameters : mapping
        Of the record whose settings are taken: its ``settings`` and its ``tuning``.

    Raises
    ------
    ValueError
        If the method is not one of the comparison.
    """
    if name == CONSTANT:
        return _constant(protection, epsilon)
    tuned = parameters["tuning"].get(f"{protection}/{name}")
    if tuned is None and not (name == PLAIN and protection == ATTRIBUTE):
        raise ValueError(f"name: found {name!r} under {protection!r}, expected a method of the comparison")
    at = max((at for at, recorded in enumerate(EPSILONS) if recorded <= epsilon), default=0)
    candidate: Mapping[str, float] = tuned[at] if tuned else {}
    split = divided(epsilon, candidate["share"]) if "share" in candidate else None
    first = split.first if split else epsilon
    left = split.second if split else epsilon
    values: dict[str, Any] = {
        "epsilon": epsilon, "delta": delta(protection, rows), "first": first, "dial": dial, "relation": protection,
        **_steps(parameters, epsilon if name in LEARN else first, candidate.get("factor", 1.0)), **candidate,
        **nearest(parameters["settings"]["objective, Gaussian"], first),
    }  # fmt: skip
    if name in LEARN:
        values["frequencies"] = FREQUENCIES_SHARE * epsilon
        values["strength"] = _functional_strength(candidate, values) if name == "functional mechanism" else ""
        line = LEARN[name].format(**values)
        before = ["p = X.shape[1] + 1"] if "p**" in line else []
        return [*before, line, "labels = model.predict(X_new)"]
    base = [line.format(**values) for line in BASES[protection]]
    if name == PLAIN:
        return [*base, "labels = model.predict(X_new)"]
    if name == "thresholds":
        return [*base, *_thresholds(left)]
    if name == "odds by reports":
        return [*base, *_reports(epsilon, dial)]
    return [*base, *_changed(CHANGED[name], protection, left, 0.0 if dial is None else dial)]


def delta(protection: str, rows: int) -> float:
    """Return δ: 1 over the square of the number of rows, and under add-remove at least `LEAST_DELTA`.

    Parameters
    ----------
    protection : str
        What is protected.
    rows : int
        Number of training rows.
    """
    return max(float(rows) ** -2.0, LEAST_DELTA if protection == PRESENT else 0.0)


def imports(lines: list[str]) -> list[str]:
    """Return the imports that lines need.

    Parameters
    ----------
    lines : list of str
        From `recipe`.
    """
    text = "\n".join(lines)
    more = [line for word, line in IMPORTED.items() if word in text]
    return ["import numpy as np", "import dpfair_lib as dpf", *more]


def _constant(protection: str, epsilon: float) -> list[str]:
    """Return the lines of the constant: which label is more frequent is private, too, unless labels are public."""
    if protection == ATTRIBUTE:
        return ["labels = np.full(len(X_new), 2 * y.sum() > len(y), dtype=int)"]
    moved = 1 if protection == PRESENT else 2
    return [
        "lead = 2 * int(y.sum()) - len(y)  # of label 1 over label 0",
        f"noisy = NoiseSource.of('secure', None).add_discrete_laplace([lead], noise_scale({moved}, {epsilon!r}))",
        f"paid = dpf.PrivacyStatement({epsilon!r}, 0.0, {protection!r})",
        "labels = np.full(len(X_new), int(noisy[0]) > 0, dtype=int)",
    ]


def _steps(parameters: Mapping[str, Any], epsilon: float, factor: float) -> dict[str, Any]:
    found = nearest(parameters["settings"]["DP-SGD"], epsilon)
    rate, steps, speed = found["sample_rate"], int(found["steps"]), factor * found["learning_rate"]
    descent = f"sample_rate={rate!r}, steps={steps}, learning_rate={speed!r}"
    return {"descent": descent, "rate": rate, "steps": steps, "speed": speed}


def _functional_strength(candidate: Mapping[str, float], values: Mapping[str, Any]) -> str:
    """Return the regulariser: a factor times the usual one, which the estimator takes by itself."""
    if candidate["factor"] == 1.0:
        return "None"
    sigma = f"dpf.gaussian_sigma({values['epsilon']!r}, {values['delta']!r}, sensitivity(p), 'analytic')"
    return f"{candidate['factor']!r} * p**0.5 * 2 * {sigma} / (FINE * len(y))"


def _thresholds(left: float) -> list[str]:
    return [
        f"pairs = [np.array([a, b]) for a in {THRESHOLDS!r} for b in {THRESHOLDS!r}]",
        "rules = [lambda scores, groups, cut=cut: (scores > cut[groups]).astype(float) for cut in pairs]",
        f"rule = dpf.ExponentialFairLearner(rules, epsilon={below(Fraction(left) / 2)!r}, delta=0.0, repair='pure')",
        "rule.fit(model.decision_function(X), y, sensitive_features=group)",
        "labels = rule.predict(model.decision_function(X_new), sensitive_features=group_new)",
    ]


def _reports(epsilon: float, dial: float | None) -> list[str]:
    return [
        f"channel = dpf.generalized_randomized_response(2, {epsilon!r})  # each person applies it to their own group",
        "reports, reports_new = channel.apply(group), channel.apply(group_new)",
        f"rule = dpf.ReportedOddsPostprocessor(channel, gamma={dial!r})",
        "rule.fit(model.predict(X), y_true=y, reports=reports)",
        "labels = rule.predict(model.predict(X_new), reports=reports_new)",
    ]


def _changed(kind: str, protection: str, left: float, gamma: float) -> list[str]:
    if kind == "odds":
        return [
            f"rule = dpf.EqualizedOddsPostprocessor(gamma={gamma!r}, epsilon={left!r}, relation={protection!r}, "
            "relaxed=False, groups=(0, 1))",
            CHANGE, ANSWER,
        ]  # fmt: skip
    shown = f"relation={protection!r}, gamma={gamma!r}"
    if kind == "opportunity":
        each = below(Fraction(left) / MOVED[protection])
        return [
            f"rule = dpf.PrivateFairPostprocessor({each!r}, {shown}, mechanism='geometric', "
            "notion='equal_opportunity', group_sizes=[0, 1])",
            CHANGE, ANSWER,
        ]  # fmt: skip
    for_counts, for_sizes = divided(left, SIZES_SHARE)
    each, mechanism = (
        below(Fraction(for_counts) / MOVED[protection]),
        "laplace" if kind == "printed" else "geometric",
    )
    both = protection == PRESENT
    return [
        f"noisy = NoiseSource.of('secure', None).add_discrete_laplace(np.bincount(group, minlength=2)"
        f"{'' if both else '[:1]'}, noise_scale(1, {for_sizes!r}))",
        f"sizes = {{0: max(int(noisy[0]), 1), 1: max(int({'noisy[1]' if both else 'len(y) - noisy[0]'}), 1)}}",
        f"paid = dpf.PrivacyStatement({for_sizes!r}, 0.0, {protection!r})  # of the sizes",
        f"rule = dpf.PrivateFairPostprocessor({each!r}, {shown}, mechanism={mechanism!r}, group_sizes=sizes)",
        CHANGE, ANSWER,
    ]  # fmt: skip
