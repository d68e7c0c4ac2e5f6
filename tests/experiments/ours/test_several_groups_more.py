import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

from dpfair_lib.experiments import read_record
from dpfair_lib.experiments.ours import several_groups_gaps as gaps
from dpfair_lib.experiments.ours import several_groups_methods as methods
from dpfair_lib.experiments.ours import several_groups_more as more
from dpfair_lib.experiments.ours import several_groups_private as private


def planted(broken=0, draws=10, shift=0.0):
    """Return rows of ten splits with errors known beforehand: noise adds 0.01 and the shift."""
    rows = []
    for split in range(10):
        for method in private.METHODS:
            for epsilon in (*private.EPSILONS, None):
                noisy = epsilon is not None
                rows.append({
                    "split": split, "scope": "two largest", "method": method.name, "notion": method.notion,
                    "gamma": 0.0, "epsilon": epsilon, "test_gap": 0.1, "test_large_gap": 0.05,
                    "test_error": 0.3 + (0.01 + shift + 0.001 * (split % 2) if noisy else 0.0),
                    "draws": draws if noisy else None, "broken": broken if noisy else None,
                    "bound": (0.4 if split else 1.0) if noisy else None,
                })  # fmt: skip
    return pd.DataFrame(rows)


def test_noise_is_compared_with_the_same_method_without():
    found = more.beside_no_noise({"one": planted(), "other": planted(shift=0.1)}, "two largest")
    assert len(found) == 2 * len(private.METHODS) * (len(private.EPSILONS) + 1)
    noisy = found[found["epsilon"].notna()].set_index("data")
    assert noisy.loc["one", "more"].to_numpy() == pytest.approx(0.0105)
    assert noisy.loc["other", "more"].to_numpy() == pytest.approx(0.1105)
    assert (noisy["more_verdict"] == "above").all()
    assert noisy["bound"].to_numpy() == pytest.approx(0.46)
    assert found[found["epsilon"].isna()]["more"].isna().all()
    assert found["gap"].to_numpy() == pytest.approx(0.1)
    assert found["large_gap"].to_numpy() == pytest.approx(0.05)


@pytest.mark.parametrize("count", [0, 1, 5, 10])
def test_the_interval_for_broken_bounds_is_exact(count):
    found = more.broken({"one": planted(count), "other": planted(count)}, level=0.9)
    assert len(found) == len(private.METHODS) * len(private.EPSILONS)
    tail = 0.1 / len(found) / 2
    for line in found.to_dict("records"):
        assert (line["broken"], line["draws"]) == (20 * count, 200)
        if count < 10:
            assert binom.cdf(line["broken"], 200, line["highest"]) == pytest.approx(tail)
        if count:
            assert binom.sf(line["broken"] - 1, 200, line["lowest"]) == pytest.approx(tail)
        assert line["lowest"] <= count / 10 <= line["highest"]
        assert line["bound"] == pytest.approx(0.46)
        assert line["useful"] == pytest.approx(0.9)


def test_variants_are_compared_with_theirs():
    rows = []
    for split in range(6):
        for notion in methods.NOTIONS:
            for place, method in enumerate(gaps.variants(notion)):
                gap = 0.2 + 0.01 * place + 0.001 * (split % 2) * (place != 4)
                rows.append({
                    "split": split, "method": method.name, "notion": notion, "gamma": 0.0, "epsilon": None,
                    "test_gap": gap, "test_error": 0.3, "test_small_chance": 0.1 * place,
                    "test_large_gap": None if notion == "equal_opportunity" and split == 3 else gap / 2,
                })  # fmt: skip
    found = more.why_gaps_differ({"one": pd.DataFrame(rows)})
    assert len(found) == 15
    ours = found[found["method"] == methods.ERRORS]
    assert ours["gap"].to_numpy() == pytest.approx(-0.0395)
    assert (ours["gap_verdict"] == "below").all()
    assert (found[found["method"] == gaps.FINER]["gap_verdict"] == "above").all()
    assert ours["large_gap"].isna().tolist() == [False, True, False]
    assert found["error"].to_numpy() == pytest.approx(0)
    assert ours["small_chance"].to_numpy() == pytest.approx(0)
    assert found["their_small_chance"].to_numpy() == pytest.approx(0.4)


def test_what_the_chapter_says_of_privacy():
    found = {data: read_record(f"several-groups-private-{data}")[0] for data in private.RECORDED}
    for rows in found.values():
        assert rows["split"].nunique() == 20
        exact = rows[rows["epsilon"].isna() & rows["gamma"].notna()]
        assert (exact["post_gap"] < 1e-9).all()
    broken = more.broken(found)
    assert (broken["draws"] == 200 * len(found)).all()
    assert (broken["highest"] < private.FAILURE).all()
    assert (broken["broken"] == 0).all()
    large = broken[broken["scope"] == "two largest"]
    assert (large["useful"] == 1).all()
    noise = more.beside_no_noise(found, "all groups").set_index(["data", "method", "notion"])["gap"]
    adult = noise.xs("equal_opportunity", level="notion").loc["adult"]
    assert (adult[private.OPPORTUNITY] > 0.9 * adult[methods.NONE].item()).all()


def test_what_the_chapter_says_of_gaps():
    found = {data: read_record(f"several-groups-gaps-{data}")[0] for data in gaps.DATA}
    for rows in found.values():
        # all variants do the same on the rows of the fit
        ours = rows[rows["method"].isin([methods.ERRORS, gaps.HALFWAY, gaps.WIDEST, gaps.BOTH])]
        assert (ours.groupby(["split", "notion"])["post_error"].agg(np.ptp) < 1e-6).all()
        assert (ours["post_gap"] < 1e-6).all()
    why = more.why_gaps_differ(found)
    kinds = why.groupby("method")["gap"].mean()
    assert kinds[methods.ERRORS] > 0.02
    assert abs(kinds[gaps.BOTH]) < 0.25 * kinds[methods.ERRORS]
    assert abs(kinds[gaps.FINER]) < 0.25 * kinds[methods.ERRORS]
    assert (why[why["method"] == gaps.BOTH]["gap_verdict"] == "not apart").all()
