"""A statement speaks of the release beside it: of no later change of a parameter, and of no earlier fit.

Whoever fits again releases again. Noise that is kept from an earlier fit would have that fit's scale, and whoever sees
both would see what has changed in the rows without any noise.
"""

import dataclasses
import functools
import itertools
from typing import Any

import pytest
from cases import cases, parts, statement_of
from checks import caught, check_secure
from picture import differences, picture
from sklearn.base import BaseEstimator

import dpfair_lib as dpf
from dpfair_lib.compatibility.subgroup_fairness import no_regret
from dpfair_lib.privacy import PrivacyStatement

CASES = {case.name: case for case in cases()}
STATED = [case for case in CASES.values() if case.asked is not None and case.relation]
ESTIMATORS = [case for case in CASES.values() if isinstance(case.make("study", 0), BaseEstimator)]


def with_epsilon(subject: Any, factor: float) -> Any:
    """Return an estimator, or a function's settings, at so many times the ε."""
    if isinstance(subject, BaseEstimator):
        own = {
            name: _times(value, factor)
            for name, value in subject.get_params().items()
            if name.rpartition("__")[2] == "epsilon"  # of a pipeline's steps too
        }
        return subject.set_params(**own)
    changed = subject.keywords | {"epsilon": _times(subject.keywords["epsilon"], factor)}
    return functools.partial(subject.func, **changed)


def _times(epsilon: Any, factor: float) -> Any:
    return tuple(one * factor for one in epsilon) if isinstance(epsilon, tuple) else epsilon * factor


def check_refit(case):
    """Raise unless a second release of the same rows, at another ε, is as if it were the first."""
    data, first = case.data(), case.release(case.data())
    subject = case.make("secure", None)
    for factor in (0.25, 1.0):
        # at a quarter of the ε before; and at the same, for rows of which all is known but one
        case.run(with_epsilon(subject, factor), data)
        with_epsilon(subject, 1 / factor)
        again = dataclasses.replace(case, make=lambda *_: subject)
        check_secure(again, data)
        assert statement_of(again.release(data)) == statement_of(first)


@pytest.mark.parametrize("case", STATED, ids=str)
def test_a_second_release_is_as_if_it_were_the_first(case):
    check_refit(case)


def check_statement_stays(case):
    """Raise unless what was fitted stays as it is, whatever becomes of the parameters."""
    fitted = case.release(case.data(), *(("secure", None) if case.secure else ("study", 0)))
    statement, before = statement_of(fitted), picture(parts(fitted))
    for name in fitted.get_params(deep=False):
        setattr(fitted, name, object())
    assert statement_of(fitted) is statement
    assert differences(before, picture(parts(fitted))) == []


@pytest.mark.parametrize("case", ESTIMATORS, ids=str)
def test_a_statement_is_that_of_the_fit_whatever_becomes_of_the_parameters(case):
    check_statement_stays(case)


def attributes(case, fitted=None):
    """Return the names of what a fit sets, of a new estimator or after the fits before."""
    subject = case.make("study", 0)
    if fitted is not None:
        subject = fitted.set_params(**subject.get_params(deep=False))
    released = case.run(subject, case.data())
    assert released is subject
    return frozenset(vars(subject))


@functools.cache
def forms(kind):
    """Return a case for each set of attributes that a fit of this class can leave."""
    found = {}
    for case in ESTIMATORS:
        if type(case.make("study", 0)) is kind:
            found.setdefault(attributes(case), case)
    return list(found.values())


def check_nothing_stays(kind):
    """Raise if an attribute that another setting does not set stays from the fit before."""
    for first, second in itertools.product(forms(kind), repeat=2):  # also a second fit of the same
        fitted = first.make("study", 0)
        first.run(fitted, first.data())
        assert attributes(second, fitted) == attributes(second), (first.name, second.name)


KINDS = sorted({type(case.make("study", 0)) for case in ESTIMATORS}, key=str)


@pytest.mark.parametrize("kind", KINDS)
def test_no_release_of_the_fit_before_stays_beside_a_statement_that_does_not_count_it(kind):
    # exact counts stay, too, if the fit before was one without noise
    check_nothing_stays(kind)


def test_a_release_that_stays_is_caught(monkeypatch):
    several = [kind for kind in KINDS if len(forms(kind)) > 1]
    assert {dpf.PrivateFairPostprocessor, dpf.ExponentialFairLearner} <= set(several)
    kind = dpf.ExponentialFairLearner
    fit = kind.fit

    def kept(self, X, y, *, sensitive_features):
        before = vars(self).get("noisy_count_")
        fitted = fit(self, X, y, sensitive_features=sensitive_features)
        if before is not None:
            fitted.noisy_count_ = before
        return fitted

    monkeypatch.setattr(kind, "fit", kept)
    assert caught(check_nothing_stays, kind)


def test_what_is_kept_from_fit_to_fit_is_caught(monkeypatch):
    def kept(usual, place):
        before = {}

        def once(*arguments, **options):
            rows = arguments[place].tobytes()
            if rows not in before:
                before[rows] = usual(*arguments, **options)
            return before[rows]

        return once

    kind = dpf.EqualizedOddsPostprocessor
    monkeypatch.setattr(kind, "_released", kept(kind._released, 1))
    monkeypatch.setattr(no_regret, "noisy_counts", kept(no_regret.noisy_counts, 0))
    assert caught(check_refit, CASES["odds replace-one geometric"])
    assert caught(check_refit, CASES["no regret, counts"])


def test_a_statement_of_another_fit_is_caught(monkeypatch):
    case, fit = CASES["output perturbation logistic analytic"], dpf.OutputPerturbation.fit

    def first_kept(self, X, y):
        before = vars(self).get("privacy_statement_")
        fitted = fit(self, X, y)
        fitted.privacy_statement_ = before or fitted.privacy_statement_
        return fitted

    with monkeypatch.context() as planted:
        planted.setattr(dpf.OutputPerturbation, "fit", first_kept)
        assert caught(check_refit, case)

    def of_now(self):
        epsilon = self.epsilon if isinstance(self.epsilon, float) else 1.0
        return PrivacyStatement(epsilon, 1e-3, "replace-one")

    live = property(of_now, lambda *_: None)
    monkeypatch.setattr(dpf.OutputPerturbation, "privacy_statement_", live, raising=False)
    assert caught(check_statement_stays, case)
