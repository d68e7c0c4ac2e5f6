import math

import numpy as np
import pytest
import torch
from scipy.optimize import minimize
from scipy.stats import kstest
from sklearn.svm import LinearSVC
from sklearn.utils.estimator_checks import parametrize_with_checks

import dpfair_lib as dpf
from dpfair_lib.learners import fused_backend, opacus_backend
from dpfair_lib.learners.batches import poisson_batches
from dpfair_lib.learners.losses import HALF_WIDTH, descent
from dpfair_lib.learners.minimiser import bounded_rows, minimise
from dpfair_lib.learners.settings import Steps
from dpfair_lib.privacy.laplace_vector import laplace_vector_loss
from dpfair_lib.privacy.minimisers import output_perturbation_sensitivity

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4)) * [0.2, 1.0, 1.0, 3.0]
Y = np.where(X @ [1.0, 1.0, -1.0, 0.3] + RNG.normal(size=120) > 0, 1.0, -1.0)
CPU = torch.device("cpu")
SVM = {
    "loss": "huberised-hinge", "regularization": 0.05, "feature_bound": 1.0, "epsilon": 1.0, "noise": "study",
    "random_state": 0,
}  # fmt: skip
PURE = SVM | {"delta": 0, "noise_kind": "laplace"}


def hinge(z):
    """The rounded hinge in its three pieces, for one margin."""
    if z > 1 + HALF_WIDTH:
        return 0.0
    return 1 - z if z < 1 - HALF_WIDTH else (1 + HALF_WIDTH - z) ** 2 / (4 * HALF_WIDTH)


@pytest.mark.parametrize("modulus", [1e-6, 1e-2, 1.0, 50.0])
def test_the_minimiser_is_that_of_a_general_solver_on_the_three_pieces(modulus):
    rows, _ = bounded_rows(X, 1.0, intercept=True)

    def objective(w):
        return (
            sum(hinge(y * (row @ w)) for row, y in zip(rows, Y, strict=True)) / len(Y) + modulus / 2 * w @ w
        )

    found = minimise(rows, Y, modulus, 1e-12, "huberised-hinge")
    known = minimize(objective, np.zeros(5), method="BFGS", options={"gtol": 1e-9})
    assert objective(found) <= known.fun + 1e-12
    if modulus >= 1e-2:
        assert found == pytest.approx(known.x, abs=1e-4)


def test_it_classifies_like_the_hinge_of_scikit_learn():
    rows, _ = bounded_rows(X, 1.0, intercept=True)
    found = minimise(rows, Y, 0.01, 1e-12, "huberised-hinge")
    known = LinearSVC(C=1 / (0.01 * len(Y)), loss="hinge", fit_intercept=False, max_iter=200_000, tol=1e-8)
    scores = known.fit(rows, Y).decision_function(rows)
    assert ((rows @ found > 0) == (scores > 0)).mean() > 0.95


def replaced(rows, signs, at, row, sign):
    rows, signs = rows.copy(), signs.copy()
    rows[at], signs[at] = row, sign
    return rows, signs


def longest_move(modulus, *, clip=True, factor=1.0):
    """How far the minimiser moves at most, over replaced records, those of the largest norm among them."""
    table = X[:30] if clip else 3 * X[:30]
    rows, bound = bounded_rows(table, 1.0, intercept=False) if clip else (table, 1.0)
    before = minimise(rows, Y[:30], modulus, 1e-13, "huberised-hinge")
    moved = []
    for at in range(30):
        # its own opposite, the farthest that a gradient can go; another record; and none
        others = [
            (rows[at], -Y[at]),
            (-rows[at] * factor, Y[at]),
            (rows[at - 1], Y[at - 1]),
            (0 * rows[at], Y[at]),
        ]
        for row, sign in others:
            after = minimise(*replaced(rows, Y[:30], at, row, sign), modulus, 1e-13, "huberised-hinge")
            moved.append(np.linalg.norm(after - before))
    return max(moved), output_perturbation_sensitivity(lipschitz=bound, strong_convexity=modulus, n=30)


@pytest.mark.parametrize("modulus", [1e-3, 1e-2, 0.1, 1.0, 4.0])
def test_replacing_one_record_never_moves_the_minimiser_further_than_the_bound(modulus):
    moved, bound = longest_move(modulus)
    assert 0 < moved <= bound * (1 + 1e-9)


