"""Private synthetic rows in the comparison: public bins, the same splits, what was asked for, resumed runs."""

import functools
import math
import sys
from dataclasses import replace
from importlib.metadata import version

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpfair_lib as dpf
from dpfair_lib.experiments.fair_learners import people, synthesizer, synthetic, synthetic_runs, trials
from dpfair_lib.experiments.fair_learners.settings import EPSILONS
from dpfair_lib.experiments.fair_learners.summary import Case
from dpfair_lib.experiments.ours.private_learners_fits import RANGES, unit_ball
from dpfair_lib.experiments.ours.private_learners_settings import STANDS_FOR
from dpfair_lib.experiments.recorded_results import read_record
from dpfair_lib.experiments.resumable_runs import run_and_record
from dpfair_lib.experiments.sources import Source, on_data

MODELS = """
from math import log, sqrt
from types import SimpleNamespace

class FactoredInference:
    pass

class MSTGM:
    def __init__(self, epsilon, delta, n_iters, domain, n_jobs):
        rho = (sqrt(log(1 / delta) + epsilon) - sqrt(log(1 / delta))) ** 2
        pairs = list(zip(domain, list(domain)[1:]))
        self.generator = SimpleNamespace(epsilon=epsilon, delta=delta, rho=rho, sigma=sqrt(3 / (2 * rho)))
        self.generator.cliques = [(name,) for name in domain] + pairs
        self.domain = None

    def set_domain(self, domain):
        self.domain = domain

    def set_random_state(self, state):
        self.state = state

    def fit(self, table):
        print("said among the answers")
        if self.generator.epsilon == 13:
            raise SystemExit(3)
        assert all(table[name].between(0, size - 1).all() for name, size in self.domain.items())
        self.table = table

    def generate(self, n_records):
        return self.table.sample(n_records, random_state=self.state)
"""
"""Stands for dpmm, whose environment these tests do not have: the same calls, the same rows in another order."""


@pytest.fixture(autouse=True)
def made(tmp_path, monkeypatch):
    """Let the worker run with this interpreter and the model above."""
    there = tmp_path / "dpmm" / "models" / "base"
    there.mkdir(parents=True)
    for folder in (there, there.parent, there.parent.parent):
        (folder / "__init__.py").touch()
    (there / "mbi.py").write_text(MODELS)
    (there.parent / "mst.py").write_text(MODELS)
    for name in ("dpmm", "opendp"):
        info = tmp_path / f"{name}-9.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 9\n")
    here = {name: version(name) for name in ("numpy", "pandas", "scikit-learn", "scipy")}
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("DPMM_PYTHON", sys.executable)
    monkeypatch.setattr(synthesizer, "pinned_versions", lambda: {"dpmm": "9", "opendp": "9", **here})
    synthesizer.synthesizer.cache_clear()
    yield synthesizer.synthesizer
    if synthesizer.synthesizer.cache_info().currsize:
        synthesizer.synthesizer().close()
    synthesizer.synthesizer.cache_clear()


@pytest.fixture(scope="module")
def data():
    return dpf.synthetic("compas", n=900, random_state=0)


class Kept:
    """A synthesiser that keeps what it gets, and releases it as it is."""

    def __init__(self, **wrong):
        self.tables, self.asked, self.wrong = [], [], wrong

    def release(self, codes, sizes, **asked):
        self.tables.append(codes)
        self.asked.append({"sizes": sizes, **asked})
        log = math.log(1 / asked["delta"])
        rho = (math.sqrt(log + asked["epsilon"]) - math.sqrt(log)) ** 2
        about = {name: asked[name] for name in ("epsilon", "delta")}
        about |= {
            "rho": rho,
            "sigma": math.sqrt(3 / (2 * rho)),
            "pairs": [(5, 6)],
            "seconds": 1.0,
        } | self.wrong
        return synthesizer.Release(codes=codes, **about)


def kept(monkeypatch, **wrong):
    one = Kept(**wrong)
    monkeypatch.setattr(synthetic, "synthesizer", lambda: one)
    return one


