"""Means beside the printed tables, the gap by chance, and the comparison at equal accuracy."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog
from scipy.stats import binom, t

from dpfair_lib.experiments.isit.twelve_tables_summary import (
    at_equal_accuracy,
    beside_printed,
    chance_gap,
    chance_share,
    least_gap_mixture,
    mean_chance_gap,
    printed_spread,
    select,
    with_measures,
)
from dpfair_lib.experiments.printed import printed_tables


def trial(
    split, method, accuracy, rates, *, setting="as run", accountant="", target=3.0, strength=None, drawn=None
):
    """Return one row as `run_trial` makes it."""
    drawn = (None,) * 3 if drawn is None else drawn
    names = ("accuracy", "rate_0", "rate_1")
    return {
        "split": split, "setting": setting, "accountant": accountant, "target": target, "method": method,
        "strength": strength, **dict(zip(names, (accuracy, *rates), strict=True)),
        **{f"drawn_{name}": value for name, value in zip(names, drawn, strict=True)},
    }  # fmt: skip


def test_the_measured_gap_is_that_of_the_draw_where_there_is_one():
    rows = with_measures(pd.DataFrame([
        trial(0, "Algorithm 2", 0.8, (0.1, 0.1), drawn=(0.79, 0.12, 0.09)),
        trial(0, "DP-FERMI", 0.7, (0.1, 0.3), strength=1.0),
    ]))  # fmt: skip
    assert rows["gap"].tolist() == pytest.approx([0, 0.2])
    assert rows["drawn_gap"].tolist() == pytest.approx([0.03, 0.2])
    assert rows["drawn_accuracy"].tolist() == pytest.approx([0.79, 0.7])


def test_a_configuration_has_one_trial_for_each_split():
    rows = with_measures(pd.DataFrame([trial(0, "DP-FERMI", 0.7, (0.1, 0.3), strength=1.0)]))
    assert len(select(rows, "DP-FERMI", setting="as run", strength=1.0)) == 1
    with pytest.raises(ValueError, match=r"found 0 trials \(DP-FERMI, as run, ε′ = None, λ = 2.0, None\)"):
        select(rows, "DP-FERMI", setting="as run", strength=2.0)
    with pytest.raises(ValueError, match="found 2 trials"):
        select(pd.concat([rows, rows]), "DP-FERMI", setting="as run")


def test_every_printed_row_stands_beside_ours():
    rng = np.random.default_rng(0)
    made = []
    for line in printed_tables().to_dict("records"):
        fermi = line["method"] == "DP-FERMI"
        for split, noise in enumerate(rng.normal(0, 0.001, 10)):
            made.append({"data": line["data"], **trial(
                split, line["method"], line["accuracy"] + noise, (0.0, line["gap"]), target=float(line["epsilon"]),
                accountant="" if fermi else line["accountant"], strength=line["strength"] if fermi else None,
            )})  # fmt: skip
    keys = ["data", "setting", "accountant", "target", "method", "strength", "split"]
    rows = with_measures(pd.DataFrame(made).drop_duplicates(keys))
    found = beside_printed(rows)
    assert len(found) == 72
    assert (found["printed gap"] - found["gap"]).abs().max() < 1e-12
    assert ((found["printed accuracy"] - found["accuracy"]).abs() <= found["spread accuracy"]).all()
    assert found["table"].tolist() == printed_tables()["table"].tolist()
    moments = beside_printed(rows, accountant="moments")
    assert moments["table"].unique().tolist() == ["VI", "VII", "VIII", "IX"]
    assert (
        moments["spread gap"].to_numpy() == found.loc[moments["table"].index + 24, "spread gap"].to_numpy()
    ).all()


def test_the_spread_covers_a_mean_of_ten_more_trials():
    rng = np.random.default_rng(1)
    inside = 0
    for _ in range(2000):
        ours, theirs = rng.normal(0, 1, 20), rng.normal(0, 1, 10)
        inside += abs(ours.mean() - theirs.mean()) <= printed_spread(ours)
    assert 0.93 < inside / 2000 < 0.97
    values = [1.0, 2.0, 4.0]
    expected = t.ppf(1 - 0.025 / 5, 2) * np.std(values, ddof=1) * math.sqrt(1 / 3 + 0.1) + 0.00005
    assert printed_spread(values, comparisons=5) == pytest.approx(expected)


def test_one_trial_has_no_spread():
    with pytest.raises(ValueError, match="values: found 1 trial, expected at least 2"):
        printed_spread([1.0])


def enumerated(rate, sizes):
    """Return E|K₀/n₀ − K₁/n₁| by going through all rows' labels."""
    total = 0.0
    for labels in itertools.product((0, 1), repeat=sum(sizes)):
        first, second = labels[: sizes[0]], labels[sizes[0] :]
        chance = math.prod(rate if label else 1 - rate for label in labels)
        total += chance * abs(sum(first) / sizes[0] - sum(second) / sizes[1])
    return total


