"""Progress of long work: when it is logged, what is shown, and by whom."""

import logging
import threading
import warnings

import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib import _progress
from dpfair_lib._progress import Progress, shown
from dpfair_lib.experiments import run_tasks
from dpfair_lib.privacy import audit_approximate

RNG = np.random.default_rng(0)
X, GROUP = RNG.normal(size=(60, 2)), np.arange(60) % 2
Y = (X[:, 0] > 0).astype(int)
SGD = {"delta": 1e-5, "max_grad_norm": 1.0, "sample_rate": 0.5, "steps": 7, "learning_rate": 0.1}
STUDY = {"noise": "study", "random_state": 0}
TRAINED = {"noise_multiplier": 1.0, **SGD}
FERMI = {
    "penalty": 1.0,
    "epsilon": 5.0,
    "delta": 1e-5,
    "steps": 7,
    "batch_size": 20,
    "frequency_epsilon": 1.0,
}
GAME = {"epsilon": 1.0, "delta": 1e-6, "subgroups": [{0: 0}, {0: 1}], "rounds": 7, "samples": 3}
LEARNER = dpf.ObjectivePerturbation(feature_bound=5.0, epsilon=1.0, delta=1e-6)
PEOPLE = {"sensitive_features": GROUP}
SHOWN = {
    "logistic, secure": (dpf.DPLogisticRegression, TRAINED, {}, "7 of 7 steps of training"),
    "logistic, study": (dpf.DPLogisticRegression, TRAINED | STUDY, {}, "7 of 7 steps of training"),
    "logistic, Opacus": (
        dpf.DPLogisticRegression, TRAINED | STUDY | {"backend": "opacus"}, {}, "7 of 7 steps of training",
    ),
    "logistic, whole batches": (
        dpf.DPLogisticRegression, TRAINED | STUDY | {"sample_rate": 1.0}, {}, "7 of 7 steps of training",
    ),
    "logistic, replicates": (
        dpf.DPLogisticRegression, TRAINED | STUDY | {"replicates": 3}, {}, "21 of 21 steps of training",
    ),
    "svm": (dpf.DPLinearSVM, TRAINED, {}, "7 of 7 steps of training"),
    "group clipping": (dpf.DPGroupClippingClassifier, TRAINED, PEOPLE, "7 of 7 steps of training"),
    "global scaling, study": (
        dpf.DPGlobalScalingClassifier, TRAINED | STUDY | {"scale_norm": 1.0}, {}, "7 of 7 steps of training",
    ),
    "network, secure": (dpf.DPNetworkClassifier, TRAINED, {}, "7 of 7 steps of training"),
    "network, study": (dpf.DPNetworkClassifier, TRAINED | STUDY, {}, "7 of 7 steps of training"),
    "lagrangian": (
        dpf.DPLagrangianClassifier, TRAINED | {"notion": "equalized_odds"}, PEOPLE, "7 of 7 steps of training",
    ),
    "fermi, secure": (dpf.DPFermiClassifier, FERMI, PEOPLE, "7 of 7 steps of training"),
    "fermi, study": (dpf.DPFermiClassifier, FERMI | STUDY, PEOPLE, "7 of 7 steps of training"),
    "game": (dpf.PrivateNoRegretFair, GAME, PEOPLE, "7 of 7 rounds"),
    "game, as printed": (dpf.PrivateNoRegretFair, GAME | STUDY | {"repair": False}, PEOPLE, "7 of 7 rounds"),
    "selection": (
        dpf.PrivateSelection, {"candidates": [LEARNER, LEARNER], "epsilon": 1.0}, {}, "2 of 2 candidates",
    ),
}  # fmt: skip
NO_TORCH = ("logistic, study", "logistic, Opacus", "logistic, whole batches", "logistic, replicates")


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(_progress, "AFTER", -1.0)
    monkeypatch.setattr(_progress, "EVERY", -1.0)


def lines(times, total=None, note=""):
    now, heard = iter([0.0, *times]), []
    ear = logging.Handler()
    ear.emit = lambda record: heard.append(record.getMessage())
    logger = logging.getLogger("dpfair_lib.progress")
    logger.addHandler(ear)
    logger.setLevel(logging.INFO)
    try:
        progress = Progress("parts", total, clock=lambda: next(now))
        for _ in times:
            progress.add(note=note)
    finally:
        logger.removeHandler(ear)
        logger.setLevel(logging.NOTSET)
    return heard


def test_it_is_silent_for_two_seconds_and_then_says_a_line_every_ten():
    assert lines([0.5, 1.0, 1.9], 3) == []
    assert lines([1.0, 2.0, 3.0, 11.9, 12.0], 1000) == ["2 of 1,000 parts", "5 of 1,000 parts"]
    assert lines([2.0], note="best between 1 and 2") == ["1 parts, best between 1 and 2"]


