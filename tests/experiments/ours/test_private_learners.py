import math
import sys
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize_scalar
from sklearn.linear_model import LogisticRegression

import dpfair_lib as dpf
from dpfair_lib.experiments import read_record
from dpfair_lib.experiments.ours import private_learners as trials
from dpfair_lib.experiments.ours import private_learners_fits as fits
from dpfair_lib.experiments.ours import private_learners_peer as peers
from dpfair_lib.experiments.ours import private_learners_settings as settings
from dpfair_lib.experiments.ours import private_learners_summary as summary

MODEL = """
import warnings
from sklearn import linear_model

class LogisticRegression(linear_model.LogisticRegression):
    def __init__(self, epsilon, data_norm, C=1.0, fit_intercept=True, max_iter=100, tol=1e-4):
        super().__init__(C=C, fit_intercept=fit_intercept, max_iter=max_iter, tol=tol)
        self.epsilon, self.data_norm = epsilon, data_norm

    def fit(self, X, y):
        if self.epsilon == 13:
            raise SystemExit(3)
        warnings.warn("no noise", RuntimeWarning)
        return super().fit(X, y)
"""
"""Stands for diffprivlib, which these tests do not have: the same parameters, without noise."""


@pytest.fixture(autouse=True)
def peer(tmp_path, monkeypatch):
    """Let the worker run with this interpreter and the model above."""
    there = tmp_path / "diffprivlib"
    there.mkdir()
    (there / "__init__.py").touch()
    (there / "models.py").write_text(MODEL)
    info = tmp_path / "diffprivlib-9.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: diffprivlib\nVersion: 9\n")
    here = {name: version(name) for name in ("numpy", "scikit-learn", "scipy")}
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("DIFFPRIVLIB_PYTHON", sys.executable)
    monkeypatch.setattr(peers, "pinned_versions", lambda: {"diffprivlib": "9", **here})
    peers.peer.cache_clear()
    yield peers.peer
    if peers.peer.cache_info().currsize:
        peers.peer().close()
    peers.peer.cache_clear()


def rows_of(name="compas", n=400):
    data = dpf.synthetic(name, n=n, random_state=0)
    features, columns = fits.unit_ball(data)
    return fits.Rows(features, data.y.to_numpy(), columns)


def simplest(epsilons):
    return {name: [learner.candidates[0]] * len(epsilons) for name, learner in fits.LEARNERS.items()}


def test_the_peer_fits_the_rows_that_it_was_sent_last(peer):
    for rows in (rows_of(), rows_of("lsac")):
        peer().rows(*rows[:2])
        found = peer().fit(epsilon=1.0, data_norm=1.0, C=10.0, fit_intercept=False)
        same = LogisticRegression(C=10.0, fit_intercept=False).fit(*rows[:2])
        np.testing.assert_allclose(found.weights, same.coef_[0], rtol=1e-12)
        assert (found.intercept, found.warnings) == (0.0, ("RuntimeWarning",))


def test_a_peer_of_another_version_or_none_is_refused(monkeypatch, tmp_path):
    with pytest.raises(FileNotFoundError, match="`make peer` makes it"):
        peers.Peer(tmp_path / "python")
    monkeypatch.setattr(peers, "pinned_versions", lambda: {"diffprivlib": "0.6.6"})
    with pytest.raises(ValueError, match=r"expected \{'diffprivlib': '0.6.6'\}"):
        peers.Peer(peers.Path(sys.executable))


def test_a_peer_that_ends_is_an_error(peer):
    peer().rows(*rows_of()[:2])
    with pytest.raises(RuntimeError, match="ended with status 3"):
        peer().fit(epsilon=13, data_norm=1.0)


def test_the_pins_are_whole():
    pins = dict(line.split("==") for line in peers.PINS.read_text().splitlines() if "==" in line)
    assert set(pins) == {"diffprivlib", "numpy", "scikit-learn", "scipy"}
    provenance = peers.peer_provenance()
    assert len(provenance["worker"]) == 64


