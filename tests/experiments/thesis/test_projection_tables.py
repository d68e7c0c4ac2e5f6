"""The trials behind Tables 5.1–5.4 on the stand-ins, and their summaries on made-up trials."""

import numpy as np
import pandas as pd
import pytest

from dpfair_lib.experiments.printed import printed_projections
from dpfair_lib.experiments.thesis import projection_tables as tables
from dpfair_lib.experiments.thesis import projection_tables_summary as summary
from dpfair_lib.experiments.thesis.projection_tables import (
    FINER,
    TOLERANCES,
    coded_table,
    run_trial,
    time_steps,
)

KEYS = ["method", "variant", "notion", "level"]


@pytest.fixture(scope="module")
def trial():
    return pd.DataFrame(run_trial(data="compas", split=1, seed=0, standin=800))


def test_a_trial_has_every_method_once(trial):
    assert not trial.duplicated(KEYS).any()
    count = trial["method"].value_counts()
    assert count["Non-Fair"] == 1
    assert count["OPT"] == len(tables.LEVELS) * 3 * 2
    assert count["Fair Projection"] == 4 * len({*TOLERANCES, *FINER["compas"]})
    numbers = trial[["accuracy", "parity", "odds"]].to_numpy()
    assert ((numbers >= 0) & (numbers <= 1)).all()
    for line in printed_projections().query("data == 'compas' and method == 'OPT'").to_dict("records"):
        found = (trial["method"] == "OPT") & (trial["level"] == line["level"])
        assert (found & (trial["variant"] == "Theorem 14") & (trial["notion"] == "training")).sum() == 1


def test_a_loose_projection_is_the_classifier_itself_and_a_tight_one_is_not(trial):
    plain = trial[trial["method"] == "Non-Fair"].iloc[0]
    fair = trial[(trial["method"] == "Fair Projection") & (trial["notion"] == "demographic_parity")]
    loose, tight = (fair[fair["level"] == level] for level in (1.0, 0.0))
    assert (loose["accuracy"] == plain["accuracy"]).all()
    assert tight["drawn parity"].max() < loose["drawn parity"].min()


def test_reports_of_theorem_14_have_less_unfair_labels_in_the_mean():
    rows = pd.DataFrame(
        [row for split in range(3) for row in run_trial(data="compas", split=split, seed=0, standin=800)
         if row["method"] != "Fair Projection"]
    )  # fmt: skip
    plain = rows.loc[rows["method"] == "Non-Fair", "reported"].mean()
    chosen = (rows["variant"] == "Theorem 14") & (rows["notion"] == "training") & (rows["level"] == 0.2)
    assert rows.loc[chosen, "reported"].mean() < plain


def test_a_trial_is_its_numbers_alone():
    task = {"data": "compas", "split": 2, "seed": 3, "standin": 600}
    assert repr(run_trial(**task)) == repr(run_trial(**task))
    other = run_trial(**task | {"seed": 4})
    assert [row["reported"] for row in other if row["method"] == "OPT"] != [
        row["reported"] for row in run_trial(**task) if row["method"] == "OPT"
    ]


def test_stand_ins_have_the_coding_of_the_tables():
    compas, adult = coded_table("compas", 500), coded_table("adult", 3_000)
    assert compas.X.shape == (500, 6)
    assert adult.X.shape[1] == 20
    for coded in (compas, adult):
        assert set(np.unique(coded.X[:, coded.race])) == {0.0, 1.0}
        assert set(np.unique(coded.y)) == {0, 1}
    assert set(np.unique(compas.X[:, 1])) == {-1.0, 1.0}


def test_channels_are_private_and_the_mirror_is_one():
    for name, matrix in tables.channels(0.6, (0.5, 0.4), 1.0).items():
        np.testing.assert_allclose(matrix.sum(axis=1), 1, atol=1e-12)
        ratio = matrix.max(axis=0) / matrix.min(axis=0)
        assert (ratio <= np.exp(1.0) * (1 + 1e-9)).all(), name
    printed, turned = (tables.channels(0.6, (0.5, 0.4), 1.0)[name] for name in ("Theorem 14", "turned round"))
    assert printed[0, 0] == turned[1, 1]
    assert printed[0, 0] == 0.5  # the larger group's


def test_timing_lists_every_setting():
    rows = pd.DataFrame(time_steps(data="compas", repeats=1, standin=500))
    assert rows["step"].value_counts().to_dict() == {"training": 1, "OPT": 1, "Fair Projection": 32}
    assert (rows["seconds"] >= 0).all()


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


def test_printed_tables_are_whole():
    lines = printed_projections()
    assert lines["table"].value_counts().sort_index().to_dict() == {"5.1": 10, "5.2": 10, "5.3": 8, "5.4": 8}
    assert lines[["accuracy", "gap"]].notna().all(axis=None)
    for first, second in (("5.1", "5.2"), ("5.3", "5.4")):
        pair = [
            lines[(lines["table"] == x) & (lines["method"] == "OPT")]["accuracy"].tolist()
            for x in (first, second)
        ]
        assert pair[0] == pair[1]
