"""The summaries of Tables 5.1–5.4 on made-up trials."""

import numpy as np
import pandas as pd
import pytest

from dpfair_lib.experiments.printed import printed_projections
from dpfair_lib.experiments.thesis import projection_tables_summary as summary

KEYS = ["method", "variant", "notion", "level"]


def made_up(n=40, lead=0.0, seed=0):
    """OPT with a gap of 0.2 on the line accuracy = 0.5 + gap/2 of Fair Projection, or above it."""
    rng = np.random.default_rng(seed)
    rows = []
    for split in range(n):
        base, wobble = 0.02 * rng.normal(), 0.02 * rng.normal()
        rows.append({"method": "Non-Fair", "accuracy": 0.65 + base, "parity": 0.3, "odds": 0.3})
        rows.append({"method": "OPT", **summary.OPT, "level": 1.0, "accuracy": 0.6 + base + wobble / 2 + lead,
                     "parity": 0.2 + wobble, "odds": 0.2 + wobble})  # fmt: skip
        for notion in summary.GAPS:
            for level in (0.0, 0.1, 0.3):
                rows.append({"method": "Fair Projection", "variant": "kl", "notion": notion, "level": level,
                             "accuracy": 0.5 + level / 2 + base, "parity": level, "odds": level})  # fmt: skip
        for row in rows[-8:]:
            row["split"] = split
    return pd.DataFrame(rows).reindex(columns=["split", *KEYS, "accuracy", "parity", "odds"])


@pytest.mark.parametrize("lead", [0.0, 0.01])
def test_on_one_line_the_chance_of_gap_and_split_cancels(lead):
    found = summary.at_equal_gap(made_up(lead=lead), "demographic_parity", "kl", 1.0)
    assert found.difference == pytest.approx(lead, abs=1e-12)
    assert found.half_width < 1e-12
    assert found.slope == pytest.approx(0.5)
    assert found.tolerance == pytest.approx(0.2, abs=0.01)


def test_intervals_cover_what_they_should():
    rng, hits = np.random.default_rng(5), 0
    for seed in range(200):
        rows = made_up(12, seed=seed)
        opt = rows["method"] == "OPT"
        rows.loc[opt, "accuracy"] += 0.01 * rng.normal(size=opt.sum())
        found = summary.at_equal_gap(rows, "mean_equalized_odds", "kl", 1.0)
        hits += abs(found.difference) <= found.half_width
        assert found.half_width_new_data > found.half_width
    assert 180 <= hits <= 199


def test_changes_are_taken_on_the_same_split():
    line = printed_projections().query("table == '5.1' and method == 'OPT' and level == 1").iloc[0]
    found = summary.change_beside_printed(made_up(), line, "accuracy")
    assert found.printed == pytest.approx(0.6802 - 0.6807)
    assert found.ours == pytest.approx(-0.05, abs=0.01)
    wider = summary.change_beside_printed(made_up(), line, "accuracy", comparisons=20)
    assert wider.reach > found.reach


def test_another_channel_may_be_compared():
    rows = made_up()
    opt = rows["method"] == "OPT"
    turned = rows[opt].assign(variant="turned round", accuracy=rows.loc[opt, "accuracy"] + 0.1)
    line = printed_projections().query("table == '5.1' and method == 'OPT' and level == 1").iloc[0]
    both = pd.concat([rows, turned], ignore_index=True)
    plain, other = (
        summary.change_beside_printed(both, line, "accuracy", opt=opt)
        for opt in (None, summary.OPT | {"variant": "turned round"})
    )
    assert other.ours - plain.ours == pytest.approx(0.1)
    assert other.reach == pytest.approx(plain.reach)


def test_what_is_lacking_is_named():
    rows = made_up()
    with pytest.raises(ValueError, match="expected one for each split"):
        summary.trials_of(rows, "OPT", level=7.0)
    with pytest.raises(ValueError, match=r"found the gap 0\.9000, expected one within the curve"):
        summary.point_at_gap(rows, "demographic_parity", "kl", 0.9)


def test_points_of_the_curve_and_their_leeway():
    rows = made_up()
    accuracy, leeway = summary.point_at_gap(rows, "demographic_parity", "kl", 0.2)
    assert accuracy == pytest.approx(0.6, abs=0.01)
    assert leeway == pytest.approx(0.1, abs=1e-9)
    line = printed_projections().query("table == '5.1' and method == 'Fair Projection'").iloc[0]
    found = summary.loss_beside_printed(rows, line)
    assert found.printed == pytest.approx(0.6784 - 0.6807)
    assert found.ours == pytest.approx(0.5 + line["gap"] / 2 - 0.65)
    assert found.reach == pytest.approx(leeway + 1e-4)
