"""What a statement says beside its numbers: what is public, and what its relation or its promise leaves out.

These words decide what a reader takes to be protected, and no number tells that one is lost. They are written down here
once more, by hand; where one changes, the release, its docstring and this list have to be read together.
"""

import numpy as np
import pytest
from cases import cases, statement_of

import dpfair_lib as dpf
from dpfair_lib.privacy import STUDY_NOTE

CASES = [case for case in cases() if case.relation is not None and not case.local]
GROUPS, LABELS = "the two group labels", "the two labels"
GIVEN = "the expected batch size, a number given by the user, and that there is a row"
ROWS, BATCH = (
    "the number of rows",
    "the sample rate and the expected batch size, so the number of rows",
)
OTHER_FITS = "not counted: other fits on these rows, such as those of a scaler or of a grid search"
BEHIND = "not covered: the classifier behind y_pred, which must be fixed beforehand or private itself"
TERMS = {
    "rates replace-within-group": ({f"group sizes of the rows given to fit, {GROUPS}"}, BEHIND),
    "rates add-remove": ({f"divisors fixed beforehand, {GROUPS}"}, BEHIND),
    "rates replace-one": ({f"number of rows, divisors fixed beforehand, {GROUPS}"}, BEHIND),
    "rates sensitive-attribute": (
        {"everything but who is in which group, divisors fixed beforehand"}, BEHIND,
    ),
    "several rates replace-within-group": (
        {"group sizes of the rows given to fit, the group labels"}, BEHIND,
    ),
    "several rates add-remove": ({"divisors fixed beforehand, the group labels"}, BEHIND),
    "several rates replace-one": ({"number of rows, divisors fixed beforehand, the group labels"}, BEHIND),
    "several rates sensitive-attribute": (
        {"everything but who is in which group, divisors fixed beforehand"}, BEHIND,
    ),
    "opportunity replace-within-group": (
        {"group sizes of the rows given to fit, the group labels"}, BEHIND,
    ),
    "opportunity add-remove": ({"the group labels"}, BEHIND),
    "opportunity replace-one": ({"number of rows, the group labels"}, BEHIND),
    "opportunity sensitive-attribute": ({"everything but who is in which group"}, BEHIND),
    "odds sensitive-attribute": ({"predictions and labels of all rows", "which groups there are"}, BEHIND),
    "odds replace-one": ({ROWS, "which groups there are"}, BEHIND),
    "odds add-remove": ({"which groups there are"}, BEHIND),
    "certificate": (
        {
            "the number of rows of each label in each group", "that the scores are linear in X",
            "whether X has a column of ones, or columns that add up to a constant",
        },
        "the groups of the relation are those of label and sensitive features together",
    ),
    "constants for scaling": ({"number of rows", "bounds of the columns"}, "means and deviations for scaling"),
    "output perturbation": ({ROWS, LABELS}, OTHER_FITS),
    "objective perturbation": ({ROWS, LABELS}, OTHER_FITS),
    "joined replace-within-group shared": (
        {ROWS, LABELS, f"group sizes of the rows given to fit, {GROUPS}"},
        f"sum of 2 parts; {OTHER_FITS}; converted from replace-one",
    ),
    "joined replace-within-group split": (
        {ROWS, LABELS, f"group sizes of each part of the rows, {GROUPS}"},
        f"maximum of 2 parts split by position; {OTHER_FITS}; converted from replace-one",
    ),
    "joined replace-one shared": (
        {ROWS, LABELS, f"number of rows, divisors fixed beforehand, {GROUPS}"}, f"sum of 2 parts; {OTHER_FITS}",
    ),
    "joined replace-one split": (
        {ROWS, LABELS, f"number of rows, divisors fixed beforehand, {GROUPS}"},
        f"maximum of 2 parts split by position; {OTHER_FITS}",
    ),
    "joined sensitive-attribute shared": (
        {ROWS, LABELS, "everything but who is in which group, divisors fixed beforehand"},
        f"sum of 2 parts; {OTHER_FITS}; converted from replace-one",
    ),
    "joined sensitive-attribute split": (
        {ROWS, LABELS, "everything but who is in which group, divisors fixed beforehand"},
        f"maximum of 2 parts split by position; {OTHER_FITS}; converted from replace-one",
    ),
    "joined opportunity replace-within-group shared": (
        {ROWS, LABELS, f"group sizes of the rows given to fit, {GROUPS}"},
        f"sum of 2 parts; {OTHER_FITS}; converted from replace-one",
    ),
    "joined opportunity replace-one split": (
        {ROWS, LABELS, f"number of rows, {GROUPS}"}, f"maximum of 2 parts split by position; {OTHER_FITS}",
    ),
    "joined opportunity sensitive-attribute shared": (
        {ROWS, LABELS, "everything but who is in which group"},
        f"sum of 2 parts; {OTHER_FITS}; converted from replace-one",
    ),
    "exponential learner": ({"number of rows", "the hypotheses, each a function of one row", GROUPS}, OTHER_FITS),
    "exponential learner, repair=False": (
        {"number of rows", "the hypotheses, each a function of one row", GROUPS}, "cgkm.thm-2.privacy: ",
    ),
    "no regret": ({"number of rows, columns and their levels, subgroups"}, OTHER_FITS),
    "no regret, printed": (
        {"number of rows, columns and their levels, subgroups"}, "cgkm.fairnr-privacy: the auditor reads the data",
    ),
    "DPLogisticRegression": ({GIVEN, LABELS}, STUDY_NOTE),
    "DPLinearSVM": ({GIVEN, LABELS}, STUDY_NOTE),
    "secure DP": ({GIVEN, LABELS}, OTHER_FITS),
    "functional mechanism": ({ROWS, LABELS, "the two groups"}, OTHER_FITS),
    "counted DPGroup": (
        {GIVEN, LABELS, "which groups there are"}, OTHER_FITS,
    ),
    "exponentiated gradient, ": (
        {"everything but who is in which group", LABELS, "the two groups"}, OTHER_FITS,
    ),
    "lagrangian, ": (
        {GIVEN, LABELS, "which groups there are"}, OTHER_FITS,
    ),
    "counted DPGlobal": ({GIVEN, LABELS}, OTHER_FITS),
    "secure fermi, frequency_epsilon": (
        {BATCH, LABELS, "the groups"}, "sum of 2 parts; group frequencies from noisy counts",
    ),
    "secure fermi, group_frequencies": ({BATCH, LABELS, "the groups", "the group frequencies"}, OTHER_FITS),
    "fermi, frequency_epsilon": ({BATCH, LABELS, "the groups"}, "group frequencies from noisy counts"),
    "fermi, group_frequencies": (
        {BATCH, LABELS, "the groups", "the group frequencies"}, f"{OTHER_FITS}; {STUDY_NOTE}",
    ),
    "fermi, as_run": ({ROWS, "the group frequencies"}, "frequencies of the groups are used without noise"),
    "scaler": ({"the columns", "bounds of the scaled columns"}, OTHER_FITS),
    "imputer": ({"the columns", "bounds of the filled columns", "categories of the filled columns"}, OTHER_FITS),
    "pipeline": (
        {"the columns", "constants for missing values", "bounds of the scaled columns", ROWS, LABELS},
        f"sum of 3 parts; {OTHER_FITS}",
    ),
    "selection": ({ROWS, LABELS, "which rows are held out"}, "maximum of 2 parts split by position; sum of 3 parts"),
    "support vectors": (set(), "refuted: how many support vectors there are and their labels are released"),
}  # fmt: skip
"""How a case's name begins → all that is public, and what the note must say; empty where it must be empty."""


