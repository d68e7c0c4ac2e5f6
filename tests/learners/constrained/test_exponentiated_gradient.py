"""Private exponentiated gradient, as an estimator: what it learns, what it costs, what it refuses."""

import math

import numpy as np
import pytest
from scipy.stats import chi2

import dpfair_lib as dpf
from dpfair_lib.learners.constrained import exponentiated_gradient
from dpfair_lib.privacy import gaussian_delta, gaussian_sigma

STUDY = {"noise": "study", "random_state": 0}
SETTING = {"notion": "demographic_parity", "feature_bound": 3.0, "epsilon": 1.0, "delta": 1e-6}


def rows(n=4000, seed=0):
    """Return rows of two groups, of which one has the label more often; a second feature tells of the group."""
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 2, n)
    merit = rng.normal(size=n)
    X = np.column_stack([merit, groups + 0.3 * rng.normal(size=n)])
    y = (merit + 1.5 * groups - 0.75 + 1.5 * rng.normal(size=n) > 0).astype(int)
    return X, y, np.array(["f", "m"])[groups]


def fitted(data=None, **changes):
    X, y, groups = rows() if data is None else data
    return dpf.PrivateExponentiatedGradient(**SETTING | STUDY | changes).fit(X, y, sensitive_features=groups)


def gaps(model):
    X, y, groups = rows(seed=1)
    chances = model.predict_proba(X)[:, 1]
    parity = abs(chances[groups == "m"].mean() - chances[groups == "f"].mean())
    odds = [
        abs(np.subtract(*(chances[(groups == k) & (y == label)].mean() for k in ("f", "m"))))
        for label in (0, 1)
    ]
    return {"demographic_parity": parity, "equal_opportunity": odds[1], "equalized_odds": max(odds)}


@pytest.mark.parametrize("notion", ["demographic_parity", "equal_opportunity", "equalized_odds"])
@pytest.mark.parametrize("noise", ["study", "secure"])
def test_the_auditor_brings_the_rates_together(notion, noise):
    more = {"noise": noise, "random_state": 0 if noise == "study" else None}
    free = gaps(fitted(notion=notion, gamma=0.99, **more))[notion]
    bound = gaps(fitted(notion=notion, **more))[notion]
    assert free > 0.15
    assert bound < 0.7 * free


def test_with_nothing_to_make_equal_it_learns():
    X, y, _ = rows()
    model = fitted(gamma=0.99)
    assert model.score(X, y) > 0.7
    assert model.coefs_.shape == (30, 2)
    drawn = model.predict(X, random_state=0)
    assert (drawn == y).mean() == pytest.approx(model.score(X, y), abs=0.02)


def test_predictions_are_drawn_from_the_mixture_of_rounds():
    X, _, _ = rows(50)
    model = fitted()
    entries = np.column_stack([X / np.maximum(np.linalg.norm(X, axis=1) / 3, 1)[:, None], np.ones(50)])
    votes = entries @ np.column_stack([model.coefs_, model.intercepts_]).T > 0
    assert model.predict_proba(X)[:, 1] == pytest.approx(votes.mean(axis=1))
    assert (model.predict(X, random_state=3) == model.predict(X, random_state=3)).all()


def test_the_statement_is_one_release_and_says_what_is_public():
    statement = fitted(noise="secure", random_state=None).privacy_statement_
    assert (statement.epsilon, statement.delta, statement.relation) == (1.0, 1e-6, "sensitive-attribute")
    assert statement.guarantee
    assert "everything but who is in which group" in statement.public
    mu = statement.mechanism[0].ratio
    assert gaussian_delta(1.0, 1 / mu, 1.0) == pytest.approx(1e-6, rel=1e-6)
    assert mu == pytest.approx(1 / gaussian_sigma(1.0, 1e-6, 1.0, "analytic"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"notion": "odds"}, "notion: found 'odds'"),
        ({"gamma": 1.0}, "gamma: found 1.0"),
        ({"feature_bound": 0.0}, "feature_bound: found 0.0"),
        ({"feature_bound": 1e60}, r"feature_bound: found 1e\+60"),
        ({"epsilon": 0.0}, "epsilon: found 0.0"),
        ({"delta": 0.0}, "delta: found 0.0"),
        ({"rounds": 0}, "rounds: found 0"),
        ({"rounds": 10_001}, "rounds: found 10,001"),
        ({"multiplier_bound": 0.0}, "multiplier_bound: found 0.0"),
        ({"multiplier_bound": 1e10}, r"multiplier_bound: found 1\S+, expected at most 1e\+09"),
        ({"multiplier_rate": 0.0}, "multiplier_rate: found 0.0"),
        ({"sums_share": 1.0}, "sums_share: found 1.0"),
        ({"regularization": 1e-13}, "regularization: found 1e-13, expected at least 1e-12"),
        ({"noise": "secure"}, "random_state: found 0 beside noise='secure'"),
        ({"groups": ["f", "x"]}, "sensitive_features: found group 'm'"),
    ],
)
def test_bad_input_is_refused_by_name(changes, message):
    with pytest.raises(ValueError, match=message):
        fitted(rows(50), **changes)


