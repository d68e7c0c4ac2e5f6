import itertools
from fractions import Fraction

import fairlearn.metrics
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib import Population
from dpfair_lib.fairness import accuracies, label_rates, population_rates, selection_rates

HALF, THIRD = Fraction(1, 2), Fraction(1, 3)


@given(st.integers(0, 10_000), st.integers(1, 60), st.integers(1, 4))
def test_rates_are_fairlearns(seed, n, k):
    rng = np.random.default_rng(seed)
    n += 2 * k
    y, pred, groups = rng.integers(0, 2, size=n), rng.integers(0, 2, size=n), rng.integers(0, k, size=n)
    y[: 2 * k], groups[: 2 * k] = np.tile([0, 1], k), np.repeat(np.arange(k), 2)  # no cell is empty
    given_groups = {"sensitive_features": groups}
    ours = [
        (selection_rates(pred, **given_groups), fairlearn.metrics.selection_rate),
        (label_rates(y, pred, label=1, **given_groups), fairlearn.metrics.true_positive_rate),
        (label_rates(y, pred, label=0, **given_groups), fairlearn.metrics.false_positive_rate),
        (accuracies(y, pred, **given_groups), lambda y, pred: (y == pred).mean()),
    ]
    for rates, metric in ours:
        frame = fairlearn.metrics.MetricFrame(metrics=metric, y_true=y, y_pred=pred, **given_groups)
        assert rates == pytest.approx(frame.by_group.to_dict(), abs=1e-12)


def test_rates_of_probabilities_are_the_mean_over_all_draws():
    y, groups = [1, 0, 1, 0, 1], ["a", "a", "b", "b", "b"]
    pred = np.array([THIRD, Fraction(3, 4), Fraction(1, 7), HALF, 1], dtype=object)
    measures = [
        lambda labels: selection_rates(labels, sensitive_features=groups),
        lambda labels: label_rates(y, labels, sensitive_features=groups, label=1),
        lambda labels: label_rates(y, labels, sensitive_features=groups, label=0),
        lambda labels: accuracies(y, labels, sensitive_features=groups),
    ]
    for measure in measures:
        mean = dict.fromkeys("ab", Fraction(0))
        for labels in itertools.product((Fraction(0), Fraction(1)), repeat=5):
            chance = Fraction(1)
            for drawn, p in zip(labels, pred, strict=True):
                chance *= p if drawn else 1 - p
            for group, rate in measure(np.array(labels, dtype=object)).items():
                mean[group] += chance * rate
        assert measure(pred) == mean


def test_fractions_stay_exact_beside_integers():
    rates = selection_rates(np.array([THIRD, 0, 1], dtype=object), sensitive_features=["a", "b", "b"])
    assert rates == {"a": THIRD, "b": HALF}
    assert all(isinstance(rate, Fraction) for rate in rates.values())


@pytest.mark.parametrize("wrap", [list, np.array, pd.Series, lambda v: pd.Categorical(v)])
def test_groups_of_any_type(wrap):
    groups = wrap(["b", "a", "b"])
    assert selection_rates([0, 1, 1], sensitive_features=groups) == {"a": 1.0, "b": 0.5}
    assert label_rates([1, 1, 1], [0, 1, 1], sensitive_features=groups, label=1) == {"a": 1.0, "b": 0.5}
    assert accuracies([True, False, True], [0, 1, 1], sensitive_features=groups) == {"a": 0.0, "b": 0.5}


@given(st.integers(0, 2_000))
def test_population_rates_are_those_of_its_atoms(seed):
    rng = np.random.default_rng(seed)
    counts = rng.integers(0, 4, size=(3, 2, 2))
    counts[0] += 1
    weights = [Fraction(int(count), int(counts.sum())) for count in counts.reshape(-1)]
    population = Population.from_table(np.array(weights, dtype=object).reshape(counts.shape))
    values = rng.integers(0, 4, size=(3, 2)) * Fraction(1, 3)
    x, a, y = (np.repeat(index.reshape(-1), counts.reshape(-1)) for index in np.indices(counts.shape))
    rates, pred = population_rates(population, values), values[x, a]
    assert list(rates.true_positive) == list(label_rates(y, pred, sensitive_features=a, label=1).values())
    assert list(rates.false_positive) == list(label_rates(y, pred, sensitive_features=a, label=0).values())
    assert list(rates.selection) == list(selection_rates(pred, sensitive_features=a).values())
    assert list(rates.correct) == list(accuracies(y, pred, sensitive_features=a).values())
    assert rates.accuracy == population.accuracy(values)
    assert rates.selection[1] == population.rate(values, 1)


def test_population_without_a_label_in_a_group_is_refused():
    population = Population([0.5, 0.25, 0.25], [0, 0, 0], [0, 1, 1], [0, 0, 1])
    with pytest.raises(ValueError, match="population: found no label 1 in group 0"):
        population_rates(population, np.ones((1, 2)))


@pytest.mark.parametrize(
    ("pred", "groups", "message"),
    [
        ([0, 1.5], [0, 1], r"pred: found 1\.5 at position 1"),
        ([0, np.nan], [0, 1], "pred: found nan"),
        ([0, 1], [0], "lengths differ"),
        ([0, 1], ["a", pd.NA], "sensitive_features: found a missing value at position 1"),
        (["0", "1"], [0, 1], "pred: found entries that are not numbers"),
        (np.array([0, "1"], dtype=object), [0, 1], "pred: found entries that are not numbers"),
        ([[0, 1], [1, 0]], [0, 1], r"pred: found shape \(2, 2\)"),
    ],
)
def test_bad_input_is_named(pred, groups, message):
    for rates in (
        lambda: selection_rates(pred, sensitive_features=groups),
        lambda: label_rates([1, 1], pred, sensitive_features=groups, label=1),
        lambda: accuracies([1, 1], pred, sensitive_features=groups),
    ):
        with pytest.raises(ValueError, match=message):
            rates()


@pytest.mark.parametrize(
    ("y_true", "label", "message"),
    [
        ([0, 0, 1], 1, "y_true: found no label 1 in group 'a', expected at least one"),
        ([1, 0, 1], 0, "y_true: found no label 0 in group 'b', expected at least one"),
        ([0, 0, 0], 1, "y_true: found no label 1, expected at least one in every group"),
        ([1, 1, 1], 0, "y_true: found no label 0, expected at least one in every group"),
        ([0, 1, 2], 1, r"y_true: found 2\.0 at position 2, expected labels 0 and 1"),
        ([0, 1], 1, "lengths differ: y_true has 2, y_pred has 3"),
        ([0, 1, 1], 2, "label: found 2, expected 0 or 1"),
    ],
)
def test_empty_cells_and_bad_labels_are_named(y_true, label, message):
    with pytest.raises(ValueError, match=message):
        label_rates(y_true, [1, 0, 1], sensitive_features=["a", "a", "b"], label=label)


def test_lengths_are_checked_before_anything_is_compared():
    with pytest.raises(ValueError, match="lengths differ: y_true has 2, y_pred has 3"):
        accuracies([0, 1], [1, 0, 1], sensitive_features=["a", "a", "b"])


def test_rates_print_as_plain_numbers():
    found = [
        selection_rates([1, 0, 1, 1], sensitive_features=list("aabb")),
        label_rates([1, 1, 1, 1], [1, 0, 1, 1], sensitive_features=list("aabb"), label=1),
        accuracies([1, 1, 1, 1], [1, 0, 1, 1], sensitive_features=list("aabb")),
    ]
    assert list(map(repr, found)) == ["{'a': 0.5, 'b': 1.0}"] * 3
