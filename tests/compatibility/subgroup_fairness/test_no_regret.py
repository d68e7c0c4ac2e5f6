import re

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from dpfair_lib import PrivateNoRegretFair
from dpfair_lib.compatibility.subgroup_fairness import no_regret
from dpfair_lib.compatibility.subgroup_fairness.no_regret import noisy_counts
from dpfair_lib.privacy import STUDY_NOTE, noise_source

LEVELS = {"job": ["none", "part", "full"], "sex": ["f", "m"], "age": ["young", "old"]}
GROUPS = [{"sex": "f"}, {"sex": "f", "age": "old"}, {"age": "young"}]


def rows(n=3000, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"job": rng.choice(LEVELS["job"], n), "town": rng.integers(0, 2, n)})
    S = pd.DataFrame({"sex": rng.choice(LEVELS["sex"], n), "age": rng.choice(LEVELS["age"], n)})
    chance = 0.15 + 0.5 * (X["job"] == "full") + 0.15 * (S["sex"] == "m")
    return X, (rng.random(n) < chance).astype(int), S


def model(**options):
    chosen = {
        "epsilon": 1.0,
        "delta": 1e-6,
        "subgroups": GROUPS,
        "rounds": 200,
        "samples": 20,
        "levels": LEVELS,
    }
    return PrivateNoRegretFair(**chosen | {"noise": "study", "random_state": 0} | options)


@pytest.mark.parametrize("options", [{}, {"release": "rounds"}, {"repair": False}])
def test_it_fits_and_predicts(options):
    X, y, S = rows()
    fitted = model(**options).fit(X, y, sensitive_features=S)
    chance = fitted.predict_proba(X)
    assert chance.shape == (3000, 2)
    assert ((chance >= 0) & (chance <= 1)).all()
    assert set(fitted.predict(X, random_state=0)) <= {0, 1}
    again = clone(fitted).fit(X, y, sensitive_features=S)
    assert (again.selection_ == fitted.selection_).all()
    assert not fitted.privacy_statement_.guarantee
    note = "cgkm.fairnr-privacy" if options.get("repair") is False else STUDY_NOTE
    assert note in fitted.privacy_statement_.note


@pytest.mark.parametrize("release", ["counts", "rounds"])
def test_secure_noise_guarantees(release):
    X, y, S = rows(400)
    fitted = model(release=release, noise="secure", random_state=None, rounds=5).fit(
        X, y, sensitive_features=S
    )
    promised = fitted.privacy_statement_
    assert promised.guarantee
    assert (promised.epsilon, promised.delta, promised.relation) == (1.0, 1e-6, "replace-one")


def test_noisy_counts_have_the_variance_of_the_budget():
    found = noisy_counts(np.zeros((40, 50, 2)), 0.04, noise="study", rng=np.random.default_rng(0))
    assert found.std() == pytest.approx(5.0, rel=0.05)


def test_much_budget_is_accurate_and_arrays_do():
    X, y, S = rows()
    plain = model(epsilon=50.0, rounds=1000).fit(X, y, sensitive_features=S)
    chosen = (plain.predict_proba(X)[:, 1] > 0.5) == (X["job"] == "full")
    assert chosen.mean() > 0.95
    codes = np.stack([X["town"], 1 - X["town"]], axis=1)
    fitted = model(levels=None, subgroups=[{0: 1}]).fit(codes, y, sensitive_features=codes[:, 0])
    assert len(fitted.selection_) == 4