def trial(data, epsilon=1.0, split=0):
    return pd.DataFrame(synthetic.run_trial(data, split=split, seed=0, epsilon=epsilon))


def test_a_table_goes_through_the_pipe_and_comes_back(made):
    codes = np.random.default_rng(0).integers(0, [3, 2, 4], (50, 3))
    asked = {"epsilon": 1.0, "delta": 1e-4, "steps": 10}
    found = made().release(codes, [3, 2, 4], seed=1, **asked)
    assert sorted(map(tuple, found.codes)) == sorted(map(tuple, codes))
    assert (found.epsilon, found.delta, found.pairs) == (1.0, 1e-4, [(0, 1), (1, 2)])
    again, other = (made().release(codes, [3, 2, 4], seed=seed, **asked).codes for seed in (1, 2))
    assert (again == found.codes).all()
    assert (other != found.codes).any()


def test_an_environment_of_other_versions_or_none_is_refused(monkeypatch, tmp_path):
    with pytest.raises(FileNotFoundError, match="`make dpmm` makes its environment"):
        synthesizer.Synthesizer(tmp_path / "python")
    monkeypatch.setattr(synthesizer, "pinned_versions", lambda: {"dpmm": "0.1.9"})
    with pytest.raises(ValueError, match=r"expected \{'dpmm': '0.1.9'\}"):
        synthesizer.Synthesizer(synthesizer.Path(sys.executable))


def test_a_process_that_ends_is_an_error(made):
    with pytest.raises(RuntimeError, match="ended with status 3"):
        made().release(np.zeros((4, 2), int), [2, 2], epsilon=13, delta=1e-4, steps=10, seed=0)


def test_the_pins_are_whole_and_the_worker_tells_them():
    pins = dict(line.split("==") for line in synthesizer.PINS.read_text().splitlines() if "==" in line)
    assert set(pins) == {"dpmm", "numpy", "opendp", "pandas", "scikit-learn", "scipy"}
    assert all(f'"{name}"' in synthesizer.WORKER.read_text() for name in pins)
    assert len(synthesizer.provenance()["worker"]) == 64


def alone(data, coder):
    """Return whether a row gets the same codes whoever else is in the data."""
    whole = coder(data.X)
    parts = [coder(data.X.iloc[at : at + 1]) for at in range(0, len(data.X), 45)]
    return bool((np.vstack(parts) == whole[::45]).all())


def by_rows(features, columns):
    """Cut numeric columns between the least and the largest value of the rows: a planted fault."""
    codes = synthetic.coded(features, columns)
    for at, column in enumerate(columns):
        if column.numeric:
            values = features[column.name].to_numpy()
            width = max(values.max() - values.min(), 1e-9)
            codes[:, at] = np.clip((values - values.min()) / width * synthetic.BINS, 0, synthetic.BINS - 1)
    return codes


@pytest.mark.parametrize("name", STANDS_FOR)
def test_codes_are_given_by_public_numbers_alone(name):
    data = dpf.synthetic(name, n=450, random_state=0)
    columns = synthetic.columns_of(data)
    assert columns == synthetic.columns_of(replace(data, X=data.X.iloc[:0]))
    assert alone(data, functools.partial(synthetic.coded, columns=columns))
    assert not alone(data, functools.partial(by_rows, columns=columns))
    codes = synthetic.coded(data.X, columns)
    assert ((codes >= 0) & (codes < [column.size for column in columns])).all()
    table = synthetic.decoded(codes, columns, data.X)
    assert table.columns.equals(data.X.columns)
    assert (synthetic.coded(table, columns) == codes).all()
    coded = data.X.columns.drop(data.numeric_features)
    assert (table[coded].to_numpy() == data.X[coded].to_numpy()).all()
    for feature in data.numeric_features:
        low, high = RANGES[feature]
        off = abs(table[feature].to_numpy() - data.X[feature].to_numpy().clip(low, high))
        assert off.max() <= (high - low) / synthetic.BINS / 2 + 1e-9


