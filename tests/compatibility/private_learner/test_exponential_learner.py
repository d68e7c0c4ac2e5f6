import math
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.base import clone

from dpfair_lib import ExponentialFairLearner
from dpfair_lib.compatibility.private_learner.choice_law import (
    choice_probabilities,
    printed_delta,
    pure_slope,
)
from dpfair_lib.compatibility.private_learner.sample_losses import sample_losses

RULES = [lambda x, _: (x >= 1).astype(float), lambda x, _: 0.5 + 0 * x, lambda _, a: (a == 1).astype(float)]


@pytest.fixture
def sample():
    rng = np.random.default_rng(3)
    x, group = rng.integers(0, 3, 60), rng.integers(0, 2, 60)
    return x, (rng.uniform(size=60) < 0.2 + 0.3 * x).astype(int), group


def learner(**settings):
    return ExponentialFairLearner(
        RULES, **{"epsilon": 0.7, "delta": 1e-3, "noise": "study", "random_state": 0} | settings
    )


@pytest.mark.parametrize(("repair", "delta"), [(True, 1e-3), (False, "printed"), ("pure", 0)])
@pytest.mark.parametrize("noise", ["study", "secure"])
def test_the_draws_follow_the_exact_law(sample, repair, delta, noise):
    x, y, group = sample
    rng = np.random.default_rng(0) if noise == "study" else None
    drawn = [
        learner(repair=repair, delta=delta, noise=noise, random_state=rng)
        .fit(x, y, sensitive_features=group)
        .index_
        for _ in range(400)
    ]
    losses = sample_losses(np.array([rule(x, group) for rule in RULES], dtype=float), y, group)
    if repair == "pure":
        weights = np.exp(-pure_slope(min(losses.counts), 0.7) * losses.total)
        law = weights / weights.sum()
    else:
        level, rule = (1e-3, "repaired") if repair else (printed_delta(60), "printed")
        law = choice_probabilities(losses.total, min(losses.counts), 60, epsilon=0.7, delta=level, rule=rule)
    for index, chance in enumerate(law):
        assert binomtest(drawn.count(index), 400, float(chance)).pvalue > 1e-7


def test_statements(sample):
    x, y, group = sample
    fitted = learner(noise="secure", random_state=None).fit(x, y, sensitive_features=group)
    statement = fitted.privacy_statement_
    assert (statement.epsilon, statement.delta, statement.relation) == (1.4, 1e-3, "replace-one")
    assert statement.guarantee
    pure = learner(repair="pure", delta=0, noise="secure", random_state=None).fit(
        x, y, sensitive_features=group
    )
    assert pure.privacy_statement_.delta == 0
    assert pure.privacy_statement_.guarantee
    assert not hasattr(pure, "noisy_count_")
    printed = learner(repair=False, delta="printed", noise="secure", random_state=None)
    printed.fit(x, y, sensitive_features=group)
    assert not printed.privacy_statement_.guarantee
    assert "cgkm.thm-2.privacy" in printed.privacy_statement_.note
    assert printed.privacy_statement_.delta == printed_delta(60)
    assert not learner().fit(x, y, sensitive_features=group).privacy_statement_.guarantee  # study noise


def test_samples_without_positives_in_a_group_are_accepted_when_repaired_and_refused_as_printed(sample):
    x, _, group = sample
    for y in (np.zeros(60, dtype=int), (group == 0).astype(int)):
        for repair, delta in ((True, 1e-3), ("pure", 0)):
            fitted = learner(repair=repair, delta=delta).fit(x, y, sensitive_features=group)
            assert fitted.index_ in range(3)
        with pytest.raises(ValueError, match="expected at least 2 in each"):
            learner(repair=False).fit(x, y, sensitive_features=group)
    one_group = learner(groups=("f", "m")).fit(
        x, np.ones(60, dtype=int), sensitive_features=np.array(["f"] * 60)
    )
    assert one_group.privacy_statement_.epsilon == 1.4


def test_predictions_are_those_of_the_chosen_hypothesis(sample):
    x, y, group = sample
    fitted = learner().fit(x, y, sensitive_features=group)
    proba = fitted.predict_proba(x, sensitive_features=group)
    assert proba[:, 1] == pytest.approx(np.asarray(RULES[fitted.index_](x, group), dtype=float))
    assert proba.sum(axis=1) == pytest.approx(1)
    half = ExponentialFairLearner([RULES[1]], epsilon=1, delta=0.1, noise="study").fit(
        x, y, sensitive_features=group
    )
    labels = half.predict(x, sensitive_features=group, random_state=0)
    assert set(labels.tolist()) == {0, 1}


