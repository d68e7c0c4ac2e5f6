"""What every function of the room does with margins of 0, rows of zeros, numbers out of range, and intercepts."""

import math
from fractions import Fraction

import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib.margins.certificate import BOUNDS
from dpfair_lib.margins.corollary import corollary_constants, theorem_constants
from dpfair_lib.margins.descent import full_batch_descent_bound, stochastic_descent_bound
from dpfair_lib.margins.finite_sample import sampling_terms, smallest_sample
from dpfair_lib.margins.radius import (
    changed_prediction_probability,
    changed_share_bound,
    noise_norm_squared_bound,
    output_perturbation_radius,
)
from dpfair_lib.margins.terms import cell_counts, relative_margins

NOT_IN_UNIT = (0, 1, 0.0, 1.0, -0.1, 1.5, math.nan, math.inf, None, "0.1", True)


def people(n=200, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = (X[:, 0] + rng.normal(size=n) > 0).astype(int)
    return X, y, rng.integers(0, 2, size=n), np.array([1.0, 0.3, -0.2])


def certificate(scores, y, X, s, **changes):
    call = {"notion": "equalized_odds", "radius": 0.1, "bound": "exact"} | changes
    return dpf.fairness_certificate(scores, y, X=X, sensitive_features=s, **call)


@pytest.mark.parametrize("value", NOT_IN_UNIT)
@pytest.mark.parametrize("name", ["delta", "zeta"])
def test_delta_and_zeta_are_inside_the_unit_interval(name, value):
    given = {"lipschitz": 1.0, "strong_convexity": 1.0, "n": 100, "epsilon": 1.0, "delta": 1e-5, "zeta": 0.1}
    with pytest.raises(ValueError, match=f"{name}: found"):
        output_perturbation_radius(3, **(given | {name: value}))
    if name == "zeta":
        for call in (
            lambda: noise_norm_squared_bound(3, value, "exact"),
            lambda: changed_share_bound([1.0], 1.0, zeta=value, slack=0.1),
        ):
            with pytest.raises(ValueError, match="zeta: found"):
                call()
    else:
        for call in (
            lambda: smallest_sample([0.5, 0.5], value),
            lambda: sampling_terms(100, [0.5, 0.5], value, b3=2, b4=0.5),
        ):
            with pytest.raises(ValueError, match="delta: found"):
                call()


@pytest.mark.parametrize("modulus", [0, -1.0, math.inf, math.nan, None])
def test_without_regularisation_there_is_no_radius(modulus):
    with pytest.raises(ValueError, match="strong_convexity: found"):
        output_perturbation_radius(
            3, lipschitz=1.0, strong_convexity=modulus, n=100, epsilon=1.0, delta=1e-5, zeta=0.1
        )
    with pytest.raises(ValueError, match="C: found"):
        dpf.strong_convexity(math.inf, 100)


@pytest.mark.parametrize("bound", BOUNDS)
def test_margins_of_zero_can_go_either_way_and_rows_of_zeros_never_move(bound):
    X, y, s, w = people()
    usual = certificate(X @ w, y, X, s, bound=bound)
    tied = X.copy()
    tied[0] -= (tied[0] @ w) / (w @ w) * w  # now orthogonal to w, up to rounding
    scores = tied @ w
    scores[0] = 0.0
    cell = 2 * y[0] + s[0]
    made = certificate(scores, y, tied, s, bound=bound).deviation
    assert math.isinf(made[cell]) == (bound == "markov")
    if bound in ("exact", "signed"):
        assert made[cell] >= usual.deviation[cell]
    still = X.copy()
    still[0] = 0.0
    assert np.isfinite(certificate(still @ w, y, still, s, bound=bound).deviation).all()
    nothing = certificate(np.zeros(200), y, np.zeros((200, 3)), s, bound=bound)
    assert nothing.deviation.tolist() == [0, 0, 0, 0]
    assert nothing.fairness == pytest.approx([0, 0, 0, 0], abs=1e-12)  # all rows are predicted 0


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
def test_an_intercept_needs_its_column_of_ones(scale):
    X, y, s, w = people()
    for scores in (X @ w + 0.3, np.stack([X @ w + 0.1, X @ -w], axis=1)):
        with pytest.raises(ValueError, match="X: found no column of ones, but scores with a constant term"):
            certificate(scale * scores, y, X, s)
    with_ones = np.hstack([X, np.ones((200, 1))])
    assert np.isfinite(certificate(scale * (X @ w + 0.3), y, with_ones, s).deviation).all()
    assert np.isfinite(certificate(scale * (X @ w).astype(np.float32).astype(float), y, X, s).deviation).all()


def one_hot(rows=200):
    _, y, s, w = people(rows)
    return np.eye(3)[np.arange(rows) % 3] + 0.0, y, s, w


@pytest.mark.parametrize("hidden", ["a one-hot encoding", "a constant column", "few rows"])
def test_a_hidden_intercept_must_be_denied(hidden):
    """Where columns add up to a constant, an intercept within the reach changes rows that the bounds call safe."""
    X, y, s, w = people(200) if hidden != "a one-hot encoding" else one_hot()
    if hidden == "a constant column":
        X[:, 1] = 0.01
    if hidden == "few rows":
        first = [np.flatnonzero((y == label) & (s == group))[:2] for label in (0, 1) for group in (0, 1)]
        X, y, s = (part[np.concatenate(first)] for part in (X, y, s))
    for scores in (X @ w + 0.3, X @ w, np.stack([X @ w + 0.3, X @ -w], axis=1)):
        with pytest.raises(ValueError, match=r"X: found no column of ones, .*intercept=False"):
            certificate(scores, y, X, s)
    with pytest.raises(ValueError, match="X: found no column of ones, expected one beside intercept=True"):
        certificate(X @ w, y, X, s, intercept=True)
    assert np.isfinite(certificate(X @ w, y, X, s, intercept=False).deviation).all()
    with_ones = np.hstack([X, np.ones((len(X), 1))])
    for intercept in (None, True):
        assert np.isfinite(certificate(X @ w + 0.3, y, with_ones, s, intercept=intercept).deviation).all()


def test_what_the_column_of_ones_is_for():
    """A one-hot table, one person of each kind and group: the intercept alone turns all, at a distance just beyond."""
    X, y = np.repeat(np.eye(2), 4, axis=0), np.repeat([0, 1], 4)
    s, scores = np.tile([0, 1], 4), np.repeat([-0.1, 0.1], 4)
    radius = (
        0.14  # (0.1, 0.1) in weight and intercept is √2 · 0.1 = 0.1414 away; 0.1 in the intercept alone 0.1
    )
    with_ones = np.hstack([X, np.ones((8, 1))])
    full = certificate(scores, y, with_ones, s, notion="accuracy", radius=radius)
    assert full.lower[0] == 0
    near = certificate(scores, y, X, s, notion="accuracy", radius=0.09, intercept=False)
    assert near.lower[0] == 1  # said to be safe, and wrong if there is an intercept
    turned = certificate(scores, y, with_ones, s, notion="accuracy", radius=0.09)
    assert turned.lower[0] == 0  # weight and intercept together need 0.1/√2 = 0.071 only


def test_intercept_is_a_truth_value():
    X, y, s, w = people()
    with pytest.raises(ValueError, match="intercept: found 'no', expected True, False or None"):
        certificate(X @ w, y, X, s, intercept="no")


NONLINEAR = {
    "probabilities": lambda X, w: 1 / (1 + np.exp(-X @ w)),
    "two columns of them": lambda X, w: np.stack([1 / (1 + np.exp(X @ w)), 1 / (1 + np.exp(-X @ w))], axis=1),
    "predictions": lambda X, w: (X @ w > 0).astype(int),
    "probabilities near a half": lambda X, w: 1 / (1 + np.exp(-X @ w / 5)),
    "rounded values": lambda X, w: (X @ w).round(2),
    "rows in another order": lambda X, w: (X @ w)[::-1],
}


@pytest.mark.parametrize("ones", [False, True])
@pytest.mark.parametrize("kind", NONLINEAR)
def test_scores_that_no_linear_model_has_are_refused(kind, ones):
    X, y, s, w = people()
    if ones:
        X[:, 2] = 1.0
    with pytest.raises(ValueError, match="scores: found numbers that are not linear in X"):
        certificate(NONLINEAR[kind](X, w), y, X, s)
    for mixed in (X * [1e12, 1e-12, 1.0], X * [1.0, 1e-30, 1.0]):  # units of every size, and few digits
        for scores in (X @ w, X.astype(np.float32) @ w.astype(np.float32)):
            assert np.isfinite(certificate(scores, y, mixed, s).deviation).all()
    assert np.isfinite(certificate(-abs(X) @ w, y, -abs(mixed), s).deviation).all()  # no number above 0


@pytest.mark.parametrize("kind", ["probabilities", "predictions"])
def test_rows_of_zeros_do_not_hide_scores_that_no_linear_model_has(kind):
    X, y, s, w = people(600)
    scores = NONLINEAR[kind](X, w)
    X[::3], X[1::3], scores[::3], scores[1::3] = 0, 0, 0, 0
    with pytest.raises(ValueError, match="scores: found numbers that are not linear in X"):
        certificate(scores, y, X, s)


def test_an_intercept_is_noticed_in_a_sorted_table():
    X, y, s, w = people(600)
    X[:, 2] = np.arange(600) < 300  # constant over the first rows
    with pytest.raises(ValueError, match="X: found no column of ones"):
        certificate(X @ w + 0.3, y, X, s)


@pytest.mark.parametrize("scores", ["intercept", "probabilities"])
def test_a_private_certificate_refuses_the_same_scores(scores):
    X, y, s, w = people()
    call = {"X": X, "sensitive_features": s, "notion": "accuracy", "sigma": 0.1, "zeta": 0.1, "epsilon": 1.0}
    found = {"intercept": X @ w + 0.3, "probabilities": NONLINEAR["probabilities"](X, w)}[scores]
    with pytest.raises(ValueError, match=r"X: found no column|scores: found numbers that are not linear"):
        dpf.private_certificate(found, y, **call)
    assert np.isfinite(dpf.private_certificate(X @ w, y, **call).lower).all()


def test_lengths_are_named_as_the_arguments_are():
    X, y, s, w = people()
    call = {"X": X[1:], "sensitive_features": s, "notion": "accuracy", "sigma": 0.1, "zeta": 0.1}
    for made in (
        lambda: dpf.noise_certificate(X @ w, y, **call, rng=np.random.default_rng(0)),
        lambda: dpf.private_certificate(X @ w, y, **call, epsilon=1.0),
    ):
        with pytest.raises(ValueError, match="lengths differ: scores has 200, X has 199"):
            made()


def test_nothing_but_rows_of_zeros_cannot_change():
    _, y, s, _ = people()
    for reach in ("local", "simulated"):
        made = dpf.noise_certificate(
            np.zeros(200), y, X=np.zeros((200, 3)), sensitive_features=s, notion="accuracy", sigma=1.0, zeta=0.1,
            reach=reach, draws=200, rng=np.random.default_rng(0),
        )  # fmt: skip
        assert made.radius == 0
        assert made.lower == made.upper == pytest.approx(np.mean(y == 0))


def test_a_row_of_zeros_with_a_score_is_refused():
    X, y, s, w = people()
    X[7] = 0.0
    scores = X @ w
    scores[7] = 0.5
    with pytest.raises(ValueError, match="row of zeros at position 7 with a margin"):
        certificate(scores, y, X, s)


def test_a_group_without_a_label_is_named():
    X, y, s, w = people()
    for label in (0, 1):
        groups = np.where(y == label, 1, s)
        with pytest.raises(ValueError, match=f"no row of group 0 with label {label}, expected every label"):
            certificate(X @ w, y, X, groups)


@pytest.mark.parametrize(
    ("rho", "lipschitz", "message"),
    [
        ([math.nan], [1.0], "rho: found nan"),
        ([1.0], [math.inf], "lipschitz: found inf"),
        ([1.0], [-1.0], r"lipschitz: found -1\.0 at position 0"),
        ([1.0, 2.0], [1.0], "lengths differ"),
    ],
)
def test_margins_and_constants_are_checked(rho, lipschitz, message):
    with pytest.raises(ValueError, match=message):
        relative_margins(rho, lipschitz)


def test_counts_at_radius_zero_and_at_the_edges():
    relative = np.array([0.0, -0.0, 0.5, -0.5, 0.2, -0.2, np.inf, -np.inf])
    codes = np.zeros(8, dtype=int)
    assert cell_counts(relative, codes, 1, 0.0).tolist() == [[8, 2, 2, 2, 2]]
    assert cell_counts(relative, codes, 1, 0.2).tolist() == [[8, 3, 3, 4, 2]]
    assert cell_counts(relative, codes, 1, 0.5).tolist() == [[8, 4, 4, 6, 2]]


@pytest.mark.parametrize("constants", [theorem_constants, corollary_constants])
@pytest.mark.parametrize("entry", [0.0, -0.1, math.nan])
def test_constants_need_every_label_in_every_group(constants, entry):
    joint = np.array([[0.5, entry], [0.25, 0.25]])
    with pytest.raises(ValueError, match=r"joint: found .* at \[0, 1\], expected every label in every group"):
        constants(joint, np.ones((2, 2)), "equalized_odds", None)
    exact = np.array([[Fraction(1, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(1, 4)]])
    assert constants(exact, exact, "accuracy", None).tolist() == [Fraction(1, 4)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"shares": [0.0, 1.0]}, "shares: found 0.0"),
        ({"shares": [math.nan, 1.0]}, "shares: found nan"),
        ({"shares": [1.5]}, "shares: found 1.5"),
        ({"n": 0}, "n: found 0"),
        ({"b3": 0}, "b3: found 0"),
        ({"b4": -1}, "b4: found -1"),
        ({"dimension": -1}, "dimension: found -1"),
        ({"labels": 1}, "labels: found 1"),
    ],
)
def test_terms_of_a_sample_are_checked(change, message):
    given = {"n": 100, "shares": [0.5, 0.5], "delta": 0.1, "b3": 2, "b4": 0.5} | change
    with pytest.raises(ValueError, match=message):
        sampling_terms(given.pop("n"), given.pop("shares"), given.pop("delta"), **given)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"step": 0}, "step: found 0"),
        ({"step": 0.51}, r"step: found 0\.51, expected a number above 0, at most 1/\(2β\) ≤ 0\.5"),
        ({"step": math.nan}, "step: found nan"),
        ({"modulus": 0}, "modulus: found 0"),
        ({"steps": 0}, "steps: found 0"),
    ],
)
def test_descent_beyond_its_step_length_is_refused(change, message):
    given = {"initial": 1.0, "step": 0.25, "modulus": 1.0, "steps": 3, "gradient_variance": 1.0} | change
    with pytest.raises(ValueError, match=message):
        stochastic_descent_bound(3, sigma_squared=1.0, **given)


@pytest.mark.parametrize("delta", NOT_IN_UNIT)
def test_private_descent_needs_a_delta(delta):
    with pytest.raises(ValueError, match="delta: found"):
        full_batch_descent_bound(
            3, lipschitz=1.0, strong_convexity=1.0, smoothness=2.0, n=10, epsilon=1.0, delta=delta, steps=3,
            initial=1.0,
        )  # fmt: skip


@pytest.mark.parametrize("sigma", [0, -1.0, math.nan, math.inf, None])
def test_noise_needs_a_scale(sigma):
    for call in (
        lambda: changed_prediction_probability([1.0], sigma),
        lambda: changed_share_bound([1.0], sigma, zeta=0.1, slack=0.1),
    ):
        with pytest.raises(ValueError, match="sigma: found"):
            call()