@pytest.mark.parametrize("sizes", [(1, 1), (2, 3), (4, 6), (5, 1)])
@pytest.mark.parametrize("rate", [0, 0.1, 0.5, 1])
def test_gap_by_chance_against_all_outcomes(rate, sizes):
    assert chance_gap(rate, sizes) == pytest.approx(enumerated(rate, sizes), abs=1e-13)


def test_gap_by_chance_at_full_size_against_draws():
    sizes, rate = (3688, 7618), 0.09
    rng = np.random.default_rng(2)
    gaps = abs(
        rng.binomial(sizes[0], rate, 200_000) / sizes[0] - rng.binomial(sizes[1], rate, 200_000) / sizes[1]
    )
    assert chance_gap(rate, sizes) == pytest.approx(gaps.mean(), abs=5 * gaps.std() / math.sqrt(len(gaps)))


@pytest.mark.parametrize("rate", [0.0, 1e-12, 1e-3, 0.09, 0.5, 0.97, 1.0])
@pytest.mark.parametrize("sizes", [(7, 3688), (3688, 7618), (20_000, 1)])
def test_gap_by_chance_leaves_out_nothing_that_counts(rate, sizes):
    at = np.unique(np.concatenate([np.arange(n + 1) * m for n, m in (sizes, sizes[::-1])]))
    below, also = binom.cdf(at // sizes[1], sizes[0], rate), binom.cdf(at // sizes[0], sizes[1], rate)
    whole = (below * (1 - also) + also * (1 - below))[:-1] @ np.diff(at) / math.prod(sizes)
    assert chance_gap(rate, sizes) == whole  # to the last bit


@pytest.mark.parametrize(
    ("rate", "sizes", "message"),
    [(1.2, (3, 4), "rate"), (0.5, (3,), "sizes: found 1 numbers, expected 2"), (0.5, (0, 4), "sizes")],
)
def test_gap_by_chance_refuses(rate, sizes, message):
    with pytest.raises(ValueError, match=message):
        chance_gap(rate, sizes)


def test_a_classifier_equal_in_law_has_a_gap_of_chance_alone():
    rng, sizes = np.random.default_rng(3), (400, 700)
    made = []
    for split in range(600):
        rates = tuple(rng.binomial(size, 0.2) / size for size in sizes)
        made.append(trial(split, "DP-FERMI", 0.8, rates, strength=1.0))
    chosen = select(with_measures(pd.DataFrame(made)), "DP-FERMI", setting="as run")
    assert chosen["drawn_gap"].mean() == pytest.approx(mean_chance_gap(chosen, sizes), rel=0.1)
    assert chance_share(chosen, sizes) == pytest.approx(1, rel=0.2)
    assert math.isnan(chance_share(chosen.assign(drawn_gap=0.0), sizes))


def compared(fermi_gap, fermi_accuracy=0.82):
    """Return the comparison where Algorithm 2 has accuracy 0.8 and gap 0.02, and constant 0.76."""
    rng, made = np.random.default_rng(4), []
    better = fermi_accuracy if fermi_accuracy < 0.79 else fermi_accuracy + 0.01
    for split in range(40):
        luck = rng.normal(0, 0.01)
        made.append(trial(split, "constant", 0.76 + luck, (0, 0), setting="no privacy", target=None))
        made.append(
            trial(split, "Algorithm 2", 0.8 + luck, (0.1, 0.12 + rng.normal(0, 0.001)), accountant="PRV")
        )
        made.append(trial(split, "DP-FERMI", fermi_accuracy + luck, (0.1, 0.1 + fermi_gap), strength=1.0))
        made.append(trial(split, "DP-FERMI", better + luck, (0.1, 0.2), strength=0.5))
    return at_equal_accuracy(with_measures(pd.DataFrame(made)), 3.0, setting="as run", accountant="PRV")


def test_a_more_accurate_model_is_mixed_down_to_the_same_accuracy():
    found = compared(0.06)
    assert list(found.weights) == [1.0]
    assert found.weights[1.0] == pytest.approx(4 / 6)
    assert abs(found.accuracy[0]) < 1e-12  # luck is shared by all three
    assert found.gap[0] == pytest.approx(0.04 - 0.02, abs=0.001)
    assert found.winner == "Algorithm 2"
    assert compared(0.015).winner == "the mixture"
    assert compared(0.03).winner == "neither"


def test_two_models_are_mixed_where_that_has_the_smaller_gap():
    # λ = 1 is a little less accurate than Algorithm 2 and has a tenth of the gap of λ = 0.5
    found = compared(0.01, fermi_accuracy=0.795)
    assert set(found.weights) == {0.5, 1.0}
    assert sum(found.weights.values()) == pytest.approx(1)


def test_the_constant_alone_where_algorithm_2_is_no_better():
    assert least_gap_mixture({1.0: (0.1, 0.02)}, -0.001) == {}
    assert least_gap_mixture({1.0: (0.1, 0.02)}, 0.0) == {}


def test_no_model_as_accurate_no_comparison():
    assert compared(0.06, fermi_accuracy=0.77) is None


@pytest.mark.parametrize("wanted", [0.1, 0.33, 0.77])
def test_the_mixture_is_the_optimum_of_a_linear_program(wanted):
    rng = np.random.default_rng(5)
    for _ in range(20):
        places = {float(name): tuple(rng.uniform(size=2)) for name in range(1, 7)}
        gains, gaps = (np.array([0.0, *(place[at] for place in places.values())]) for at in (0, 1))
        best = linprog(gaps, A_ub=-gains[None], b_ub=[-wanted], A_eq=np.ones((1, 7)), b_eq=[1])
        found = least_gap_mixture(places, wanted)
        assert (found is None) == (best.status == 2)
        if found is not None:
            assert sum(weight * places[name][1] for name, weight in found.items()) == pytest.approx(best.fun)


def test_more_comparisons_widen_the_intervals():
    rng = np.random.default_rng(6)
    made = []
    for split in range(20):
        made.append(trial(split, "constant", 0.76, (0, 0), setting="no privacy", target=None))
        made.append(trial(split, "Algorithm 2", 0.8, (0.1, 0.12 + rng.normal(0, 0.001)), accountant="PRV"))
        made.append(trial(split, "DP-FERMI", 0.82, (0.1, 0.16), strength=1.0))
    halves = [
        at_equal_accuracy(
            with_measures(pd.DataFrame(made)), 3.0, setting="as run", accountant="PRV", comparisons=count
        ).gap[1]
        for count in (1, 8)
    ]
    assert halves[1] / halves[0] == pytest.approx(t.ppf(1 - 0.025 / 8, 9) / t.ppf(0.975, 9))