@pytest.mark.parametrize(
    ("name", "limit", "beyond"),
    [
        ("feature_bound", 1e50, math.inf),
        ("multiplier_bound", 1e9, math.inf),
        ("regularization", 1e-12, 0.0),
        ("rounds", 10_000, None),
    ],
)
def test_each_limit_is_allowed_and_nothing_beyond_it(name, limit, beyond, monkeypatch):
    monkeypatch.setattr(exponentiated_gradient, "play", lambda known, *_: np.zeros((1, known.rows.shape[1])))
    assert fitted(rows(50), **{name: limit}).coefs_.shape == (1, 2)
    with pytest.raises(ValueError, match=f"{name}: found"):
        fitted(rows(50), **{name: limit + 1 if beyond is None else math.nextafter(limit, beyond)})


def test_one_group_and_another_length_are_refused_and_declared_groups_are_not():
    X, y, groups = rows(50)
    one = np.full(50, "f")
    with pytest.raises(ValueError, match="sensitive_features: found 1 groups"):
        fitted((X, y, one))
    with pytest.raises(ValueError, match="sensitive_features"):
        fitted((X, y, groups[1:]))
    assert fitted((X, y, one), groups=["f", "m"]).groups_.tolist() == ["f", "m"]


# Who is selected in the first round differs by one person's group.
X_PAIR, Y_PAIR = np.array([[1.0], [1.0], [1.0], [-1.0]]), np.array([1, 1, 1, 0])
PAIR = tuple((X_PAIR, Y_PAIR, np.array(groups)) for groups in ([0, 0, 1, 1], [0, 0, 0, 1]))


def release(data, n, rng):
    """Return weights of the last round of many fits."""
    X, y, groups = data
    settings = SETTING | {"notion": "demographic_parity", "feature_bound": 1.0, "delta": 1e-3, "rounds": 3}
    settings |= {
        "groups": [0, 1],
        "classes": [0, 1],
        "noise": "study",
        "sums_share": 0.5,
        "multiplier_rate": 1.0,
    }
    found = []
    for _ in range(n):
        model = dpf.PrivateExponentiatedGradient(**settings, random_state=rng)
        found.append(model.fit(X, y, sensitive_features=groups).coefs_[-1, 0])
    return found


def test_an_audit_finds_no_more_than_is_stated_and_finds_sums_without_noise(monkeypatch):
    found = dpf.audit(release, [PAIR], 300, 0.01, np.random.default_rng(0))
    assert found.epsilon_lower < 1.0
    usual = exponentiated_gradient.deviations
    monkeypatch.setattr(
        exponentiated_gradient,
        "deviations",
        lambda *numbers: usual(*numbers)._replace(sums=1e-3, counts=1e-3),
    )
    monkeypatch.setattr(exponentiated_gradient, "ratio", lambda *_: 1.0)
    loud = dpf.audit(release, [PAIR], 300, 0.01, np.random.default_rng(0))
    assert loud.epsilon_lower > 1.0


def test_noise_that_follows_the_exact_size_of_the_smaller_group_tells_that_size():
    # the auditor's noise is in proportion to 1/s, s the exact size of the smaller group, and each of T rounds is as
    # private as T rounds of ε = 1 and δ = 10⁻³ ask for, given s; one person's group makes s = 1 or s = 2
    rounds, delta = 100, 1e-3
    wide = gaussian_sigma(1.0, delta, 1.0, "analytic") * math.sqrt(rounds)
    narrow, threshold = wide / 2, wide**2 / 2
    # the chance that the mean square of what was added, known where nobody is selected, is below the threshold
    chances = [chi2.cdf(rounds * threshold / one**2, rounds) for one in (narrow, wide)]
    assert chances[0] > 0.999
    assert math.log((chances[0] - delta) / chances[1]) > 10