def test_it_can_be_cloned_and_repeats_itself_with_a_seed(sample):
    x, y, group = sample
    first = learner()
    again = clone(first)
    assert again.get_params()["delta"] == 1e-3
    assert (
        first.fit(x, y, sensitive_features=group).noisy_count_
        == again.fit(x, y, sensitive_features=group).noisy_count_
    )


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"hypotheses": []}, r"hypotheses: found \[\], expected a sequence of at least one callable"),
        ({"hypotheses": [3]}, r"hypotheses\[0\]: found 3, expected a callable"),
        ({"hypotheses": [lambda x, _: 2.0 + 0 * x]}, r"hypotheses\[0\]: found 2.0 at position 0"),
        ({"hypotheses": [lambda *_: np.zeros(3)]}, r"hypotheses\[0\]: found 3 values, expected 60"),
        ({"hypotheses": np.array([])}, "hypotheses: found array"),
        ({"epsilon": 0}, "epsilon: found 0"),
        ({"epsilon": 1e308}, "epsilon: found 1e.308, expected a number for which 2·epsilon"),
        (
            {"epsilon": 1e-320},
            "epsilon: found 1e-320, expected a number for which 2·epsilon and 1/epsilon are finite",
        ),
        ({"groups": "01"}, "groups: found '01'"),
        ({"delta": 0}, "delta: found 0"),
        ({"delta": 1.0}, "delta: found 1.0"),
        ({"repair": "pure"}, "delta: found 0.001 beside repair='pure', expected 0"),
        ({"repair": "no"}, "repair: found 'no'"),
        ({"groups": (0, 0)}, "groups: found"),
        ({"groups": (0, 2)}, "sensitive_features: found group"),
        ({"noise": "secure"}, "random_state: found 0 beside noise='secure'"),
        ({"noise": "none"}, "noise: found 'none'"),
    ],
)
def test_bad_input_is_named(sample, settings, message):
    x, y, group = sample
    arguments = {
        "hypotheses": RULES,
        "epsilon": 0.7,
        "delta": 1e-3,
        "noise": "study",
        "random_state": 0,
    } | settings
    with pytest.raises(ValueError, match=message):
        ExponentialFairLearner(**arguments).fit(x, y, sensitive_features=group)


def test_kinds_of_input_that_mean_the_same_are_the_same(sample):
    x, y, group = sample
    plain = learner().fit(x, y, sensitive_features=group)
    for settings in (
        {"repair": np.True_},
        {"groups": np.array([0, 1])},
        {"hypotheses": np.array(RULES)},
    ):
        other = learner().set_params(**settings).fit(x, y, sensitive_features=group)
        assert (other.index_, other.noisy_count_) == (plain.index_, plain.noisy_count_)
        assert str(other.privacy_statement_) == str(plain.privacy_statement_)
    printed = learner(repair=np.False_).fit(x, y, sensitive_features=group)
    assert "cgkm.thm-2.privacy" in printed.privacy_statement_.note


def test_rows_whose_labels_differ_are_refused(sample):
    x, y, group = sample
    table, labels = pd.DataFrame({"x": x}), pd.Series(y)
    rule = [lambda X, _: (X["x"] >= 1).to_numpy(dtype=float)]
    model = learner().set_params(hypotheses=rule)
    model.fit(table, labels, sensitive_features=group)
    with pytest.raises(ValueError, match="sensitive_features: found other row labels than those of X"):
        model.fit(table, labels, sensitive_features=pd.Series(group, index=np.arange(60)[::-1]))
    with pytest.raises(ValueError, match="y: found other row labels than those of X"):
        model.fit(table, labels.iloc[::-1], sensitive_features=group)


def test_lengths_that_differ_are_named(sample):
    x, y, group = sample
    with pytest.raises(ValueError, match="lengths differ"):
        learner().fit(x, y, sensitive_features=group[:-1])


