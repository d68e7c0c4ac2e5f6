"""Faults where a learner and post-processing are joined: each leaves predictions and the statement as they are."""

from fractions import Fraction

import numpy as np
import pytest
from cases import cases
from checks import caught, check_neighbours, check_secure

import dpfair_lib as dpf
from dpfair_lib.central import private_classifier

CASES = {case.name: case for case in cases() if case.name.startswith("joined")}
JOINED = dpf.PrivateFairClassifier
usual = JOINED._estimators


def _all_to_the_learner(self, _, for_counts, *others):
    return usual(self, float(self.epsilon), for_counts, *others)


def _all_to_the_counts(self, for_learner, _, *others):
    return usual(self, for_learner, float(self.epsilon), *others)


def _counts_of_one_group(self, for_learner, for_counts, *others):
    learner, after = usual(self, for_learner, for_counts, *others)
    return learner, after.set_params(epsilon=for_counts)


def _overlapping(self, n):
    return np.ones(n, dtype=bool), private_classifier.held_out(n, self.share_)


def _every_second(_, n):
    everyone = np.arange(n) % 2 == 0
    return everyone, ~everyone


FAULTS = {
    "the counts have the whole ε": ("joined replace-within-group shared", "_estimators", _all_to_the_counts),
    "one record moves one count only": ("joined replace-one split", "_estimators", _counts_of_one_group),
    "a group that changes moves one count only": (
        "joined sensitive-attribute shared", "_estimators", _counts_of_one_group,
    ),
    "rows that serve both": ("joined replace-within-group split", "_parts", _overlapping),
    "another pattern of rows": ("joined replace-one split", "_parts", _every_second),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_noise_that_does_not_pay_for_the_statement_is_caught(fault, monkeypatch):
    name, method, planted = FAULTS[fault]
    check_secure(CASES[name], CASES[name].data())
    monkeypatch.setattr(JOINED, method, planted)
    assert caught(check_secure, CASES[name], CASES[name].data())


def test_a_learner_that_has_the_whole_epsilon_is_refused(monkeypatch):
    case = CASES["joined replace-one shared"]
    monkeypatch.setattr(JOINED, "_estimators", _all_to_the_learner)
    with pytest.raises(ValueError, match=r"learner: found the statement ε = 0\.8"):
        case.release(case.data())


def _keeping(what):
    fit = dpf.PrivateFairPostprocessor.fit

    def kept(self, y_pred, y=None, *, sensitive_features):
        found = fit(self, y_pred, y, sensitive_features=sensitive_features)
        what(found, np.asarray(y_pred))
        return found

    return kept


def _rows_kept(found, y_pred):
    found.y_pred_ = y_pred


def _count_kept(found, y_pred):
    found.counted_ = int(y_pred.sum())


@pytest.mark.parametrize("what", [_rows_kept, _count_kept])
def test_predictions_of_the_training_rows_that_are_kept_inside_are_caught(what, monkeypatch):
    monkeypatch.setattr(dpf.PrivateFairPostprocessor, "fit", _keeping(what))
    assert caught(check_neighbours, CASES["joined replace-one shared"], "secure")


def test_a_split_that_looks_at_the_rows_is_caught(monkeypatch):
    checked = private_classifier.checked

    def remembered(estimator, rows, *others, **options):
        found = checked(estimator, rows, *others, **options)
        remembered.order = np.argsort(found[0][:, 0], kind="stable")
        return found

    def sorted_parts(_, n):
        held = np.zeros(n, dtype=bool)
        held[remembered.order[: n // 4]] = True
        return ~held, held

    monkeypatch.setattr(private_classifier, "checked", remembered)
    monkeypatch.setattr(JOINED, "_parts", sorted_parts)
    assert caught(check_secure, CASES["joined replace-one split"], CASES["joined replace-one split"].data())


def test_the_parts_add_up_exactly():
    for case in CASES.values():
        statement = case.release(case.data()).privacy_statement_
        each = [Fraction(part.epsilon) for part in statement.parts]
        assert Fraction(statement.epsilon) >= (max(each) if "split" in case.name else sum(each))


def test_a_share_that_follows_the_sizes_that_are_found_is_caught(monkeypatch):
    case, groups, share, seen = (
        CASES["joined replace-one shared share=None"],
        JOINED._groups,
        JOINED._share,
        [],
    )

    def looking(self, sensitive_features):
        seen[:] = np.unique(sensitive_features, return_counts=True)[1].tolist()
        return groups(self, sensitive_features)

    monkeypatch.setattr(JOINED, "_groups", looking)
    monkeypatch.setattr(JOINED, "_share", lambda self, _, epsilon: share(self, seen, epsilon))
    assert caught(check_neighbours, case, "secure")