@pytest.mark.parametrize("name", settings.STANDS_FOR)
def test_rows_are_in_the_unit_ball_by_public_numbers_alone(name):
    data = dpf.synthetic(name, n=400, random_state=0)
    rows, columns = fits.unit_ball(data)
    assert np.linalg.norm(rows, axis=1).max() <= 1 + 1e-12
    assert abs(rows).sum(axis=1).max() <= math.sqrt(columns) + 1e-12
    # a row is scaled in the same way whoever else is in the data
    assert (fits.unit_ball(replace(data, X=data.X.iloc[:3]))[0] == rows[:3]).all()
    extreme = data.X.iloc[[0]].copy()
    for column in data.numeric_features:
        extreme[column] = fits.RANGES[column][1] * 2.0
    largest, _ = fits.unit_ball(replace(data, X=extreme))
    assert np.linalg.norm(largest) == pytest.approx(1.0, abs=1e-12)
    assert abs(largest).sum() == pytest.approx(math.sqrt(columns), abs=1e-12)
    # some combination of the columns is constant: an intercept is among the weights
    found = np.linalg.lstsq(rows, np.ones(len(rows)), rcond=None)[0]
    np.testing.assert_allclose(rows @ found, 1, atol=1e-8)


@pytest.mark.parametrize(("deviation", "p", "length"), [(10.0, 7, 30.0), (900.0, 102, 3.0)])
def test_the_regularisation_minimises_the_worst_of_noise_and_shrinkage(deviation, p, length):
    curvature = np.geomspace(1e-3, 1e7, 4001)

    def worst(log):
        ridge = math.exp(log)
        share = (curvature / (curvature + ridge) ** 2).max()
        return share * (p * deviation**2 + ridge**2 * length**2) / 2

    best = minimize_scalar(worst, bounds=(-5, 14), method="bounded")
    found = fits.objective_regularization(deviation, 1.0, p, least=1e-9, length=length)
    assert found == pytest.approx(math.exp(best.x), rel=1e-2)
    assert fits.objective_regularization(1.0, 0.5, 1, least=4.0, length=1e9) == 8.0


def test_output_regularisation_minimises_its_bound():
    best = minimize_scalar(
        lambda at: 2 * 4.2 / (math.exp(at) * 9000) + math.exp(at) * 900 / 2, bounds=(-15, 5), method="bounded"
    )
    assert fits.output_regularization(4.2, 9000, length=30.0) == pytest.approx(math.exp(best.x), rel=1e-3)


def test_the_peer_is_asked_for_what_its_proof_covers(monkeypatch):
    asked = []
    monkeypatch.setattr(
        fits, "peer", lambda: type("Fake", (), {"fit": staticmethod(lambda **a: asked.append(a))})
    )
    rows = rows_of()
    fits.fit("diffprivlib", rows, 0.5, {"least": 4.0, "length": 1e9}, delta=1e-6, noise="study")
    fits.fit("diffprivlib, as it comes", rows, 0.5, {}, delta=1e-6, noise="study")
    tuned, plain = asked
    assert (tuned["epsilon"], tuned["data_norm"], tuned["fit_intercept"]) == (0.5, 1.0, False)
    assert tuned["C"] == 1 / 8
    assert plain == {"epsilon": 0.5, "data_norm": 1.0}


@pytest.mark.parametrize("name", [name for name, one in fits.LEARNERS.items() if one.maker == "ours"])
@pytest.mark.parametrize("noise", ["secure", "study"])
def test_ours_are_fitted_with_either_noise(name, noise):
    rows = rows_of()
    found = fits.fit(name, rows, 1.0, fits.LEARNERS[name].candidates[0], delta=1e-4, noise=noise, seed=0)
    assert found.weights.shape == (rows.features.shape[1],)
    assert np.isfinite(found.weights).all()
    assert found.weights.any()
    assert found.intercept == 0.0


def test_a_statement_of_a_larger_epsilon_is_refused(monkeypatch):
    from dpfair_lib.learners import ObjectivePerturbation

    original = ObjectivePerturbation.__init__
    monkeypatch.setattr(
        ObjectivePerturbation,
        "__init__",
        lambda self, **a: original(self, **(a | {"epsilon": 2 * a["epsilon"]})),
    )
    with pytest.raises(AssertionError, match="ε = 2"):
        fits.fit("objective, Gaussian", rows_of(), 1.0, fits.OBJECTIVE[0], delta=1e-4, noise="study", seed=0)