@pytest.mark.parametrize("noise", ["study", "secure"])
def test_the_count_gets_the_noise_that_the_statement_promises(sample, noise, monkeypatch):
    from dpfair_lib.compatibility.private_learner.choice_law import shift
    from dpfair_lib.privacy import noise_source as module

    asked = []
    usual = module.add_laplace_noise

    def watched(values, scale, **options):
        asked.append((list(values), scale, options["noise"], options["rng"] is None))
        return usual(values, scale, **options)

    monkeypatch.setattr(module, "add_laplace_noise", watched)
    x, y, group = sample
    smallest = min(int(y[group == a].sum()) for a in (0, 1))
    state = None if noise == "secure" else 0
    drawn = [
        learner(noise=noise, random_state=state if state is None else at)
        .fit(x, y, sensitive_features=group)
        .noisy_count_
        for at in range(200)
    ]
    exactly = next(b for b in (1 / 0.7, math.nextafter(1 / 0.7, 2)) if Fraction(b) * Fraction(0.7) >= 1)
    assert asked == [([smallest], exactly, noise, noise == "secure")] * 200
    # half of a Laplace law lies within ln 2 scales of its centre
    near = np.abs(np.array(drawn) + shift(0.7, 1e-3, "repaired") - smallest) < np.log(2) / 0.7
    assert binomtest(int(near.sum()), 200, 0.5).pvalue > 1e-7


@pytest.mark.parametrize(
    "peeking",
    [
        lambda x, _: np.full(len(x), float(np.max(x) > 10)),
        lambda x, _: (x > np.mean(x)).astype(float),
        lambda x, _: np.linspace(0, 1, len(x)),
    ],
)
@pytest.mark.parametrize("copies", [1, 500])  # also where asking takes longer
def test_hypotheses_that_look_at_other_rows_are_refused(sample, peeking, copies):
    x, y, group = sample
    x = np.where(np.arange(60) == 7, 11, x)
    x, y, group = (np.repeat(column, copies) for column in (x, y, group))
    with pytest.raises(
        ValueError, match=r"hypotheses\[1\]: found other values .* function of each row alone"
    ):
        ExponentialFairLearner([RULES[0], peeking], epsilon=1.0, delta=1e-3).fit(
            x, y, sensitive_features=group
        )


def test_a_second_fit_forgets_the_noisy_count(sample):
    x, y, group = sample
    fitted = learner().fit(x, y, sensitive_features=group)
    assert fitted.noisy_count_
    fitted.set_params(repair="pure", delta=0).fit(x, y, sensitive_features=group)
    assert not hasattr(fitted, "noisy_count_")


def test_predicting_before_fitting_says_so(sample):
    from sklearn.exceptions import NotFittedError

    x, _, group = sample
    with pytest.raises(NotFittedError):
        learner().predict(x, sensitive_features=group)


def test_rounding_of_a_product_is_no_refusal():
    # whether X @ w rounds alike for half of the rows depends on who is in them
    rng, group, y = np.random.default_rng(0), np.tile([0, 1], 10), np.ones(20, dtype=int)
    for _ in range(50):
        w, x = rng.normal(size=20), np.zeros((20, 20))
        x[rng.integers(20)] = rng.normal(size=20)
        rule = lambda x, _, w=w: 1 / (1 + np.exp(-np.asarray(x) @ w))  # noqa: E731
        ExponentialFairLearner([rule], epsilon=1, delta=0.1, noise="study").fit(
            x, y, sensitive_features=group
        )


@pytest.mark.parametrize(
    ("rule", "refused"),
    [
        (lambda x, _: np.full(len(x), 0.5 + 1e-12 * len(x)), False),  # as rounding may be, on any machine
        (lambda x, _: np.full(len(x), 0.5 + 1e-5 * len(x)), True),
        (lambda x, _: np.zeros(20 if len(x) == 20 else 1), True),  # too few values for half of the rows
    ],
)
def test_what_is_refused_is_no_function_of_the_row(rule, refused):
    learner = ExponentialFairLearner([rule], epsilon=1, delta=0.1, noise="study")
    expected = pytest.raises(ValueError, match="function of each row alone") if refused else nullcontext()
    with expected:
        learner.fit(np.zeros((20, 1)), np.ones(20), sensitive_features=np.tile([0, 1], 10))


def test_no_hypothesis_is_asked_about_no_rows():
    asked = []
    learner = ExponentialFairLearner(
        [lambda x, _: asked.append(len(x)) or np.ones(len(x))],
        epsilon=1.0,
        delta=0.1,
        noise="study",
        random_state=0,
    )
    learner.fit(np.zeros((1, 1)), [1], sensitive_features=[0])
    assert set(asked) == {1}