def test_the_bound_is_attained_and_so_tells_wrong_constants():
    # with μ ≥ 2Λ² every margin is on the line, where the loss has no curvature: the minimiser is mean(yx)/μ
    moved, bound = longest_move(2.0)
    assert moved == pytest.approx(bound, rel=1e-9)
    wrong = {
        "one Λ for two": output_perturbation_sensitivity(lipschitz=0.5, strong_convexity=2.0, n=30),
        "modulus of the objective twice": output_perturbation_sensitivity(
            lipschitz=1, strong_convexity=4.0, n=30
        ),
        "modulus of a sum of n losses": output_perturbation_sensitivity(
            lipschitz=1, strong_convexity=60.0, n=30
        ),
        "n + 1 records": output_perturbation_sensitivity(lipschitz=1, strong_convexity=2.0, n=31),
    }
    for name, constant in wrong.items():
        assert moved > constant * (1 + 1e-6), name


def test_without_clipping_the_bound_fails():
    moved, bound = longest_move(2.0, clip=False)
    assert moved > 2 * bound


def test_a_minimum_found_roughly_is_within_the_sensitivity_released():
    model = dpf.OutputPerturbation(**(PURE | {"tolerance": 5.0, "fit_intercept": False})).fit(X, Y)
    rows, _ = bounded_rows(X, 1.0, intercept=False)
    rough = minimise(rows, Y, 0.05, 5.0 / len(Y), "huberised-hinge")
    exact = minimise(rows, Y, 0.05, 1e-13, "huberised-hinge")
    error = np.linalg.norm(rough - exact)
    plain = output_perturbation_sensitivity(lipschitz=1, strong_convexity=0.05, n=len(Y))
    # two such errors, one for each of two neighbours, are what the tolerance adds
    assert 1e-6 < 2 * error <= model.sensitivity_ - plain


def test_laplace_noise_costs_epsilon_exactly_along_the_diagonal():
    model = dpf.OutputPerturbation(**PURE).fit(X, Y)
    p, scale = 5, model.sigma_ / math.sqrt(2)
    moved = np.full(p, model.sensitivity_ / math.sqrt(p))  # of Euclidean length Δ
    assert laplace_vector_loss(np.zeros(p), np.zeros(p), moved, scale) == pytest.approx(1.0)
    for _ in range(100):
        other = RNG.normal(size=p)
        other *= model.sensitivity_ / np.linalg.norm(other)
        assert laplace_vector_loss(np.zeros(p), np.zeros(p), other, scale) <= 1 + 1e-12
    statement = model.privacy_statement_
    assert (statement.epsilon, statement.delta, statement.relation) == (1.0, 0, "replace-one")


def test_replicates_have_laplace_noise():
    model = dpf.OutputPerturbation(**(PURE | {"replicates": 2000})).fit(X, Y)
    rows, _ = bounded_rows(X, 1.0, intercept=True)
    optimum = minimise(rows, Y, 0.05, 1e-3 * math.sqrt(2) / len(Y), "huberised-hinge")
    noise = np.column_stack([model.coef_[:, 0], model.intercept_]) - optimum
    assert kstest(noise.ravel() / (model.sigma_ / math.sqrt(2)), "laplace").pvalue > 1e-6
    assert kstest(noise.ravel() / model.sigma_, "norm").pvalue < 1e-6


def test_secure_noise_of_both_kinds():
    secure = SVM | {"noise": "secure", "random_state": None}
    for chosen in ({"delta": 0, "noise_kind": "laplace"}, {"delta": 1e-6}):
        model = dpf.OutputPerturbation(**(secure | chosen)).fit(X, Y)
        assert model.privacy_statement_.guarantee
        assert model.privacy_statement_.delta == chosen["delta"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"delta": 1e-6}, "delta: found 1e-06 beside noise_kind='laplace', expected 0"),
        ({"delta": None}, "delta: found None"),
        (
            {"noise_kind": "analytic"},
            "delta: found 0 beside noise_kind='analytic', .* expected a number in .* noise_kind='laplace'",
        ),
        ({"loss": "hinge"}, "loss: found 'hinge'"),
    ],
)
def test_bad_parameters_are_named(changes, message):
    with pytest.raises(ValueError, match=message):
        dpf.OutputPerturbation(**(PURE | changes)).fit(X, Y)


