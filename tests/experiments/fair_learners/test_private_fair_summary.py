import numpy as np
import pandas as pd
import pytest

from dpfair_lib.experiments import mean_interval
from dpfair_lib.experiments.fair_learners import summary
from dpfair_lib.experiments.fair_learners.methods import METHODS, PLAIN
from dpfair_lib.experiments.fair_learners.trials import CONSTANT, FAIR, OPEN

SPLITS = 6
CASE = summary.Case("replace-one", "parity", 1.0)


def drawn(error, gap=0.0, seed=0, spread=0.001):
    """Return the rows of one method by split."""
    noise = np.random.default_rng(seed).normal(0, spread, SPLITS)
    return pd.DataFrame({
        "error": error + noise, "parity": gap, "opportunity": gap, "odds": gap, "dial": np.nan, "seconds": 1.0,
    })  # fmt: skip


def record(losses, dial=0.0, seed=0):
    """Return the rows of a whole record: (protection, method) → error; gaps are 0.01, and larger at other dials."""
    frames = []
    for (protection, method), error in losses.items():
        level = np.nan if protection == OPEN else 1.0
        for at, more in ((dial, 0.0), (dial + 1, 0.2)):
            rows = drawn(error + more, 0.01, seed)
            notion = "parity" if method == FAIR else ""
            keys = {"protection": protection, "method": method, "notion": notion, "level": level}
            frames.append(rows.assign(split=range(SPLITS), dial=at, **keys))
    found = pd.concat(frames, ignore_index=True)
    bare = found["method"].isin([CONSTANT, PLAIN])
    return found[~bare | (found["dial"] == dial)].assign(
        dial=lambda table: table["dial"].mask(table["method"].isin([CONSTANT, PLAIN]))
    )


@pytest.fixture
def whole():
    losses = {(one.protection, one.name): 0.3 + 0.01 * at for at, one in enumerate(METHODS)}
    return record(losses | {(OPEN, CONSTANT): 0.5, (OPEN, PLAIN): 0.2, (OPEN, FAIR): 0.22})


DIALS = {(one.protection, one.name, 1.0): None if one.name == PLAIN else 0.0 for one in METHODS}


@pytest.mark.parametrize("protection", summary.PROTECTIONS)
def test_what_may_be_used_is_what_the_protection_allows(whole, protection):
    found = summary.candidates(whole, DIALS, CASE._replace(protection=protection))
    expected = {CONSTANT} | {one.name for one in METHODS if one.protection == protection}
    assert set(found) == expected | ({PLAIN} if protection == "sensitive-attribute" else set())
    # the dial that other data chose, not the better or the other one
    assert found["Algorithm 2"]["dial"].unique().tolist() == [0.0]
    other = {key: None if dial is None else 1.0 for key, dial in DIALS.items()}
    worse = summary.candidates(whole, other, CASE._replace(protection=protection))
    shift = summary.loss(worse["Algorithm 2"], "parity") - summary.loss(found["Algorithm 2"], "parity")
    np.testing.assert_allclose(shift, 0.2)


def test_missing_or_double_rows_are_refused(whole):
    with pytest.raises(ValueError, match="found 0 rows of Algorithm 2"):
        summary.method_rows(whole, "replace-one", "Algorithm 2", 3.0, 0.0)
    twice = pd.concat([whole, whole])
    with pytest.raises(ValueError, match=f"found {2 * SPLITS} rows"):
        summary.method_rows(twice, "replace-one", "Algorithm 2", 1.0, 0.0)


def test_the_table_has_means_and_intervals_for_new_rows(whole):
    found = summary.table(whole, DIALS, CASE)
    rows = summary.method_rows(whole, "replace-one", "thresholds", 1.0, 0.0)
    assert found.loc["thresholds", "error"] == mean_interval(rows["error"], test_to_train=0.25)
    assert found.loc["thresholds", "loss"] == pytest.approx(rows["error"].mean() + 0.01)
    assert found["private"].to_dict()[FAIR] is False
    assert found["private"].sum() == len(summary.candidates(whole, DIALS, CASE))


