"""Sabotages that passed every test once, and their kind: each is planted here and caught by this folder's checks.

A fault is planted in the library's own code, by replacing one of its parts while a check runs. None of them changes
what an ordinary test looks at: predictions, shapes and statements stay as they are.
"""

import dataclasses
import importlib
import logging
import sys
import warnings

import numpy as np
import pytest
from cases import cases
from checks import caught, check_neighbours

import dpfair_lib as dpf
from dpfair_lib.margins import private_certificate as certificate_room

CASES = {case.name: case for case in cases()}


def _first(_, exact, *__):
    return exact


KEPT = {
    "rates replace-within-group laplace 0.6": (dpf.PrivateFairPostprocessor, "_noisy", _first),
    "odds replace-one geometric": (dpf.EqualizedOddsPostprocessor, "_released", _first),
    "output perturbation logistic analytic": (dpf.OutputPerturbation, "_noisy", _first),
    "objective perturbation logistic gaussian": (dpf.ObjectivePerturbation, "_hidden", _first),
    "exponential learner, repair=True": (
        dpf.ExponentialFairLearner,
        "_slope",
        lambda _, losses, *__: losses.total,
    ),
    "exponential learner, repair=pure": (
        dpf.ExponentialFairLearner,
        "_slope",
        lambda _, losses, *__: losses.error,
    ),
    "no regret, counts": (dpf.PrivateNoRegretFair, "_play", _first),
    "no regret, rounds": (dpf.PrivateNoRegretFair, "_play", _first),
}
"""Case → the class, its method that sees exact numbers, and which of what it sees is kept."""


def _attribute(self, exact):
    self.exact_ = exact


def _entry(self, exact):
    self.notes_ = {"seen": [np.copy(exact)]}


def _closure(self, exact):
    self.rule_ = lambda: exact


def _parameter(self, exact):
    self.random_state = float(np.sum(exact))  # a parameter that nobody set


def _warning(_, exact):
    warnings.warn(f"{np.ravel(exact)[0]} found", UserWarning, stacklevel=2)


def _warning_now_and_then(_, exact):
    if int(np.sum(exact) * 1e6) % 2:
        warnings.warn("odd", UserWarning, stacklevel=2)


def _dtype(self, exact):
    self.groups_seen_ = np.zeros(3, dtype=np.float32 if int(np.sum(exact) * 1e6) % 2 else np.float64)


def _shape(self, exact):
    self.padding_ = np.zeros(int(np.sum(exact) * 1e6) % 50)


def _order(self, exact):
    pair = {"one_": 1, "two_": 2}
    vars(self).update(pair if int(np.sum(exact) * 1e6) % 2 else dict(reversed(pair.items())))


def _log(_, exact):
    logging.getLogger("dpfair_lib.learners").debug("found %s", exact)


def _log_of_its_own(_, exact):
    logger = logging.getLogger("dpfair_lib.planted")
    logger.setLevel(logging.INFO)
    logger.info("found %s", exact)


def _print(_, exact):
    print(exact)


def _print_an_error(_, exact):
    print(exact, file=sys.stderr)


PLACES = [_attribute, _entry, _closure, _parameter, _warning, _warning_now_and_then, _dtype, _shape, _order, _log,
          _log_of_its_own, _print, _print_an_error]  # fmt: skip


@pytest.mark.parametrize("name", KEPT)
def test_exact_numbers_that_are_kept_are_found(name, monkeypatch):
    kind, method, exact = KEPT[name]
    usual = getattr(kind, method)

    def keeping(self, *arguments):
        _attribute(self, exact(self, *arguments))
        return usual(self, *arguments)

    check_neighbours(CASES[name], "secure")
    monkeypatch.setattr(kind, method, keeping)
    assert caught(check_neighbours, CASES[name], "secure")


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__.strip("_"))
def test_wherever_they_are_kept(place, monkeypatch):
    kind, method, exact = KEPT["output perturbation logistic analytic"]
    usual = getattr(kind, method)

    def keeping(self, *arguments):
        place(self, exact(self, *arguments))
        return usual(self, *arguments)

    monkeypatch.setattr(kind, method, keeping)
    assert caught(check_neighbours, CASES["output perturbation logistic analytic"], "secure")