def test_only_the_logistic_loss_has_probabilities():
    pure = dpf.OutputPerturbation(**PURE).fit(X, Y)
    assert not hasattr(pure, "predict_proba")
    assert hasattr(dpf.OutputPerturbation(**(PURE | {"loss": "logistic"})).fit(X, Y), "predict_proba")
    assert pure.decision_function(X).shape == (120,)
    assert not hasattr(SGD, "predict_proba")


SGD = dpf.DPLinearSVM(
    noise_multiplier=2.0,
    delta=1e-5,
    max_grad_norm=1.5,
    sample_rate=0.25,
    steps=5,
    learning_rate=0.1,
    noise="study",
    random_state=0,
)


@parametrize_with_checks([dpf.OutputPerturbation(**(PURE | {"epsilon": 1e6})), SGD])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
def test_they_pass_scikit_learns_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("train", [fused_backend.train, opacus_backend.train])
@pytest.mark.parametrize("rate", [0.3, 1.0])
def test_steps_by_hand(train, rate):
    steps = Steps(
        noise_multiplier=0.0, max_grad_norm=1.5, sample_rate=rate, count=7, learning_rate=2.0, fit_intercept=True,
        loss="huberised-hinge",
    )  # fmt: skip
    seed = np.random.SeedSequence(3)
    first = np.random.SeedSequence(3).spawn(2)[0]
    if train is fused_backend.train:
        batches = list(poisson_batches(len(Y), rate, 7, first))
    else:
        draws = np.random.default_rng(first)
        batches = [np.flatnonzero(draws.random(len(Y)) < rate) for _ in range(7)]
    weights, kinds = np.zeros(5), set()
    for rows in batches:
        total = np.zeros(5)
        for row, y in zip(X[rows], Y[rows], strict=True):
            record = np.append(row, 1.0)
            z = y * (record @ weights)
            share = min(max((1 + HALF_WIDTH - z) / (2 * HALF_WIDTH), 0), 1)
            kinds.add((share > 0) + (share == 1))
            gradient = -share * y * record
            total += gradient * min(1.0, 1.5 / (np.linalg.norm(gradient) + 1e-6))
        weights -= 2.0 * total / (rate * len(Y))
    assert kinds == {0, 1, 2}  # all three pieces were met
    assert train(X, (Y > 0).astype(int), steps, [seed], CPU, dtype="float64", shared_batches=False)[0] == (
        pytest.approx(weights, abs=1e-12)
    )


def test_the_statement_is_that_of_the_same_mechanism_with_the_other_loss():
    options = SGD.get_params() | {"relation": "replace-one"}
    svm, logistic = (kind(**options).fit(X, Y) for kind in (dpf.DPLinearSVM, dpf.DPLogisticRegression))
    assert svm.privacy_statement_ == logistic.privacy_statement_
    assert abs(svm.coef_ - logistic.coef_).max() > 1e-3


@pytest.mark.parametrize("loss", ["logistic", "huberised-hinge"])
def test_no_table_makes_the_solver_give_up(loss):
    # a refusal would depend on the data, and tell more than the statement allows
    assert abs(minimise(np.array([[1.0], [-1.0]]), np.array([-1.0, 1.0]), 0.05, 1e-6, loss)[0]) > 0.1
    rng = np.random.default_rng(0)
    for _ in range(400):
        n, p = int(rng.choice([2, 3, 5, 20, 100])), int(rng.integers(1, 8))
        rows = rng.normal(size=(n, p)).round(int(rng.integers(0, 3)))
        rows /= np.maximum(1, np.linalg.norm(rows, axis=1, keepdims=True))
        signs = rng.choice([-1.0, 1.0], size=n) if rng.random() < 0.6 else np.sign(rows[:, 0] + 1e-9)
        modulus, accuracy = 10 ** rng.uniform(-5, 0), 1e-6 / n
        weights = minimise(rows, signs, modulus, accuracy, loss)
        pulls = descent(signs * (rows @ weights), loss)
        assert np.linalg.norm(modulus * weights - (signs * pulls) @ rows / n) <= 1.01 * accuracy