def test_the_best_is_the_one_with_the_least_sum_of_error_and_gap():
    found = {"a": drawn(0.30, 0.00), "b": drawn(0.20, 0.15), "c": drawn(0.25, 0.04)}
    assert summary.best_of(found, "parity") == "c"


@pytest.mark.parametrize(("error", "word"), [(0.1, "better"), (0.3, "worse"), (0.2001, "not apart")])
def test_a_method_is_compared_with_the_best_that_does_nothing_clever(error, word):
    found = {
        CONSTANT: drawn(0.5, seed=1), PLAIN: drawn(0.2, seed=2, spread=0.01), "method": drawn(error, seed=3),
    }  # fmt: skip
    (verdict,) = summary.against_nothing_clever(found, "parity", level=0.95)
    assert (verdict.method, verdict.simple, verdict.verdict) == ("method", PLAIN, word)
    constant = {CONSTANT: drawn(0.1), PLAIN: drawn(0.2), "method": drawn(error)}
    assert summary.against_nothing_clever(constant, "parity", level=0.95)[0].simple == CONSTANT


def test_a_gap_that_costs_more_than_it_saves_is_not_better():
    found = {CONSTANT: drawn(0.5), PLAIN: drawn(0.2, 0.1), "method": drawn(0.25, 0.08)}
    (verdict,) = summary.against_nothing_clever(found, "parity", level=0.95)
    assert verdict.verdict == "worse"
    assert verdict.difference == pytest.approx(0.03)


def test_the_rule_counts_each_data_set_once_and_is_judged_on_the_one_left_out():
    found = {
        "one": {"a": drawn(0.10), "b": drawn(0.20)},
        "two": {"a": drawn(0.10), "b": drawn(0.12)},
        "three": {"a": drawn(0.30), "b": drawn(0.11)},
    }
    assert summary.rule(found, "parity") == "b"
    judged = summary.regrets(found, "parity", level=0.95)
    # without "one", b is the better of the two; without "three", a is
    assert judged["told"].to_dict() == {"one": "b", "two": "b", "three": "a"}
    assert judged["best"].to_dict() == {"one": "a", "two": "a", "three": "b"}
    np.testing.assert_allclose(judged["regret"].astype(float), [0.10, 0.02, 0.19], atol=1e-9)
    assert (judged["p"] < 1e-6).all()


def test_no_regret_where_the_rule_names_the_best():
    found = {name: {"a": drawn(0.1, seed=1), "b": drawn(0.2, seed=2)} for name in ("one", "two")}
    judged = summary.regrets(found, "parity", level=0.95)
    assert (judged["regret"] == 0).all()
    assert (judged["p"] == 1).all()


def test_p_is_that_of_the_interval():
    values = pd.Series(np.random.default_rng(0).normal(0.3, 1, 20))
    p = summary.paired_p(values)
    mean, half = summary.interval(
        values, 1 - 2 * p
    )  # one-sided p: the two-sided interval of 1 − 2p ends at 0
    assert half == pytest.approx(mean)
    assert summary.paired_p(-values) == pytest.approx(1 - p)
    assert [summary.paired_p(pd.Series([one] * 5)) for one in (0.1, 0.0, -0.1)] == [0, 1, 1]


def test_holm_multiplies_the_smallest_by_the_number_of_tests_and_never_goes_down():
    p = pd.Series([0.04, 0.01, 0.03, 0.005, 0.9], list("abcde"))
    # sorted: .005·5, .01·4, .03·3, .04·2 which is below the one before it, .9
    assert summary.holm(p).to_dict() == pytest.approx({"d": 0.025, "b": 0.04, "c": 0.09, "a": 0.09, "e": 0.9})
    assert summary.holm(pd.Series([0.6, 0.7])).tolist() == [1, 1]


def test_a_front_has_a_point_for_each_setting(whole):
    found = summary.front(whole, "replace-one", "Algorithm 2", 1.0, "parity")
    assert found["dial"].tolist() == [0.0, 1.0]
    assert found["error"].diff().iloc[1] == pytest.approx(0.2)
