"""Nothing private is left unlisted."""

import importlib
import inspect
import pkgutil

import pytest
from cases import cases, statement_of

import dpfair_lib
from dpfair_lib.privacy import RELATIONS

CASES = cases()

NO_RELEASE = {
    "dpfair_lib.compatibility.perturbed_leader.privacy_over_rounds.leader_statement": "a statement about given numbers",
    "dpfair_lib.local.reported_columns.statement_of": "a statement about a given channel",
    "dpfair_lib.margins.radius.output_perturbation_radius": "a formula of public numbers",
    "dpfair_lib.margins.step_noise.noisy_logistic_descent": "a study: its caller draws the noise",
    "dpfair_lib.learners.counted_descent.CountedDescent": "what learners share whose steps release counts",
    "dpfair_lib.learners.counted_descent.CountedByGroup": "the same with groups",
    "dpfair_lib.learners.linear.LinearClassifier": "what linear classifiers have in common",
    "dpfair_lib.postprocessing.reported_groups.ReportedOddsPostprocessor": "reports that were drawn before",
    "dpfair_lib.preparation.cells.Preparation": "what transformers have in common",
    "dpfair_lib.preparation.cells.without_cost": "a statement of what was declared",
    "dpfair_lib.preparation.encoding.PublicEncoder": "declared categories: no row is looked at",
    "dpfair_lib.preparation.imputation.PublicImputer": "declared constants: no row is looked at",
    "dpfair_lib.preparation.scaling.PublicScaler": "declared bounds: no row is looked at",
    "dpfair_lib.privacy.accounting.dp_sgd_statement": "a statement about numbers that its caller releases",
    "dpfair_lib.privacy.budgets.joint_statements.compose": "a statement of statements",
    "dpfair_lib.privacy.noise_source.is_secure": "a reading of one argument",
    "dpfair_lib.privacy.noise_source.mark_noise": "a statement of a statement",
    "dpfair_lib.privacy.sampling.checked_generator": "a check of arguments",
    "dpfair_lib.privacy.sampling.checked_sampler": "a check of arguments, and of what is installed",
    "dpfair_lib.privacy.statements.convert": "a statement of a statement",
    "dpfair_lib.privacy.statements.without_guarantee": "a statement of a statement",
    "dpfair_lib.learners.gathered_steps.steps_in_order": "a step of DP-SGD, with noise that its caller drew",
}
"""What is found and releases nothing of anybody's data by itself, with the reason."""


def _modules():
    for found in pkgutil.walk_packages(dpfair_lib.__path__, "dpfair_lib."):
        if not any(part in found.name for part in (".claims", ".experiments", "__main__")):
            yield importlib.import_module(found.name)


def _releases(thing):
    """Whether a class sets or holds a statement, or a function takes noise or makes a statement."""
    if inspect.isclass(thing):
        own = [thing, *(one for one in thing.__mro__[1:] if one.__module__.startswith("dpfair_lib"))]
        return any("privacy_statement" in inspect.getsource(one) for one in own)
    return "noise" in inspect.signature(thing).parameters or "PrivacyStatement(" in inspect.getsource(thing)


def _found():
    for module in _modules():
        for name, thing in vars(module).items():
            own = getattr(thing, "__module__", None) == module.__name__ and not name.startswith("_")
            if own and (inspect.isclass(thing) or inspect.isfunction(thing)) and _releases(thing):
                yield f"{module.__name__}.{name}", thing


def test_every_release_is_listed_or_said_to_be_none():
    listed = {covered for case in CASES for covered in case.covers}
    found = dict(_found())
    missing = sorted(name for name, thing in found.items() if thing not in listed and name not in NO_RELEASE)
    assert missing == []
    assert sorted(set(NO_RELEASE) - set(found)) == []  # nothing is excused that is not there
    assert not {name for name, thing in found.items() if thing in listed} & set(NO_RELEASE)


def test_a_new_release_would_be_found():
    class New:
        def fit(self, statement):
            self.privacy_statement_ = statement

    def new(values, *, noise):
        return values, noise

    def plain(values):
        return values

    assert _releases(New)
    assert _releases(new)
    assert not _releases(plain)


def test_names_are_distinct():
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_case_runs_and_its_statement_is_of_its_relation(case):
    release = case.release(case.data(), "secure" if case.secure else "study", None if case.secure else 0)
    assert case.numbers(release).size
    statement = statement_of(release)
    if statement is not None:
        assert statement.relation == case.relation
        assert statement.guarantee == (case.secure and "repair=False" not in case.name)
    assert case.relation is None or case.relation in RELATIONS