def test_a_row_without_one_code_is_refused(data):
    wrong = data.X.assign(sex_Male=1.0, sex_Female=1.0)
    with pytest.raises(ValueError, match="sex: found a row without exactly one code"):
        synthetic.coded(wrong, synthetic.columns_of(data))


@pytest.mark.parametrize("most", [10**6, 500])
def test_training_rows_are_those_of_the_other_methods(data, monkeypatch, most):
    for module in (people, synthetic):
        monkeypatch.setattr(module, "MOST_ROWS", most)
    train, _ = people.split_people(data, 3, 0)
    at = synthetic.training_rows(data, 3, 0)
    assert (unit_ball(replace(data, X=data.X.iloc[at]))[0] == train.features).all()
    assert (data.y.to_numpy()[at] == train.labels).all()


def test_test_rows_do_not_enter_the_release(data, monkeypatch):
    own = kept(monkeypatch)
    trial(data)
    at = np.setdiff1d(np.arange(len(data.y)), synthetic.training_rows(data, 0, 0))
    y, X = data.y.copy(), data.X.copy()
    y.iloc[at] = 1 - y.iloc[at]
    X.iloc[at] = X.iloc[at[::-1]].to_numpy()
    other = kept(monkeypatch)
    trial(replace(data, X=X, y=y))
    assert (own.tables[0] == other.tables[0]).all()
    monkeypatch.setattr(synthetic, "training_rows", lambda *_: np.arange(len(data.y)))  # a planted fault
    with pytest.raises(RuntimeError, match="other rows than those of split_people"):
        trial(data)


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_statement_is_what_was_asked_for(data, monkeypatch, epsilon):
    own = kept(monkeypatch)
    rows = trial(data, epsilon)
    (asked,) = own.asked
    assert (asked["epsilon"], asked["delta"]) == (epsilon, len(own.tables[0]) ** -2.0)
    assert set(rows["level"]) == {epsilon}
    assert set(rows["protection"]) == {"add-remove"}
    _, statement = synthetic.released(own.tables[0], asked["sizes"], epsilon, 0)
    assert (statement.epsilon, statement.delta, statement.relation) == (epsilon, asked["delta"], "add-remove")
    assert not statement.guarantee


@pytest.mark.parametrize("wrong", [{"epsilon": 1.1}, {"delta": 1e-3}, {"sigma": 5.0}, {"rho": 0.5}])
def test_a_release_that_costs_more_is_refused(data, monkeypatch, wrong):
    kept(monkeypatch, **wrong)
    with pytest.raises(RuntimeError, match=r"expected ε = 1\.0"):
        trial(data)


@pytest.mark.parametrize("columns", [2, 7, 24])
def test_the_phases_cost_a_third_each_at_most(columns):
    rho = 0.02
    one = synthesizer.Release(np.empty((0, columns)), 1.0, 1e-6, rho, math.sqrt(3 / (2 * rho)), [], 0.0)
    expected = rho / 3 * (2 + (columns - 1) / columns)
    assert synthetic.concentrated(one, columns) == pytest.approx(expected, rel=1e-12)
    assert synthetic.concentrated(one, columns) < rho


def test_a_trial_learns_what_real_rows_teach_where_they_are_released(data, monkeypatch):
    kept(monkeypatch)
    monkeypatch.setattr(synthetic, "decoded", lambda _, __, like: like.loc[data.X.iloc[at].index])
    at = synthetic.training_rows(data, 0, 0)
    rows = trial(data).drop(columns=["seconds", "protection", "level", "split", "label_pairs", "direct"])
    bases = trials.Bases(people.split_people(data, 0, 0)[0], {}, ())
    expected = pd.DataFrame([
        {"method": f"synthetic data, {notion or 'no fairness'}", "notion": notion, **trials.row_of(fit, test)}
        for test in [people.split_people(data, 0, 0)[1]]
        for method, notion, fit in trials.unprotected(bases, test) if method != "constant"
    ]).drop(columns="seconds")  # fmt: skip
    pd.testing.assert_frame_equal(rows, expected)


