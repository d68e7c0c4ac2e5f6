import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib.fairness.linear_form import NOTIONS
from dpfair_lib.margins.certificate import BOUNDS, certify_all
from dpfair_lib.margins.margins import margin_lipschitz, margins
from dpfair_lib.margins.terms import relative_margins


def data(seed=0, n=400, groups=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    w = rng.normal(size=3)
    y = (X @ w + rng.normal(size=n) > 0).astype(int)
    return X, w, y, rng.integers(0, groups, size=n), rng


@pytest.mark.parametrize("notion", NOTIONS)
@pytest.mark.parametrize("bound", BOUNDS)
def test_every_model_within_the_radius_keeps_the_certificate(notion, bound):
    X, w, y, s, rng = data(groups=3)
    radius = 0.1
    made = dpf.fairness_certificate(
        X @ w, y, X=X, sensitive_features=s, notion=notion, radius=radius, bound=bound
    )
    now = dpf.group_fairness(y, (X @ w > 0).astype(int), sensitive_features=s, notion=notion)
    assert list(now) == list(made.groups)
    assert made.fairness == pytest.approx(list(now.values()))
    for _ in range(50):
        step = rng.normal(size=3)
        other = w + radius * step / np.linalg.norm(step)
        pred = (X @ other > 0).astype(int)
        then = np.array(list(dpf.group_fairness(y, pred, sensitive_features=s, notion=notion).values()))
        assert (made.lower <= then + 1e-12).all()
        assert (then <= made.upper + 1e-12).all()
        assert made.aggregate_lower - 1e-12 <= np.abs(then).mean() <= made.aggregate_upper + 1e-12
        assert (np.abs(then - made.fairness) <= made.deviation + 1e-12).all()
        assert abs(np.abs(then).mean() - made.aggregate) <= made.aggregate_deviation + 1e-12


def test_three_labels_and_two_weight_matrices():
    rng = np.random.default_rng(1)
    X, W = rng.normal(size=(500, 3)), rng.normal(size=(3, 3))
    y, s = (X @ W.T + rng.normal(size=(500, 3))).argmax(axis=1), rng.integers(0, 2, size=500)
    made = dpf.fairness_certificate(
        X @ W.T,
        y,
        X=X,
        sensitive_features=s,
        notion="equal_opportunity",
        radius=0.2,
        bound="signed",
        desirable=(0, 2),
    )
    call = {"X": X, "sensitive_features": s, "notion": "equal_opportunity", "radius": 0.2, "bound": "signed"}
    as_array = dpf.fairness_certificate(X @ W.T, y, **call, desirable=np.array([0, 2]))
    assert as_array.deviation.tolist() == made.deviation.tolist()
    for _ in range(50):
        step = rng.normal(size=(3, 3))
        pred = (X @ (W + 0.2 * step / np.linalg.norm(step)).T).argmax(axis=1)
        then = dpf.group_fairness(y, pred, sensitive_features=s, notion="equal_opportunity", desirable=(0, 2))
        assert (made.lower - 1e-12 <= list(then.values())).all()
        assert (list(then.values()) <= made.upper + 1e-12).all()


def test_the_same_model_has_no_deviation_and_zero_margins_make_markov_infinite():
    X, w, y, s, _ = data()
    X[0] = np.cross(w, [1.0, 0, 0])  # orthogonal to w
    scores = X @ w
    scores[0] = 0.0
    keep = {"X": X, "sensitive_features": s, "notion": "accuracy"}
    for bound in BOUNDS:
        assert dpf.fairness_certificate(scores, y, **keep, radius=0, bound=bound).deviation.tolist() == [0]
    assert dpf.fairness_certificate(scores, y, **keep, radius=0.1, bound="markov").deviation.tolist() == [
        np.inf
    ]
    assert dpf.fairness_certificate(scores, y, **keep, radius=0.1, bound="exact").deviation[0] < 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"radius": -1}, "radius: found -1"),
        ({"radius": np.nan}, "radius: found nan"),
        ({"bound": "best"}, "bound: found 'best'"),
        ({"notion": "odds"}, "notion: found 'odds'"),
        ({"desirable": 1}, "desirable: found 1 with notion='accuracy_parity'"),
        ({"sensitive_features": np.r_[np.full(400, 5)[:399], 6]}, "no row of group 6"),
        ({"X": np.zeros((400, 3))}, "row of zeros"),
        ({"X": np.zeros((3, 3))}, "lengths differ"),
    ],
)
def test_bad_input_is_named(change, message):
    X, w, y, s, _ = data()
    call = {"X": X, "sensitive_features": s, "notion": "accuracy_parity", "radius": 0.1} | change
    with pytest.raises(ValueError, match=message):
        dpf.fairness_certificate(X @ w, y, **call)


def test_demographic_parity_needs_scores_of_two_labels():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(300, 3))
    y, s = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
    call = {"X": X, "sensitive_features": s, "notion": "demographic_parity", "radius": 0.1}
    with pytest.raises(ValueError, match="scores: found 3 columns"):  # though y has two labels
        dpf.fairness_certificate(X @ rng.normal(size=(3, 3)), y, **call)
    W = rng.normal(size=(3, 2))
    made = dpf.fairness_certificate(X @ W, y, **call)
    truth = dpf.group_fairness(y, (X @ W).argmax(axis=1), sensitive_features=s, notion="demographic_parity")
    assert made.fairness == pytest.approx(list(truth.values()))


def test_rows_of_zeros_of_three_labels_are_predicted_as_the_first():
    rng = np.random.default_rng(3)
    X, W = rng.normal(size=(300, 3)), rng.normal(size=(3, 3))
    X[:50] = 0.0
    y, s = np.arange(300) % 3, rng.integers(0, 2, 300)
    made = dpf.fairness_certificate(X @ W, y, X=X, sensitive_features=s, notion="equalized_odds", radius=0.0)
    truth = dpf.group_fairness(y, (X @ W).argmax(axis=1), sensitive_features=s, notion="equalized_odds")
    assert made.fairness == pytest.approx(list(truth.values()))


@pytest.mark.parametrize("bound", BOUNDS)
def test_all_notions_at_once_are_the_notions_one_by_one(bound):
    X, w, y, s, _ = data(groups=3)
    relative = relative_margins(margins(X @ w, y), margin_lipschitz(X, binary=True))
    levels, labels = np.arange(3), np.arange(2)
    made = certify_all(
        relative, 3 * y + s, labels=labels, levels=levels, radius=0.1, bound=bound, desirable=np.array([0, 1])
    )
    assert tuple(made) == NOTIONS
    for notion, together in made.items():
        alone = dpf.fairness_certificate(
            X @ w, y, X=X, sensitive_features=s, notion=notion, radius=0.1, bound=bound
        )
        assert together.groups == alone.groups
        for name in ("fairness", "lower", "upper", "deviation"):
            assert getattr(together, name) == pytest.approx(getattr(alone, name), abs=1e-12)


def test_all_notions_of_three_labels_are_all_but_demographic_parity():
    rng = np.random.default_rng(5)
    made = certify_all(
        rng.normal(size=300), np.arange(300) % 6, labels=np.arange(3), levels=np.arange(2), radius=0.1, bound="signed",
        desirable=np.array([0, 0, 1]),
    )  # fmt: skip
    assert tuple(made) == tuple(notion for notion in NOTIONS if notion != "demographic_parity")