def terms(case):
    """Return what is written of the case under the longest of the beginnings."""
    return TERMS[max((name for name in TERMS if case.name.startswith(name)), key=len)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_nothing_that_a_statement_says_is_lost_or_added(case):
    noise = "secure" if case.secure else "study"
    statement = statement_of(case.release(case.data(), noise, None if case.secure else 0))
    public, note = terms(case)
    assert set(statement.public) == public
    assert note in statement.note
    assert note or not statement.note
    # nor where it is printed
    assert all(said in str(statement) for said in {*public, statement.note, case.relation})


def test_every_word_is_of_some_case():
    assert {id(terms(case)) for case in CASES} == {id(said) for said in TERMS.values()}


@pytest.mark.parametrize("settings", [{}, {"expected_batch_size": 2.0}], ids=["counted", "given"])
@pytest.mark.parametrize("kind", [dpf.DPLogisticRegression, dpf.DPLinearSVM])
def test_a_divisor_that_is_counted_is_public(kind, settings):
    X, y = np.random.default_rng(0).normal(size=(8, 2)), np.tile([0, 1], 4)
    fitted = kind(
        noise_multiplier=1.0, delta=1e-3, max_grad_norm=1.0, sample_rate=0.5, steps=1, learning_rate=0.1,
        device="cpu", noise="study", random_state=0, **settings,
    ).fit(X, y)  # fmt: skip
    counted = "the expected batch size, which is sample rate × number of rows, so the number of rows"
    assert (counted in fitted.privacy_statement_.public) == (not settings)


@pytest.mark.parametrize("noise", ["secure", "study"])
def test_a_classifier_that_is_another_part_is_not_called_uncovered(noise):
    adult = dpf.synthetic("adult", n=300, random_state=0)
    X, group = adult.X[["age", "education-num"]] / [90, 16], adult.sensitive_features
    seed = None if noise == "secure" else 0
    model = dpf.PrivateFairClassifier(
        epsilon=1.0, delta=1e-6, feature_bound=1.5, noise=noise, random_state=seed
    )
    model.fit(X, adult.y, sensitive_features=group)
    assert BEHIND not in str(model.privacy_statement_)
    assert all(BEHIND not in part.note for part in model.privacy_statement_.parts)
    assert BEHIND in model.postprocessor_.privacy_statement_.note  # by itself it would have to say so
    assert (STUDY_NOTE in model.privacy_statement_.note) == (noise == "study")