@pytest.mark.usefixtures("at_once")
def test_parts_of_several_threads_are_all_counted(capfd):
    progress = Progress("parts", 4000)
    with shown(True):
        threads = [threading.Thread(target=lambda: [progress.add() for _ in range(1000)]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    said = capfd.readouterr().err.splitlines()
    assert said == [f"{at + 1:,} of 4,000 parts" for at in range(4000)]


def fitted(kind, settings, people, **more):
    rows = (X > 0).astype(int) if kind is dpf.PrivateNoRegretFair else X
    return kind(**settings, **more).fit(rows, Y, **people)


@pytest.mark.parametrize("name", SHOWN)
@pytest.mark.usefixtures("at_once")
def test_verbose_shows_the_fit_of_an_estimator(name, capsys):
    if name in NO_TORCH:
        pytest.importorskip("torch").Tensor  # noqa: B018 - skipped where the environment goes without
    kind, settings, people, last = SHOWN[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # Opacus's own
        fitted(kind, settings, people)
        assert capsys.readouterr().err == ""
        fitted(kind, settings, people, verbose=True)
    said = capsys.readouterr()
    assert said.err.splitlines()[-1] == last
    assert said.out == ""
    assert not logging.getLogger("dpfair_lib.progress").handlers


@pytest.mark.parametrize("verbose", [2, "yes", None])
def test_verbose_is_true_or_false(verbose):
    for name in ("svm", "group clipping", "global scaling, study", "fermi, secure", "game", "selection"):
        kind, settings, people, _ = SHOWN[name]
        with pytest.raises(ValueError, match=f"verbose: found {verbose!r}, expected True or False"):
            fitted(kind, settings, people, verbose=verbose)
    with pytest.raises(ValueError, match="verbose: found"):
        dpf.optimal_randomizer([0.5, 0.3, 0.2], [0.2, 0.5, 0.4], 1.0, verbose=verbose)


@pytest.mark.parametrize("options", [
    {}, {"method": "columns"}, {"method": "bisection"}, {"method": "branch-and-bound", "tol": 1e-3},
    {"objective": "difference"}, {"certificate": "exact"},
], ids=str)  # fmt: skip
@pytest.mark.usefixtures("at_once")
def test_verbose_shows_the_search_for_a_channel_and_changes_nothing(options, capsys):
    asked = ([0.5, 0.3, 0.2], [0.2, 0.5, 0.4], 1.0)
    quiet = dpf.optimal_randomizer(*asked, **options)
    assert capsys.readouterr().err == ""
    told = dpf.optimal_randomizer(*asked, verbose=True, **options)
    said = capsys.readouterr().err.splitlines()
    assert (np.asarray(quiet.matrix) == np.asarray(told.matrix)).all()
    assert said
    # each line brackets the optimum, which for this search of shares is shown before it is scaled
    low, high = map(float, said[-1].rpartition("between ")[2].split(" and "))
    assert low <= high


@pytest.mark.usefixtures("at_once")
def test_verbose_shows_the_runs_of_an_audit_and_changes_nothing(capsys):
    def published(data, size, rng):
        return data + rng.normal(size=size)

    def audited(**more):
        return dpf.audit(published, [(0, 1), (1, 0)], 101, 0.05, np.random.default_rng(0), **more).hits

    quiet = audited()
    assert capsys.readouterr().err == ""
    assert audited(verbose=True) == quiet
    whole = [f"{runs} of 400 runs of the mechanism" for runs in (100, 200, 300, 400)]
    assert capsys.readouterr().err.splitlines() == whole
    audit_approximate(published, [(0, 1)], 4, 0.05, np.random.default_rng(0), 0.1, verbose=True)
    assert capsys.readouterr().err.splitlines() == [
        "4 of 8 runs of the mechanism",
        "8 of 8 runs of the mechanism",
    ]
    with pytest.raises(ValueError, match="verbose: found 1, expected True or False"):
        audited(verbose=1)


def double(x):
    return [{"x": 2 * x}]


@pytest.mark.usefixtures("at_once")
def test_verbose_shows_a_sweep(capsys, monkeypatch):
    monkeypatch.setenv("DPFAIR_WORKERS", "1")
    tasks = [{"x": at} for at in range(3)]
    assert list(run_tasks(double, tasks)) == [double(at) for at in range(3)]
    assert capsys.readouterr().err == ""
    assert list(run_tasks(double, tasks, verbose=True)) == [double(at) for at in range(3)]
    assert capsys.readouterr().err.splitlines() == ["1 of 3 tasks", "2 of 3 tasks", "3 of 3 tasks"]


@pytest.mark.usefixtures("at_once")
def test_of_several_that_watch_the_last_one_ends_it(capsys):
    logger, before = logging.getLogger("dpfair_lib.progress"), logging.getLogger("dpfair_lib.progress").level
    with shown(True):
        with shown(True):
            Progress("parts", 1).add()
        Progress("more", 1).add()
    Progress("nobody's", 1).add()
    assert capsys.readouterr().err.splitlines() == ["1 of 1 parts", "1 of 1 more"]
    assert (logger.level, logger.handlers) == (before, [])


def test_a_fit_that_raises_leaves_no_handler(capsys):
    with pytest.raises(ValueError, match="NaN"):
        fitted(dpf.DPLinearSVM, TRAINED, {}, verbose=True).fit(np.full((60, 2), np.nan), Y)
    assert not logging.getLogger("dpfair_lib.progress").handlers
    assert capsys.readouterr().err == ""
