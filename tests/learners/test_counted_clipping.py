"""DP-SGD with clipping that follows counts, as estimators: what they learn, what they cost, what they refuse."""

import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib.learners import counted_clipping, global_scaling
from dpfair_lib.learners.counted_steps import GlobalRule, GroupRule, divided
from dpfair_lib.privacy import dp_sgd_epsilon

STUDY = {"noise": "study", "random_state": 0}
STEPS = {"delta": 1e-5, "max_grad_norm": 0.5, "sample_rate": 0.25, "steps": 60, "learning_rate": 2.0}
MODULES = {"group": counted_clipping, "global": global_scaling}
KINDS = {
    "group": (dpf.DPGroupClippingClassifier, {}),
    "global": (dpf.DPGlobalScalingClassifier, {"scale_norm": 2.0}),
}


def rows(n=2000, seed=0):
    rng = np.random.default_rng(seed)
    X, groups = rng.normal(size=(n, 2)), rng.integers(0, 2, n)
    return X, (X[:, 0] + 0.3 * rng.normal(size=n) > 0).astype(int), np.array(["f", "m"])[groups]


def fitted(name, data=None, **changes):
    kind, own = KINDS[name]
    X, y, groups = rows() if data is None else data
    settings = {"epsilon": 4.0} | STEPS | own | STUDY | changes
    more = {"sensitive_features": groups} if name == "group" else {}
    return kind(**settings).fit(X, y, **more)


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("noise", ["study", "secure"])
def test_it_learns(name, noise):
    X, y, _ = rows()
    model = fitted(name, noise=noise, random_state=0 if noise == "study" else None)
    assert (model.predict(X) == y).mean() > 0.9
    # tiny norms are no error: 60 steps of noise on that scale
    assert 0 < abs(fitted(name, max_grad_norm=1e-9).coef_).max() < 1e-6


@pytest.mark.parametrize("name", KINDS)
def test_what_it_costs_is_one_account_of_counts_and_sums(name):
    model = fitted(name, noise="secure", random_state=None)
    statement, sigma = model.privacy_statement_, model.noise_multiplier_
    assert (statement.relation, statement.delta, statement.guarantee) == ("add-remove", 1e-5, True)
    assert 3.999 < statement.epsilon <= 4
    assert dp_sgd_epsilon(sigma, 0.25, 60, 1e-5, "pld") == pytest.approx(statement.epsilon, rel=1e-3)
    # planted: the sum alone is accounted for
    alone = dp_sgd_epsilon(divided(sigma, 0.2).gradients, 0.25, 60, 1e-5, "pld")
    assert alone < 0.95 * statement.epsilon


@pytest.mark.parametrize("name", KINDS)
def test_the_steps_get_the_multiplier_and_the_share_of_the_statement(name, monkeypatch):
    seen = []

    def train(X, _, groups, steps, share, rule, study):
        seen.append((steps.noise_multiplier, share, rule, groups, study))
        return np.zeros(X.shape[1] + 1)

    monkeypatch.setattr(MODULES[name], "train_counted", train)
    model = fitted(name, count_share=0.3, noise="secure", random_state=None)
    ((sigma, share, rule, groups, study),) = seen
    assert (sigma, share, study) == (model.noise_multiplier_, 0.3, None)
    if name == "group":
        assert isinstance(rule, GroupRule)
        assert rule.width == 4
        assert groups.tolist() == (rows()[2] == "m").astype(int).tolist()
        assert model.groups_.tolist() == ["f", "m"]
    else:
        assert isinstance(rule, GlobalRule)
        assert (rule.norm, rule.scale_norm, rule.threshold, rule.rate) == (0.5, 2.0, 1.0, 0.1)
        assert rule.divisor == 500


def test_a_divisor_and_groups_that_are_declared():
    X, y, groups = rows()
    model = fitted("group", (X, y, groups), groups=["f", "m", "x"], expected_batch_size=450.0)
    assert model.groups_.tolist() == ["f", "m", "x"]
    assert (
        "the expected batch size, a number given by the user, and that there is a row"
        in model.privacy_statement_.public
    )
    one = np.full(len(y), "f")
    fitted("group", (X, y, one), groups=["f", "m"])
    with pytest.raises(ValueError, match="sensitive_features: found one group"):
        fitted("group", (X, y, one))


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"epsilon": None}, "epsilon, noise_multiplier: found neither"),
        ({"noise_multiplier": 1.0}, "epsilon, noise_multiplier: found both"),
        ({"count_share": 1.0}, "count_share: found 1.0"),
        ({"count_share": 0.0}, "count_share: found 0.0"),
        ({"count_share": 1e-30}, "count_share: found a part of the noise"),
        ({"max_grad_norm": 0}, "max_grad_norm: found 0"),
        ({"max_grad_norm": 1e200}, "max_grad_norm: found"),
        ({"fit_intercept": 2}, "fit_intercept: found 2"),
        ({"delta": 0.0}, "delta: found 0.0"),
        ({"noise": "secure"}, "random_state: found 0 beside noise='secure'"),
        ({"learning_rate": 1e300}, "learning_rate: found 1e"),
    ],
)
def test_bad_input_is_refused_by_name(name, changes, message):
    with pytest.raises(ValueError, match=message):
        fitted(name, **changes)


def test_a_group_of_another_name_and_another_length_are_refused():
    X, y, groups = rows()
    with pytest.raises(ValueError, match="sensitive_features: found group 'm'"):
        fitted("group", (X, y, groups), groups=["f", "x"])
    with pytest.raises(ValueError, match="sensitive_features"):
        fitted("group", (X, y, groups[1:]))


def test_no_intercept():
    for name in KINDS:
        assert fitted(name, fit_intercept=False).intercept_.tolist() == [0.0]


def release(name):
    def mechanism(data, n, rng):
        kind, own = KINDS[name]
        X, y, groups = data
        more = {"sensitive_features": groups} if name == "group" else {}
        settings = {
            "noise_multiplier": 2.0, "delta": 1e-3, "max_grad_norm": 1.0, "sample_rate": 1.0, "steps": 2,
            "learning_rate": 1.0, "expected_batch_size": 1.0, "classes": [0, 1], "fit_intercept": False,
            "noise": "study", **own,
        }  # fmt: skip
        settings |= {"groups": [0, 1]} if name == "group" else {}
        return [kind(**settings, random_state=rng).fit(X, y, **more).coef_[0, 0] for _ in range(n)]

    return mechanism


@pytest.mark.parametrize("name", KINDS)
def test_an_audit_finds_no_more_than_is_stated_and_finds_noise_that_is_left_out(name, monkeypatch):
    X, y, groups = np.full((3, 1), 50.0), np.array([1, 1, 1]), np.array([0, 0, 1])
    pair = (X, y, groups), (X[1:], y[1:], groups[1:])
    stated = dp_sgd_epsilon(2.0, 1.0, 2, 1e-3, "pld")
    found = dpf.audit(release(name), [pair], 400, 0.01, np.random.default_rng(0))
    assert found.epsilon_lower < stated
    usual = MODULES[name].train_counted

    def quiet(X, y, groups, steps, share, rule, study):
        class Less:
            def integers(self, *args, **more):
                return study.integers(*args, **more)

            def normal(self, *args):
                return study.normal(*args) / 100

        return usual(X, y, groups, steps, share, rule, Less())

    monkeypatch.setattr(MODULES[name], "train_counted", quiet)
    loud = dpf.audit(release(name), [pair], 400, 0.01, np.random.default_rng(0))
    assert loud.epsilon_lower > stated
