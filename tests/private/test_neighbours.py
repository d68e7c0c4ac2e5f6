"""Neighbours look alike: with the sampler's answers the same, nothing about a release tells which data it is of.

That is stronger than that the noisy numbers are close: whatever is computed from the answers alone is the same for
both, bit by bit, and whatever is not was computed from the rows a second time, without noise. It speaks of warnings,
errors, what is logged and printed meanwhile, types, shapes, attributes at any depth, what a pickle holds, and what is
shown. It does not speak of running time, which no statement here covers.
"""

import numpy as np
import pytest
from cases import cases, parts, statement_of
from checks import caught, check_neighbours, frozen, observed
from neighbours import replaced
from picture import differences, picture
from study_watching import exactly
from watching import far_answers, same_answers

import dpfair_lib as dpf

CASES = cases()
SECURE = [case for case in CASES if case.secure]
STUDY = [case for case in CASES if not case.local and not case.apart and case.pairs()]


@pytest.mark.parametrize("case", SECURE, ids=str)
def test_with_the_samplers_answers_fixed_neighbours_are_the_same(case):
    assert case.pairs()
    check_neighbours(case, "secure")


SAMPLED = [case for case in SECURE if not case.local]


@pytest.mark.parametrize("case", SAMPLED, ids=str)
def test_with_answers_far_beyond_all_numbers_too(case):
    # a sum that is cut off near the exact number would tell it; at moderate answers that is not seen
    check_neighbours(case, "secure", far_answers, every=7)


def _seen(case, answer):
    data = case.data()
    with frozen(case, "secure", answer):
        held = parts(case.release(data))
    return {name: picture(part, name) for name, part in held.items()}


@pytest.mark.parametrize("kind", sorted({case.covers[0] for case in SAMPLED}, key=str))
def test_the_answers_reach_every_attribute_that_is_said_to_be_noisy(kind):
    # where all answers give one value, a bound of 1 say, nothing would be learned from its being the same
    noisy, moved = set(), set()
    for case in SAMPLED:
        if case.covers[0] == kind:
            seen = [_seen(case, answer) for answer in (same_answers, far_answers, exactly)]
            noisy |= case.noisy
            moved |= {name for name in seen[0] for other in seen[1:] if seen[0][name] != other.get(name)}
    assert moved == noisy


@pytest.mark.parametrize("case", STUDY, ids=str)
def test_with_the_same_seed_neighbours_differ_in_what_is_noisy_only(case):
    check_neighbours(case, "study")


# the printed W has entries that are never trained
TRAINED = [
    case for case in STUDY if case.asked is None and not {"fermi, as_run", "no regret, printed"} & {case.name}
]


@pytest.mark.parametrize("case", TRAINED, ids=str)
def test_noise_reaches_every_number_that_is_said_to_be_noisy(case):
    first, second = (case.numbers(case.release(case.data(), "study", seed)) for seed in (1, 2))
    assert (first != second).all()
    assert np.isfinite(first).all()


def test_what_has_no_neighbours_that_look_alike_says_so():
    (case,) = [case for case in CASES if not case.pairs()]
    statement = statement_of(case.release(case.data(), "study", 0))
    assert not statement.guarantee
    assert "refuted: how many support vectors there are" in statement.note
    data = case.data()
    counted = {
        tuple(case.release(one, "study", 0).classifier_.n_support_)
        for one in (data, *(replaced(data, row, y=1 - data["y"][row]) for row in range(12)))
    }
    assert len(counted) > 1


LINEAR = (
    dpf.ObjectivePerturbation,
    dpf.OutputPerturbation,
    dpf.DPLogisticRegression,
    dpf.DPLinearSVM,
    dpf.DPFermiClassifier,
)


@pytest.mark.parametrize("case", [case for case in STUDY if case.covers[0] in LINEAR], ids=str)
def test_a_missing_number_is_refused_alike_wherever_it_is(case):
    # data of another kind, of which no statement speaks; what is refused tells no more than that
    said = set()
    for row, place, label in [(0, 0, 0), (0, 3, 1), (-1, 1, 1)]:
        data = replaced(case.data(), row, y=case.data()["y"][label])
        data["X"][row, place] = np.nan
        model = case.make("study", 0)
        with pytest.raises(ValueError, match="Input X contains NaN") as caught:
            model.fit(**data)
        said.add(str(caught.value))
        assert parts(model) == {}
    assert len(said) == 1


def _people(case):
    """Give each pair's values, and the places of whoever has another."""
    for first, second in case.pairs().values():
        yield first, second, np.flatnonzero(first["values"] != second["values"])


@pytest.mark.parametrize("case", [case for case in CASES if case.local], ids=str)
def test_nobody_elses_report_depends_on_ones_own_value(case, monkeypatch):
    from dpfair_lib.local import words

    for first, second, moved in _people(case):
        reports = []
        for data in (first, second):
            source = np.random.default_rng(5)
            monkeypatch.setattr(
                words,
                "_system",
                lambda n, dtype, s=source: s.integers(0, np.iinfo(dtype).max, n, dtype, True),
            )
            reports.append(case.numbers(case.release(data)).reshape(len(data["values"]), -1))
        others = np.delete(np.arange(len(reports[0])), moved)
        assert (reports[0][others] == reports[1][others]).all()


LINEAR = (
    dpf.ObjectivePerturbation, dpf.OutputPerturbation, dpf.DPLogisticRegression, dpf.DPFermiClassifier,
    dpf.DPGlobalScalingClassifier, dpf.DPGroupClippingClassifier, dpf.DPLagrangianClassifier,
    dpf.DPNetworkClassifier, dpf.FairFunctionalClassifier,
)  # fmt: skip
TRAINED_SECURELY = [
    case for case in SAMPLED if "y" in case.data() and isinstance(case.make("study", 0), LINEAR)
]


def check_no_judgement(case):
    """Raise unless rows that the released model fits best look like those that it fits worst."""
    data = case.data()
    second = sorted(set(data["y"].tolist()))[1]
    with frozen(case, "secure") as calls:
        fitted = case.release(data)
        right = np.where(fitted.decision_function(data["X"]) > 0, 1, 0)
        assert len(set(right.tolist())) == 2
        names = np.array([label for label in fitted.classes_.tolist() if label != second] + [second])
        seen = [
            observed(case, data | {"y": names[labels].astype(data["y"].dtype)}, "secure", calls)
            for labels in (right, 1 - right)
        ]
    assert seen[0]["error"] is None
    assert differences(*seen) == []


@pytest.mark.parametrize("case", TRAINED_SECURELY, ids=str)
def test_how_well_a_model_fits_its_rows_is_not_told(case):
    check_no_judgement(case)


def test_a_word_about_models_that_fit_badly_is_found(monkeypatch):
    import warnings

    fit = dpf.DPLogisticRegression.fit

    def judged(self, X, y):
        fit(self, X, y)
        with np.errstate(all="ignore"):
            wrong = (self.predict(X) != y).mean()
        if wrong > 0.9:
            warnings.warn("worse than a guess", stacklevel=2)
        return self

    monkeypatch.setattr(dpf.DPLogisticRegression, "fit", judged)
    case = next(case for case in TRAINED_SECURELY if case.covers == (dpf.DPLogisticRegression,))
    check_neighbours(case, "secure")  # no neighbours are so far apart
    assert caught(check_no_judgement, case)