def test_labels_of_one_kind_are_defined():
    X, y, S = rows(100)
    for same in (np.zeros(100, int), np.ones(100, int)):
        for options in ({}, {"release": "rounds"}, {"repair": False}):
            assert np.isfinite(model(rounds=5, **options).fit(X, same, sensitive_features=S).selection_).all()
    assert len(y) == 100


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"subgroups": []}, "subgroups: found []"),
        ({"subgroups": [{}]}, "subgroups: found {}"),
        ({"subgroups": [{"race": "a"}]}, "subgroups: found column 'race'"),
        ({"subgroups": [{"sex": "x"}]}, "subgroups: found 'x' for column 'sex'"),
        ({"epsilon": 0}, "epsilon: found 0"),
        ({"delta": 0}, "delta: found 0"),
        ({"rounds": 0}, "rounds: found 0"),
        ({"samples": 1.5}, "samples: found 1.5"),
        ({"dual_bound": -1}, "dual_bound: found -1"),
        ({"tolerance": -0.1}, "tolerance: found -0.1"),
        ({"release": "all"}, "release: found 'all'"),
        ({"repair": "no"}, "repair: found 'no'"),
        ({"repair": False, "noise": "secure", "random_state": None}, "noise: found 'secure' beside repair=False"),
        ({"noise": "secure"}, "random_state: found 0 beside noise='secure'"),
        ({"levels": LEVELS | {"job": ["none", "part"]}}, "X: found 'full' in column 'job'"),
        ({"levels": {"job": ["none", "none"]}}, "levels: found ['none', 'none'] for column 'job'"),
        ({"levels": 3}, "levels: found 3"),
        ({"levels": {"job": 3}}, "levels: found 3 for column 'job'"),
        ({"levels": {"job": [["full"], ["part"]]}}, "levels: found [['full'], ['part']] for column 'job'"),
        ({"levels": {"job": None}}, "levels: found None for column 'job'"),
        ({"epsilon": 1e308}, "epsilon: found 1e+308"),
        ({"epsilon": 1e308, "release": "rounds"}, "epsilon: found 1e+308"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said(options, found):
    X, y, S = rows(200)
    X["job"] = "full"
    with pytest.raises(ValueError, match=re.escape(found)):
        model(**options).fit(X, y, sensitive_features=S)


def test_shapes_are_checked():
    X, y, S = rows(50)
    with pytest.raises(ValueError, match="lengths differ"):
        model().fit(X, y[:-1], sensitive_features=S)
    with pytest.raises(ValueError, match="labels 0 and 1"):
        model().fit(X, y + 1, sensitive_features=S)
    fitted = model(rounds=2).fit(X, y, sensitive_features=S)
    with pytest.raises(ValueError, match="expected \\['job', 'town'\\]"):
        fitted.predict_proba(X[["town", "job"]])


def test_rows_whose_labels_differ_are_refused():
    X, y, S = rows(50)
    with pytest.raises(ValueError, match="sensitive_features: found other row labels than those of X"):
        model().fit(X, y, sensitive_features=S.iloc[::-1])


def test_kinds_of_input_that_mean_the_same_are_the_same():
    X, y, S = rows(200)
    plain = model(rounds=5).fit(X, y, sensitive_features=S)
    for options in ({"repair": np.True_}, {"subgroups": np.array(GROUPS)}):
        other = model(rounds=5, **options).fit(X, y, sensitive_features=S)
        assert (other.selection_ == plain.selection_).all()


def watch(monkeypatch, module, name):
    """Record what a sampler is asked for, and let it draw."""
    asked, usual = [], getattr(module, name)

    def watched(values, scale, *, noise, rng):
        asked.append((np.array(values, dtype=float), scale, noise, rng is None))
        return usual(values, scale, noise=noise, rng=rng)

    monkeypatch.setattr(module, name, watched)
    return asked


@pytest.mark.parametrize("noise", ["study", "secure"])
def test_noisy_counts_are_noised_once_and_the_data_used_nowhere_else(noise, monkeypatch):
    from dpfair_lib.compatibility.subgroup_fairness import no_regret as module
    from dpfair_lib.compatibility.subgroup_fairness.fair_dynamics import rho_for

    X, y, S = rows(400)
    counts = watch(monkeypatch, noise_source, "add_gaussian_noise")
    played = []

    def game(table, *_):
        played.append(np.array(table))
        return "the game"

    def play(of, **_):
        played.append(of)
        return np.zeros(6)

    monkeypatch.setattr(module, "game_from_counts", game)
    monkeypatch.setattr(module, "no_regret_dynamics", play)
    noised = []
    for at in range(20):
        counts.clear()
        played.clear()
        model(noise=noise, random_state=None if noise == "secure" else at).fit(X, y, sensitive_features=S)
        ((asked, scale, kind, unseeded),) = counts
        assert asked.sum() == 400
        assert scale == pytest.approx(1 / np.sqrt(rho_for(1.0, 1e-6)), rel=1e-9)
        assert (kind, unseeded) == (noise, noise == "secure")
        table, of = played
        assert of == "the game"
        noised.append(table.ravel() - asked)
    assert np.shape(noised) == (20, 48)
    assert np.abs(noised).min() > 0  # no count is left as it was
    # the squares of 960 draws add up to χ² · scale²: right noise misses by 15 % with a probability below 1e-10
    assert np.sqrt(np.mean(np.square(noised))) == pytest.approx(scale, rel=0.15)


@pytest.mark.parametrize("noise", ["study", "secure"])
def test_every_round_noises_its_loss_and_the_auditors_scores(noise, monkeypatch):
    from dpfair_lib.compatibility.subgroup_fairness.fair_dynamics import round_noise

    X, y, S = rows(400)
    losses = watch(monkeypatch, noise_source, "add_gaussian_noise")
    scores = watch(monkeypatch, noise_source, "add_laplace_noise")
    state = None if noise == "secure" else 0
    fitted = model(release="rounds", rounds=7, noise=noise, random_state=state)
    fitted.fit(X, y, sensitive_features=S)
    asked = round_noise(1.0, 1e-6, 400, rounds=7, dual_bound=fitted.dual_bound)
    assert [(scale, kind, unseeded) for _, scale, kind, unseeded in losses] == [
        (asked.sigma, noise, noise == "secure")
    ] * 7
    assert [(scale, kind, unseeded) for _, scale, kind, unseeded in scores] == [
        (asked.audit_scale, noise, noise == "secure")
    ] * 7
    assert all(len(values) == 2 * len(GROUPS) + 1 for values, *_ in scores)


def test_an_auditor_drowned_in_noise_names_anyone():
    from dpfair_lib.compatibility.subgroup_fairness.fair_dynamics import RoundNoise, no_regret_dynamics

    named = []

    class Rows:
        shape = (3, 2)

        def __getitem__(self, at):
            named.append(int(at))
            return np.zeros(2)

    class Game:
        error, violation = np.zeros(2), Rows()

        def violations(self, _):
            return np.array([0.4, 0.0, 0.0])

    noise = RoundNoise(sigma=1e-9, audit_scale=1e6, rho=1.0)
    no_regret_dynamics(
        Game(), rounds=3000, samples=1, dual_bound=1.0, tolerance=0.0,
        rng=np.random.default_rng(0), private=noise, noise="study",
    )  # fmt: skip
    # seven answers, of which two are each subgroup's
    counts = np.bincount(named, minlength=3)
    assert np.abs(counts - 3000 * 2 / 7).max() < 5 * np.sqrt(3000 * 2 / 7)


def test_as_many_cells_as_fit_are_allowed_and_none_more(monkeypatch):
    X, y, S = rows(50)
    cells = 2 * (3 * 2) * (2 * 2)  # labels, jobs and towns, sexes and ages
    levels = LEVELS | {"town": [0, 1]}
    monkeypatch.setattr(no_regret, "MOST_CELLS", cells)
    assert model(levels=levels, rounds=2, samples=2).fit(X, y, sensitive_features=S).selection_.size > 0
    monkeypatch.setattr(no_regret, "MOST_CELLS", cells - 1)
    with pytest.raises(ValueError, match="found 6 cells and 4 profiles, expected a product of at most 23"):
        model(levels=levels, rounds=2, samples=2).fit(X, y, sensitive_features=S)
