"""Where the secure source is not to be had, nothing is released: no other source takes its place without a word.

OpenDP may not be installed, may refuse to make a sampler, or may fail while it draws; the operating system may have no
words. In each case the error goes on to the caller, and nothing of a release is left.
"""

import contextlib
import os
import sys
from unittest import mock

import numpy as np
import opendp.prelude as dp
import pytest
from cases import cases, parts
from checks import caught
from sklearn.base import BaseEstimator
from watching import forget

from dpfair_lib._extras import MissingExtraError
from dpfair_lib.local import words
from dpfair_lib.privacy import noise_source, sampling

CASES = {case.name: case for case in cases() if case.secure}
MAKERS = ("make_laplace", "make_gaussian", "make_noisy_max")


class AccidentError(Exception):
    """What nobody can expect."""


def fails(*_, **__):
    raise AccidentError


def replaced(owner, names, value):
    with contextlib.ExitStack() as stack:
        for name in names:
            stack.enter_context(mock.patch.object(owner, name, value))
        return stack.pop_all()


ACCIDENTS = {
    "not installed": lambda: mock.patch.dict(sys.modules, {"opendp": None, "opendp.prelude": None}),
    "not made": lambda: replaced(dp.m, MAKERS, fails),
    "not drawn": lambda: replaced(dp.m, MAKERS, lambda *_, **__: fails),
    "no words": lambda: replaced(os, ["urandom"], fails),
}
MET = [
    (case, name)
    for case in CASES.values()
    for name in ACCIDENTS
    if (case.local or case.batches if name == "no words" else not case.local)
]


def check_no_substitute(case, name):
    """Raise unless a release fails by the accident, and leaves nothing."""
    subject, failed = case.make("secure", None), False
    forget()
    try:
        with ACCIDENTS[name]():
            case.run(subject, case.data())
    except (AccidentError, ImportError):
        failed = True
    finally:
        forget()
    assert failed, "released all the same"
    assert not (isinstance(subject, BaseEstimator) and parts(subject))


@pytest.mark.parametrize(("case", "name"), MET, ids=lambda one: str(one))
def test_without_the_secure_source_nothing_is_released(case, name):
    check_no_substitute(case, name)


class Unseen:
    """Data that nobody may look at."""

    def __getattribute__(self, name):
        raise AssertionError(f"looked at: {name}")

    def __array__(self, *_, **__):
        raise AssertionError("looked at as an array")

    def __len__(self):
        raise AssertionError("looked at its length")

    def __iter__(self):
        raise AssertionError("looked through")


def check_before_data(case):
    """Raise unless a release without OpenDP names the extra before any data are looked at."""
    forget()
    with ACCIDENTS["not installed"](), pytest.raises(MissingExtraError) as refused:
        case.run(case.make("secure", None), dict.fromkeys(case.data(), Unseen()))
    assert 'pip install "dpfair-lib[secure]"' in str(refused.value)


@pytest.mark.parametrize("case", [case for case in CASES.values() if not case.local], ids=str)
def test_without_opendp_the_extra_is_named_before_any_data_are_looked_at(case):
    check_before_data(case)


def test_a_late_error_is_caught(monkeypatch):
    for module in (sampling, noise_source):
        monkeypatch.setattr(module, "checked_sampler", sampling.checked_generator)
    for name in ("sampler, laplace", "rates add-remove laplace 0.6", "output perturbation logistic analytic"):
        assert caught(check_before_data, CASES[name])


def test_a_substitute_is_caught(monkeypatch):
    usual, system = sampling._secure.__wrapped__, words._system

    def instead(law, number, scale):
        own = np.random.default_rng()
        try:
            sampler = usual(law, number, scale)
        except (ImportError, AccidentError):
            return lambda values: (np.array(values) + own.laplace(scale=scale, size=len(values))).tolist()

        def draw(values):
            try:
                return sampler(values)
            except AccidentError:
                return (np.array(values) + own.laplace(scale=scale, size=len(values))).tolist()

        return draw

    def other_words(n, dtype):
        try:
            return system(n, dtype)
        except AccidentError:
            return np.random.default_rng().integers(0, np.iinfo(dtype).max, n, dtype, endpoint=True)

    for module in (sampling, noise_source):
        monkeypatch.setattr(module, "checked_sampler", sampling.checked_generator)
    monkeypatch.setattr(sampling, "_secure", instead)
    monkeypatch.setattr(words, "_system", other_words)
    for name in ("sampler, laplace", "rates add-remove laplace 0.6", "output perturbation logistic analytic"):
        for accident in ("not installed", "not made", "not drawn"):
            assert caught(check_no_substitute, CASES[name], accident)
    for name in ("reports, matrix", "reports, response", "file, csv, response"):
        assert caught(check_no_substitute, CASES[name], "no words")