def test_where_a_group_has_no_synthetic_row_of_a_label_all_is_the_constant(data):
    _, test = people.split_people(data, 0, 0)
    lacking = test._replace(labels=np.where(test.groups == 1, 1, test.labels))
    found = list(synthetic.learned(lacking, test))
    assert len(found) == len(list(synthetic.learned(test, test)))
    assert all((fit.chances == fit.chances[0]).all() for _, _, fit in found)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.sampled_from(["parity", "opportunity"]))
def test_no_gap_has_a_smaller_loss_on_the_rows_of_the_fit_than_gap_zero(seed, notion):
    rng = np.random.default_rng(seed)
    groups, y = np.repeat([0, 1], [rng.integers(4, 30), 20]), None
    y = rng.integers(0, 2, len(groups))
    y[[0, 1, -1, -2]] = [0, 1, 0, 1]
    scores = np.round(rng.normal(y + groups, 2.0), 1)
    guesses = (scores > 1).astype(int)
    losses = []
    for gamma in (0.0, 0.02, 0.1, 0.3, 1.0):
        fair = dpf.FairPostprocessor(notion=trials.OF_NOTION[notion], gamma=gamma, objective="errors")
        fair.fit(guesses, y_true=y, sensitive_features=groups, scores=scores)
        chances = fair.predict_proba(guesses, sensitive_features=groups, scores=scores)[:, 1]
        found = people.measured(people.People(np.empty((len(y), 0)), y, groups), chances)
        losses.append(found["error"] + found[notion])
    assert losses[0] <= min(losses) + 1e-9


def test_an_interrupted_run_keeps_its_finished_releases(monkeypatch, tmp_path):
    whole = synthetic_runs.experiment("private-synthetic-compas", data="compas")
    assert len(whole.tasks) == synthetic_runs.SPLITS * len(EPSILONS)
    few = [{**task, "source": Source("compas", standin=300)} for task in whole.tasks[:3]]
    one = replace(whole, tasks=few, function=functools.partial(on_data, synthetic.run_trial))
    monkeypatch.setenv("DPFAIR_WORKERS", "1")
    places = {"quiet": True, "results": tmp_path, "parts": tmp_path / "parts"}
    broken = kept(monkeypatch)
    release = broken.release
    broken.release = lambda codes, sizes, **asked: (
        release(codes, sizes, **asked) if asked["epsilon"] < 3 else 1 / 0
    )
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        run_and_record(one, **places)
    assert len(broken.asked) == 2
    mended = kept(monkeypatch)
    run_and_record(one, **places)
    assert [asked["epsilon"] for asked in mended.asked] == [3.0]
    rows, _ = read_record("private-synthetic-compas", folder=tmp_path)
    assert rows["level"].unique().tolist() == [0.5, 1.0, 3.0]


def test_every_release_has_a_seed_of_its_own(data, monkeypatch):
    own = kept(monkeypatch)
    for split in range(2):
        for epsilon in EPSILONS:
            trial(data, epsilon, split)
    assert len({asked["seed"] for asked in own.asked}) == 8


@pytest.mark.parametrize("data", synthetic_runs.RECORDED)
def test_the_record_has_every_release_and_is_paired_with_the_other_methods(data):
    rows, record = read_record(f"private-synthetic-{data}")
    assert record["parameters"]["tasks"] == synthetic_runs.SPLITS * len(EPSILONS)
    splits = set(range(synthetic_runs.SPLITS))
    assert rows.groupby(["method", "level", "dial"], dropna=False)["split"].agg(set).eq(splits).all()
    assert not rows.duplicated(["split", "method", "level", "dial"]).any()
    others, _ = read_record(f"private-fair-{data}")
    assert splits <= set(others["split"])
    for case in (Case("add-remove", notion, level) for notion in people.NOTIONS for level in EPSILONS):
        found = synthetic.candidates(rows, case)
        assert list(found) == ["synthetic data, no fairness", f"synthetic data, {case.notion}"]
        assert all(set(those.index) == splits for those in found.values())
    assert synthetic.candidates(rows, Case("replace-one", "parity", 1.0)) == {}