def test_exact_counts_beside_a_certificate_are_found(monkeypatch):
    usual = certificate_room.settled_counts
    seen = []

    def keeping(*arguments):
        seen.append(usual(*arguments))
        return seen[-1]

    class Fuller(certificate_room.PrivateCertificate):
        def __init__(self, *arguments):
            super().__init__(*arguments)
            object.__setattr__(self, "counts", seen[-1])

    monkeypatch.setattr(certificate_room, "settled_counts", keeping)
    monkeypatch.setattr(certificate_room, "PrivateCertificate", Fuller)
    assert caught(check_neighbours, CASES["certificate"], "secure")


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("DPLogisticRegression, replace-one, float64", lambda X, _: X.mean(axis=0)),
        ("DPLinearSVM, add-remove, float64", lambda _, y: int(y.sum())),
        ("fermi, frequency_epsilon", lambda X, _: X[0].copy()),
    ],
)
def test_what_learners_with_study_noise_keep_is_found(name, kept):
    case = CASES[name]

    def run(subject, data):
        fitted = case.run(subject, data)
        fitted.scaling_ = kept(np.asarray(data["X"], dtype=float), np.asarray(data["y"]))
        return fitted

    check_neighbours(case, "study")
    assert caught(check_neighbours, dataclasses.replace(case, run=run), "study")


@pytest.mark.parametrize(
    "name", ["output perturbation logistic analytic", "DPLogisticRegression, replace-one, float64"]
)
def test_a_sum_of_all_entries_that_overflows_is_heard(name, monkeypatch):
    from dpfair_lib.learners import linear

    usual = linear.validate_data

    def adding(estimator, X, *y, **options):
        with np.errstate(all="warn", over="ignore"):
            np.isfinite(np.sum(np.asarray(X, dtype=float) ** (1 if "output" in name else 3)))
        return usual(estimator, X, *y, **options)

    monkeypatch.setattr(linear, "validate_data", adding)
    assert caught(check_neighbours, CASES[name], "study")


def test_a_label_that_is_refused_only_where_it_occurs_is_found(monkeypatch):
    from dpfair_lib.learners import linear

    usual = linear._known_labels

    def checking(labels, known):
        linear.check_classification_targets(labels)  # refuses halves
        return usual(labels, known)

    monkeypatch.setattr(linear, "_known_labels", checking)
    assert caught(check_neighbours, CASES["output perturbation logistic analytic (0.0, 0.5)"], "secure")


def test_a_long_row_that_decides_what_is_linear_is_found(monkeypatch):
    from dpfair_lib.margins import linearity

    monkeypatch.setattr(linearity, "LONGER", np.inf)
    assert caught(check_neighbours, CASES["certificate"], "secure")


@pytest.mark.parametrize(
    ("name", "room"),
    [
        ("rates add-remove laplace 0.6", "central.private_postprocessor"),
        ("odds add-remove laplace", "svm.equalized_odds"),
    ],
)
def test_an_error_for_a_table_of_nobody_is_found(name, room, monkeypatch):
    monkeypatch.setattr(importlib.import_module(f"dpfair_lib.{room}"), "are_empty", lambda *_: False)
    assert caught(check_neighbours, CASES[name], "secure")


@pytest.mark.parametrize("form", ["categories", "arrow"])
def test_what_is_counted_in_a_column_is_found(form):
    case = CASES[f"column, {form}, response"]
    usual = case.make

    def make(noise, seed):
        released = usual(noise, seed)

        def telling(values):
            table = released(values)
            seen = sorted(set(np.asarray(values).tolist()))
            return (
                table.assign(more=len(seen))
                if form == "categories"
                else table.append_column("more", [[*seen, *range(12)][: table.num_rows]])
            )

        return telling

    assert caught(check_neighbours, dataclasses.replace(case, make=make), "secure")


def test_a_view_of_exact_numbers_is_found(monkeypatch):
    kind, usual = dpf.ObjectivePerturbation, dpf.ObjectivePerturbation._hidden

    def viewed(self, optimum, *arguments):
        return np.stack([optimum, usual(self, optimum, *arguments)])[1]

    monkeypatch.setattr(kind, "_hidden", viewed)
    assert caught(check_neighbours, CASES["objective perturbation logistic gaussian"], "secure")


def test_a_column_that_is_cut_from_the_exact_ones_is_found(monkeypatch):
    from dpfair_lib.local import frames

    def shallow(frame, column, new):
        changed = frame.copy(deep=False)
        changed[column] = new
        return changed

    monkeypatch.setattr(frames, "_with_column", shallow)
    assert caught(check_neighbours, CASES["column, numbers, response"], "secure")
