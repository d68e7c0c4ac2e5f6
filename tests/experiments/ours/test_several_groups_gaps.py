from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpfair_lib as dpf
from dpfair_lib.experiments.ours import several_groups_data as parts
from dpfair_lib.experiments.ours import several_groups_gaps as gaps
from dpfair_lib.experiments.ours import several_groups_methods as methods
from dpfair_lib.experiments.ours.several_groups import row_of


@pytest.fixture(scope="module")
def split():
    """Drawn rows of COMPAS in four groups, race and sex."""
    found = dpf.synthetic("compas", n=900, random_state=0)
    sex = np.where(found.X["sex_Male"] == 1, "male", "female")
    data = replace(found, sensitive_features=found.sensitive_features + " & " + pd.Series(sex))
    return parts.split_rows(data, 0, 0)


@pytest.mark.parametrize("notion", methods.NOTIONS)
def test_variants_do_the_same_on_the_rows_of_the_fit(split, notion):
    ours, *others = [row_of(method, split) for method in list(gaps.variants(notion))[:4]]
    assert [row["method"] for row in others] == [gaps.HALFWAY, gaps.WIDEST, gaps.BOTH]
    for row in others:
        assert row["post_error"] == pytest.approx(ours["post_error"], abs=1e-6)
        assert row["post_gap"] < 1e-6
    assert others[1]["post_chance"] >= ours["post_chance"] - 1e-6


def test_halfway_moves_thresholds_and_no_chance_of_a_row_of_the_fit(split):
    ours, halfway, widest, *_ = gaps.variants("equalized_odds")
    rules = [method.fit(split) for method in (ours, halfway, widest)]
    assert rules[1](split.post) == pytest.approx(rules[0](split.post), abs=1e-9)
    assert abs(rules[1](split.test) - rules[0](split.test)).max() > 0.01
    assert abs(rules[2](split.post) - rules[0](split.post)).max() > 0.01


def test_refitted_as_it_was_a_rule_is_the_same_on_new_rows(split):
    ours = next(gaps.variants("demographic_parity"))
    same = gaps.refitted(split, fit=ours.fit, halfway=False, widest=False)
    assert same(split.test) == pytest.approx(ours.fit(split)(split.test), abs=1e-9)


def test_far_apart_is_nobody_and_everybody_where_scores_say_nothing():
    place, labels = np.repeat(np.arange(4), 2), np.tile([0, 1], 4)
    found = gaps.far_apart(np.array([0.0, 0.5, 0.0, 0.5, 0.0]), place, labels)
    # the mean selection rate 3/4·1/2 + 1/4·1/2 = 1/2 stays
    assert found == pytest.approx([0.5, 0, 0, 0, 0.5])


def test_small_groups_are_those_below_many():
    groups = np.repeat(["a", "b"], [150, 10])
    rows = parts.Part(np.empty((160, 0)), np.tile([0, 1], 80), groups, np.zeros(160))
    assert gaps.small_chance(rows, np.where(groups == "b", 0.25, 0.5)) == pytest.approx(0.375)
    assert gaps.small_chance(parts.Part(*(column[:150] for column in rows)), np.zeros(150)) is None


def test_a_finer_grid_comes_closer_to_the_least_errors(split):
    found = {m.name: row_of(m, split)["post_error"] for m in gaps.variants("demographic_parity")}
    assert found[methods.ERRORS] <= found[gaps.FINER] + 1e-9
    assert found[gaps.FINER] <= found[methods.OPTIMIZER] + 1e-9
    assert found[methods.ERRORS] < found[methods.OPTIMIZER]
