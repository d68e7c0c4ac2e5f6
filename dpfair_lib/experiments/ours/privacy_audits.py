"""Audits of everything that the library releases: a lower bound on ε from outputs, compared with the claimed ε.

For every release there is a pair of neighbouring data sets that are as different as the statement allows, and a score
of the output. The release is run many times on both, as a user would run it, with secure noise wherever it exists.
`dpfair_lib.audit` sees only the scores, and chooses the event that gives the largest lower bound.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.ours.audited_joint import JOINT, PLANTED
from dpfair_lib.experiments.ours.audited_models import MODELS
from dpfair_lib.experiments.ours.audited_release import FAILURE, Audited, audit_of, changed, one_by_one
from dpfair_lib.privacy import PrivacyStatement

FITS, DRAWS, TOGETHER = 3000, 200_000, 6000
"""Runs on each data set: of releases that are fitted one by one, of those that come many at a time, and of two releases
at once."""


def audited(name: str, size: int, *, seed: int = 0, failure: float = FAILURE) -> dict[str, Any]:
    """Return what the audit of one release found, and what the release claims.

    Parameters
    ----------
    name : str
        A key of one of `RECORDS`.
    size : int
        Runs on each data set; half of them choose the event, half test it.
    seed : int
        Of study noise, and of what a learner draws for itself. Secure noise has none.
    failure : float
        Probability that the bound exceeds the true ε.

    Returns
    -------
    dict
        ``release, relation, noise, guarantee``; ``epsilon, delta`` as claimed; ``lower``, the bound; ``runs`` of the
        test, ``hits`` and ``others``, how many of them fell into the event on either data set.
    """
    return audit_of(
        name,
        _recorded(name)[name],
        size,
        seed=seed,
        failure=failure,
        noise="secure" if _is_secure(name) else "study",
    )


def run_audit(*, release: str, seed: int, size: int | None = None) -> list[dict[str, Any]]:
    """Return the row of one release, with the recorded number of runs unless another size is given."""
    recorded = _recorded(release)
    if size is None:
        size = DRAWS if recorded[release].many else TOGETHER if release in BOTH else FITS
    return [audited(release, size, seed=seed, failure=FAILURE / len(recorded))]


def _recorded(name: str) -> dict[str, Audited]:
    """Return the releases of the record that has this one."""
    return next(found for found in RECORDS.values() if name in found)


def _is_secure(name: str) -> bool:
    return name not in STUDY


GROUP, LABEL = np.repeat([0, 1], 10), np.tile([0, 1], 10)
SIZES = {0: 10, 1: 10}


def rates(relation: str, mechanism: Any) -> Audited:
    """Audit the noisy rates: a count goes down, and under two of the relations another one up."""
    from dpfair_lib.central.private_postprocessor import PrivateFairPostprocessor

    both = relation in ("replace-one", "sensitive-attribute")
    second = {
        "replace-within-group": (changed(LABEL, 1, 0), GROUP),
        "add-remove": (np.delete(LABEL, 1), np.delete(GROUP, 1)),
    }.get(relation, (LABEL, changed(GROUP, 1, 1)))
    sizes = {} if relation == "replace-within-group" else {"group_sizes": SIZES}

    def fit(data: Any, _: int) -> Any:
        fair = PrivateFairPostprocessor(1.0, relation=relation, mechanism=mechanism, **sizes)  # type: ignore[arg-type]
        return fair.fit(data[0], sensitive_features=data[1])

    def score(fitted: Any) -> float:
        moved = fitted.noisy_rates_[0] - 0.5, 0.5 - fitted.noisy_rates_[1]
        return float(min(moved) if both else moved[0])

    return Audited(((LABEL, GROUP), second), one_by_one(fit, score))


def odds(relation: str) -> Audited:
    """Audit the noisy table: one cell goes down, and another one up unless a row is removed."""
    from dpfair_lib.svm.equalized_odds import EqualizedOddsPostprocessor

    truth = np.zeros(20, dtype=int)
    second = {
        "sensitive-attribute": (LABEL, changed(GROUP, 1, 1), truth),
        "replace-one": (LABEL, changed(GROUP, 1, 1), truth),
        "add-remove": tuple(np.delete(column, 1) for column in (LABEL, GROUP, truth)),
    }[relation]

    def fit(data: Any, _: int) -> Any:
        fair = EqualizedOddsPostprocessor(gamma=0.1, epsilon=1.0, relation=relation, groups=(0, 1))
        return fair.fit(data[0], sensitive_features=data[1], y_true=data[2])

    def score(fitted: Any) -> float:
        moved = fitted.counts_[1, 0, 0] - 5, 5 - fitted.counts_[1, 1, 0]
        return float(moved[0] if relation == "add-remove" else min(moved))

    return Audited(((LABEL, GROUP, truth), second), one_by_one(fit, score))


def certificate() -> Audited:
    """Audit the certificate: a row that was right under all models within the reach is wrong; one of two counts shows.

    All rows of the other group are right, so that its upper end is clipped, and the lower end of the first one's
    interval depends on the count of its right rows alone.
    """
    from dpfair_lib.margins.private_certificate import private_certificate

    label, group = np.tile([0, 1], 400), np.repeat([0, 1], 400)
    signs = np.where((group == 0) & (np.arange(800) // 2 % 2 == 0), -1.0, 1.0)
    scores = np.where(label == 1, 1.0, -1.0) * signs

    def fit(data: Any, _: int) -> Any:
        return private_certificate(
            data, label, X=data[:, None], sensitive_features=group, notion="equal_opportunity", sigma=0.01,
            zeta=0.1, epsilon=1.0,
        )  # fmt: skip

    at = int(np.flatnonzero((label == 1) & (group == 0) & (scores > 0))[0])
    return Audited((scores, changed(scores, at, -1.0)), one_by_one(fit, lambda made: float(made.lower[2])))


def constants() -> Audited:
    """Audit the constants for scaling: a value goes from one bound to the other."""
    from dpfair_lib.central.preparation import private_constants

    values = np.full((50, 1), 0.5)
    values[0] = 1.0

    def fit(data: Any, _: int) -> Any:
        return private_constants(data, [(0.0, 1.0)], 1.0)

    def score(made: Any) -> float:
        mean = float(made.center[0])
        return min(mean - 0.51, float(made.deviation[0]) ** 2 + mean**2 - 0.265)

    return Audited((values, changed(values, 0, 0.0)), one_by_one(fit, score))


def weights(kind: Any, *, noise: Any = "secure") -> Audited:
    """Audit output perturbation: one of two equal rows changes its label, the regulariser being strong."""
    from dpfair_lib.learners.output_perturbation import OutputPerturbation

    X = np.ones((2, 1))

    def fit(data: Any, seed: int) -> Any:
        model = OutputPerturbation(
            regularization=100.0, feature_bound=1.0, epsilon=0.9, delta=0.0 if kind == "laplace" else 1e-2,
            noise_kind=kind, fit_intercept=False, classes=(0, 1), noise=noise,
            random_state=None if noise == "secure" else seed,
        )  # fmt: skip
        return model.fit(X, data)

    pair = np.array([1, 1]), np.array([0, 1])
    return Audited(pair, one_by_one(fit, lambda fitted: float(fitted.coef_[0, 0])))


def choices(repair: Any) -> Audited:
    """Audit the exponential learner: by its noisy count, which costs one half of the claim, or by its choice."""
    from dpfair_lib.compatibility.private_learner.exponential_learner import ExponentialFairLearner

    place, label, group = np.array([0, 1, 2, 3])[:, None], np.ones(4, dtype=int), np.array([0, 0, 1, 1])
    # right about all but the rows at one of two places
    rules = [lambda x, _: (np.asarray(x)[:, 0] != 2) * 1.0, lambda x, _: (np.asarray(x)[:, 0] != 3) * 1.0]
    settings = {"epsilon": 0.5, "delta": 0.0 if repair == "pure" else 1e-3, "repair": repair}

    def fit(data: Any, _: int) -> Any:
        X, y = data
        return ExponentialFairLearner(rules, **settings).fit(X, y, sensitive_features=group)

    def score(fitted: Any) -> float:
        return float(fitted.index_) if repair == "pure" else float(fitted.noisy_count_)

    other = (changed(place, 3, 2), label) if repair == "pure" else (place, changed(label, 3, 0))
    return Audited(((place, label), other), one_by_one(fit, score))


def game() -> Audited:
    """Audit the no-regret learner on noisy counts: a cell's only people get the other label."""
    import pandas as pd

    from dpfair_lib.compatibility.subgroup_fairness.no_regret import PrivateNoRegretFair

    cells, label = pd.DataFrame({"cell": [0, 0, 1, 1]}), np.array([1, 0, 1, 0])

    def fit(data: Any, _: int) -> Any:
        learner = PrivateNoRegretFair(
            epsilon=2.0, delta=1e-3, subgroups=[{"group": 1}], rounds=1, samples=50, levels={"cell": (0, 1)},
        )  # fmt: skip
        return learner.fit(cells, data, sensitive_features=pd.DataFrame({"group": [0, 1, 0, 1]}))

    return Audited((label, changed(label, 0, 0)), one_by_one(fit, lambda fitted: float(fitted.selection_[0])))