def test_a_trial_has_every_learner_once_at_every_epsilon():
    data = dpf.synthetic("compas", n=500, random_state=0)
    found = pd.DataFrame(
        trials.run_trial(data, split=0, seed=0, settings=simplest((1.0, 3.0)), epsilons=(1.0, 3.0))
    )
    assert not found.duplicated(["method", "level"]).any()
    free = found[found["level"].isna()]["method"].tolist()
    assert free == ["no privacy", "constant"]
    assert set(found["method"]) == {*fits.LEARNERS, *free}
    assert len(found) == 2 + 2 * len(fits.LEARNERS)
    assert found["accuracy"].between(0, 1).all()
    train, test = trials.split_rows(data, 0, 0)
    assert (len(train.labels), len(test.labels)) == (400, 100)
    constant = found.set_index("method").loc["constant", "accuracy"]
    common = float(train.labels.mean() > 0.5)
    assert constant == pytest.approx((test.labels == common).mean())
    # without noise the peer is as good as no privacy at its best, which seeing other rows would not be
    assert set(found.loc[found["method"] == "diffprivlib", "warnings"]) == {"RuntimeWarning"}


def test_large_data_keep_the_same_rows_in_every_split(monkeypatch):
    monkeypatch.setattr(trials, "MOST_ROWS", 300)
    data = dpf.synthetic("acs-income", n=1000, random_state=0)
    pooled = []
    for split in (0, 1):
        train, test = trials.split_rows(data, split, 0)
        assert (len(train.labels), len(test.labels)) == (240, 60)
        pooled.append(np.vstack([train.features, test.features]))
    order = [np.lexsort(rows.T) for rows in pooled]
    assert (pooled[0][order[0]] == pooled[1][order[1]]).all()
    assert (pooled[0] != pooled[1]).any()


def test_held_rows_leave_the_label_out_and_have_norm_one():
    data = dpf.synthetic("celeba", n=3000, random_state=0)
    size = settings.Size(1000, 38, 1)
    train, test = settings.held_rows(data, "Young", size, np.random.default_rng(0))
    assert train.features.shape == (1000, 76)
    assert len(test.labels) == 2000
    np.testing.assert_allclose(np.linalg.norm(train.features, axis=1), 1)
    np.testing.assert_allclose(train.features[:, :38] + train.features[:, 38:], 1 / math.sqrt(38))
    agreement = abs(2 * (train.features[:, :38] > 0).T.astype(float) @ (2 * train.labels - 1) / 1000)
    assert agreement.max() < 1.9  # no column is the label
    assert train.labels.mean() == pytest.approx(0.77, abs=0.05)


def test_every_candidate_is_tried_on_the_held_data(monkeypatch):
    monkeypatch.setitem(settings.SIZES, "small", settings.Size(300, 3, 1))
    data = dpf.synthetic("celeba", n=700, random_state=0)
    found = pd.DataFrame(
        settings.run_choice(data, size="small", label="Smiling", draw=0, seed=0, epsilons=(1.0,))
    )
    counts = found.groupby("method")["candidate"].nunique().to_dict()
    tried = {name for name, one in fits.LEARNERS.items() if len(one.candidates) > 1} - set(settings.SAME)
    assert counts == {name: len(fits.LEARNERS[name].candidates) for name in tried}


def test_the_best_mean_over_the_labels_is_chosen():
    lines = [
        (method, epsilon, at, label)
        for method, learner in fits.LEARNERS.items()
        if method not in settings.SAME
        for epsilon in settings.EPSILONS
        for at in range(len(learner.candidates))
        for label in "ab"
    ]
    rows = pd.DataFrame(lines, columns=["method", "level", "candidate", "label"])
    # the first label alone would choose candidate 0 of all methods
    rows["accuracy"] = np.where(rows["label"] == "a", 0.7 - 0.001 * rows["candidate"], 0.6)
    best = (rows["candidate"] == 2) & (rows["label"] == "b") & (rows["level"] == 0.3)
    rows.loc[best, "accuracy"] = np.where(rows.loc[best, "method"] == "DP-SGD", 0.95, 0.9)
    rows = pd.concat([rows.assign(size="wide"), rows.assign(size="small", accuracy=0.5)])
    found = settings.chosen(rows, "adult")
    for method, learner in fits.LEARNERS.items():
        numbers = [learner.candidates.index(candidate) for candidate in found[method]]
        assert numbers == ([0, 0, 0, 0] if len(learner.candidates) == 1 else [0, 2, 0, 0])
    assert set(settings.chosen(rows, "compas")["DP-SGD"][1].items()) == set(fits.STEPS[0].items())
    assert settings.best_of(rows, "adult", ("objective, Gaussian", "DP-SGD"))[1] == "DP-SGD"