def steps(relation: Any, count: int) -> Audited:
    """Audit private descent on one feature: a record with the largest gradient comes in, or turns round."""
    from dpfair_lib.learners.logistic import DPLogisticRegression

    plain = np.array([[1e-3], [1e3]]), np.array([0, 1])
    other = (
        (plain[0], np.array([0, 0])) if relation == "replace-one" else tuple(column[:1] for column in plain)
    )

    def release(data: Any, size: int, seed: int) -> tuple[np.ndarray, PrivacyStatement]:
        model = DPLogisticRegression(
            noise_multiplier=1.5, delta=1e-3, max_grad_norm=1.0, sample_rate=1.0, steps=count, learning_rate=1.0,
            expected_batch_size=1.0, classes=(0, 1), fit_intercept=False, replicates=max(size, 2), relation=relation,
            device="cpu", noise="study", random_state=seed,
        ).fit(*data)  # fmt: skip
        return model.coef_.reshape(-1)[:size], model.privacy_statement_

    return Audited((plain, other), release, many=True)


def reports(channel: Callable[[], Any]) -> Audited:
    """Audit a local channel on two values; a set is reduced to whether it holds the one and not the other."""

    def release(data: int, size: int, _: int) -> tuple[np.ndarray, PrivacyStatement]:
        made = channel()
        drawn = made.apply(np.full(size, data, dtype=np.int64))
        return (drawn[:, 0] - drawn[:, 1].astype(int) if drawn.ndim > 1 else drawn), made.privacy_statement()

    return Audited((0, 1), release, many=True)


def vectors() -> Audited:
    """Audit the printed perturbation of support vectors, which is refuted: their number is released without noise."""
    from sklearn.svm import SVC

    from dpfair_lib.svm.perturbation import SupportVectorPerturbation

    X, label = np.arange(8.0)[:, None], np.repeat([0, 1], 4)

    def fit(data: Any, seed: int) -> Any:
        svc = SVC(kernel="linear", C=1e3).fit(data, label)
        return SupportVectorPerturbation(svc, epsilon=1.0).perturb(np.random.default_rng(seed))

    return Audited((X, changed(X, 3, 5.5)), one_by_one(fit, lambda drawn: float(len(drawn.support_vectors_))))


def _response() -> Any:
    from dpfair_lib.local.response import generalized_randomized_response

    return generalized_randomized_response(4, 1.0)


def _subsets() -> Any:
    from dpfair_lib.local.subsets import subset_selection

    return subset_selection(5, 1.0, size=2)


def _channel() -> Any:
    from dpfair_lib.local.randomizer import Randomizer

    return Randomizer([[0.5, 0.25, 0.25], [0.2, 0.6, 0.2], [0.25, 0.25, 0.5]])


RELATIONS = ("replace-within-group", "add-remove", "replace-one", "sensitive-attribute")
RELEASES: dict[str, Audited] = {
    **{f"noisy rates, {relation}": rates(relation, "laplace") for relation in RELATIONS},
    "noisy rates, geometric": rates("add-remove", "geometric"),
    **{f"noisy odds, {relation}": odds(relation) for relation in RELATIONS[1:]},
    "certificate": certificate(),
    "constants for scaling": constants(),
    **{f"output perturbation, {kind}": weights(kind) for kind in ("analytic", "classical", "laplace")},
    "exponential learner, repaired": choices(True),
    "exponential learner, pure": choices("pure"),
    "no-regret learner": game(),
    "descent, 1 step": steps("add-remove", 1),
    "descent, 5 steps": steps("add-remove", 5),
    "descent, 1 step, replace-one": steps("replace-one", 1),
    "randomised response": reports(_response),
    "subset selection": reports(_subsets),
    "a channel": reports(_channel),
    "support vectors, printed": vectors(),
}
"""Releases of the first record by name; `MODELS` are those of the second."""

STUDY = frozenset(name for name in RELEASES if name.startswith(("descent,", "support vectors")))
"""Those that have study noise only."""


def experiment(name: str) -> Experiment:
    """Return a lower bound on the ε of every kind of release of a record, a task per release; on made-up rows."""
    parameters = {"fits": FITS, "draws": DRAWS, "together": TOGETHER, "failure": FAILURE, "seed": 0}
    tasks = [{"release": release, "seed": 0} for release in RECORDS[name]]
    return Experiment(name, {"name": "made up"}, parameters, run_audit, tasks)


BOTH = JOINT | PLANTED
RECORDS = {"privacy-audits": RELEASES, "privacy-audits-models": MODELS, "privacy-audits-joint": BOTH}
EXPERIMENTS: Experiments = dict.fromkeys(RECORDS, experiment)