def recorded(shift=0.0, spread=0.01):
    rng = np.random.default_rng(0)
    level = rng.normal(0.8, 0.05, 20)
    noise = {name: rng.normal(0, spread, 20) for name in ("ours", "peer")}
    lines = [
        {"split": at, "method": method, "level": epsilon, "accuracy": level[at] + add + noise[name][at]}
        for at in range(20)
        for method, epsilon, add, name in (
            ("objective, Laplace", 1.0, shift, "ours"), ("diffprivlib", 1.0, 0.0, "peer"),
            ("DP-SGD of Opacus", 1.0, 0.0, "peer"), ("no privacy", None, 0.1, "peer"),
        )
    ]  # fmt: skip
    return pd.DataFrame(lines)


def test_differences_are_paired_and_their_intervals_hold_at_once():
    rows = recorded(shift=0.1)
    mean, half = summary.difference(rows, ("objective, Laplace", 1.0), ("diffprivlib", 1.0), level=0.95)
    each = (
        rows.pivot_table(index="split", columns="method", values="accuracy")
        .eval("`objective, Laplace` - diffprivlib")
        .to_numpy()
    )
    from scipy.stats import t

    assert mean == pytest.approx(each.mean())
    assert half == pytest.approx(t.ppf(0.975, 19) * each.std(ddof=1) * math.sqrt(1 / 20 + 1 / 4))
    ours = {("x", delta, 1.0): "objective, Laplace" for delta in summary.PEERS}
    table = summary.comparisons({"x": rows}, ours)
    assert table["peer"].tolist() == ["diffprivlib", "diffprivlib", "DP-SGD of Opacus"]
    # ours and no privacy, each beside two peers: what stands in two lines is one interval
    wide = t.ppf(1 - 0.05 / 8, 19) * each.std(ddof=1) * math.sqrt(1 / 20 + 1 / 4)
    assert table["half_width"].iloc[0] == pytest.approx(wide)
    assert set(table["verdict"]) == {"above"}
    assert table["peer_loses"].all()
    assert summary.comparisons({"x": recorded(shift=-0.1)}, ours)["verdict"].tolist() == ["below"] * 3
    assert summary.comparisons({"x": recorded()}, ours)["verdict"].tolist() == ["not apart"] * 3


def test_pairs_that_ran_again_are_judged_by_that_and_the_intervals_of_both_runs_count():
    from scipy.stats import t

    first, second = recorded(), recorded(shift=0.1)
    some = second[second["method"] != "DP-SGD of Opacus"]
    ours = {("x", "δ = 1/n²", 1.0): "objective, Laplace"}
    table = summary.comparisons({"x": first}, ours, again={"x": some}).set_index("peer")
    assert table["again"].to_dict() == {"diffprivlib": True, "DP-SGD of Opacus": False}
    assert table["verdict"].to_dict() == {"diffprivlib": "above", "DP-SGD of Opacus": "not apart"}
    cells = ("objective, Laplace", 1.0), ("diffprivlib", 1.0)
    assert set(table["intervals"]) == {
        6
    }  # two for each peer, and those of the pair that ran again a second time
    expected = summary.difference(second, *cells, level=1 - 0.05 / 6)
    assert tuple(table.loc["diffprivlib", ["difference", "half_width"]]) == pytest.approx(expected)
    alone = summary.comparisons({"x": first}, ours).set_index("peer")
    wider = table.loc["DP-SGD of Opacus", "half_width"] / alone.loc["DP-SGD of Opacus", "half_width"]
    assert wider == pytest.approx(t.ppf(1 - 0.05 / 12, 19) / t.ppf(1 - 0.05 / 8, 19))
    # where nothing ran again, or only one of the two, nothing changes
    lone = second[second["method"] != "diffprivlib"]
    lone = lone[lone["method"] != "DP-SGD of Opacus"]
    for none in (None, {}, {"x": lone}, {"other": second}):
        found = summary.comparisons({"x": first}, ours, again=none).set_index("peer")
        pd.testing.assert_frame_equal(found, alone)


def test_the_part_of_a_variance_that_is_noise_is_found():
    rng, splits, draws = np.random.default_rng(0), 4000, {"ours": 4, "peer": 8}
    level = rng.normal(0.8, 0.05, splits)  # the same for both, so it cancels
    lines = [
        {
            "split": at, "draw": draw, "method": name, "level": 1.0,
            "accuracy": level[at] + own[at] + rng.normal(0, spread),
        }
        for name, spread, own in (("ours", 0.2, rng.normal(0, 0.1, splits)), ("peer", 0.4, np.zeros(splits)))
        for at in range(splits)
        for draw in range(draws[name])
    ]  # fmt: skip
    whole, noise = summary.variances(pd.DataFrame(lines), ("ours", 1.0), ("peer", 1.0))
    assert noise == pytest.approx(0.2**2 / 4 + 0.4**2 / 8, rel=0.03)
    assert whole == pytest.approx(noise + 0.1**2, rel=0.08)


def test_a_peer_on_few_splits_is_not_compared():
    rows = recorded()
    few = rows[(rows["split"] < 4) | (rows["method"] != "DP-SGD of Opacus")]
    table = summary.comparisons({"x": few}, {("x", "δ = 1/n²", 1.0): "objective, Laplace"})
    assert table["peer"].tolist() == ["diffprivlib"]


def test_cells_that_are_not_there_are_named():
    rows = recorded()
    with pytest.raises(ValueError, match=r"cell: found 0 trials of \('diffprivlib', 3.0\)"):
        summary.by_split(rows, ("diffprivlib", 3.0))
    with pytest.raises(ValueError, match="cell: found 40 trials"):
        summary.by_split(pd.concat([rows, rows]), ("no privacy", None))
    lacking = rows[(rows["split"] > 3) | (rows["method"] != "objective, Laplace")]
    with pytest.raises(ValueError, match="other: found splits of"):
        summary.difference(lacking, ("objective, Laplace", 1.0), ("no privacy", None), level=0.9)
    # a peer that ran on fewer splits is compared on these
    few = rows[(rows["split"] > 3) | (rows["method"] != "diffprivlib")]
    whole = rows[rows["split"] > 3]
    cells = ("objective, Laplace", 1.0), ("diffprivlib", 1.0)
    assert summary.difference(few, *cells, level=0.9) == summary.difference(whole, *cells, level=0.9)


def test_mean_accuracies_stand_by_method_and_epsilon():
    table = summary.accuracies(recorded(shift=0.1))
    assert table.columns.tolist() == [1.0]
    assert table.loc["no privacy", 1.0] > table.loc["diffprivlib", 1.0]


@pytest.mark.parametrize("data", settings.STANDS_FOR)
def test_the_record_is_whole_and_used_what_the_held_data_chose(data):
    rows, provenance = read_record(f"private-learners-{data}")
    held, _ = read_record("private-learners-settings")
    assert provenance["parameters"]["settings"] == settings.chosen(held, data)
    counts = rows.groupby(["method", "level"], dropna=False)["split"].nunique()
    assert len(counts) == 2 + len(fits.LEARNERS) * len(settings.EPSILONS)
    opacus = counts.index.get_level_values("method") == "DP-SGD of Opacus"
    splits = rows["split"].unique()
    assert set(counts[~opacus]) == {len(splits)} == {provenance["parameters"]["tasks"]}
    assert len(splits) >= 5
    assert set(splits) <= set(range(trials.TRIALS))
    # where there are many rows, records made before ran Opacus on fewer splits
    assert (set(counts[opacus]) == {len(splits)}) or (
        data not in ("compas", "lsac") and len(splits) < trials.TRIALS
    )
    assert len(rows) == counts.sum()
    assert rows["accuracy"].between(0, 1).all()
