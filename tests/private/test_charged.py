"""Every release is charged to the budgets that are open, once, and refused before it is made."""

import math

import pytest
from cases import cases, statement_of

from dpfair_lib.privacy import Budget, BudgetExceededError

CASES = [case for case in cases() if case.relation not in (None, "local")]
SEVERAL = {"pipeline": 2, "selection": 4}
"""Releases whose parts are charged one by one, and how many there are."""


def _released(case):
    return case.release(case.data(), *(() if case.secure else ("study", 0)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_release_is_charged_once_by_its_own_statement(case):
    plain = statement_of(_released(case))
    if plain.free:
        return  # what depends on no record is charged to nobody
    assert math.isfinite(plain.epsilon)
    budget = Budget(1e6, 0.99, case.relation, unit=plain.unit, allow_unguaranteed=not plain.guarantee)
    with budget:
        stated = statement_of(_released(case))
    # a release that was charged as a whole has no remarks yet
    assert _numbers(budget.spent) in (_numbers([stated]), _numbers(_leaves(stated)))
    spent = budget.spent
    _released(case)
    assert budget.spent == spent  # closed


def _numbers(statements):
    return [(s.epsilon, s.delta, s.relation, s.unit, s.guarantee) for s in statements]


def _leaves(statement):
    """The releases of which one was composed, if they were charged one by one."""
    if not statement.parts:
        return [] if statement.free else [statement]
    return [leaf for part in statement.parts for leaf in _leaves(part)]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_costs_more_than_is_left_is_refused_before_a_draw(case, monkeypatch):
    plain = statement_of(_released(case))
    if plain.free:
        return
    least = min(leaf.epsilon for leaf in [plain, *_leaves(plain)])
    budget = Budget(
        least * 0.99,
        0.99,
        case.relation,
        unit=plain.unit,
        allow_unguaranteed=True,
    )
    subject = case.make(*(("secure", None) if case.secure else ("study", 0)))
    before = dict(vars(subject)) if hasattr(subject, "fit") else None
    from dpfair_lib.privacy import noise_source

    def drawn(*_, **__):
        raise AssertionError("noise was drawn before the budget was asked")

    for name in (
        "add_laplace_noise",
        "add_gaussian_noise",
        "add_discrete_laplace_noise",
        "exponential_choice",
    ):
        monkeypatch.setattr(noise_source, name, drawn)
    with budget, pytest.raises(BudgetExceededError, match="found"):
        case.run(subject, case.data())
    assert budget.spent == ()
    if before is not None:
        assert set(vars(subject)) == set(before)  # nothing was learned


@pytest.mark.parametrize("case", [case for case in CASES if case.name in SEVERAL], ids=str)
def test_parts_are_charged_one_by_one_and_no_part_is_drawn_before(case, monkeypatch):
    with Budget(10.0, 0.1, case.relation) as budget:
        fitted = _released(case)
    assert len(budget.spent) == SEVERAL[case.name]
    assert sum(one.epsilon for one in budget.spent) >= statement_of(fitted).epsilon
    if case.name == "pipeline":
        assert budget.spent == tuple(one for one in statement_of(fitted).parts if not one.free)
    from dpfair_lib.privacy import noise_source

    drawn = []
    for name in ("add_laplace_noise", "add_gaussian_noise", "exponential_choice"):
        usual = getattr(noise_source, name)
        monkeypatch.setattr(noise_source, name, lambda *a, u=usual, **k: drawn.append(1) or u(*a, **k))
    subject = case.make("secure", None)
    # enough for all parts but the last
    with (
        Budget(sum(one.epsilon for one in budget.spent) * 0.99, 0.1, case.relation) as tight,
        pytest.raises(BudgetExceededError),
    ):
        case.run(subject, case.data())
    assert len(drawn) == len(tight.spent) == SEVERAL[case.name] - 1
    assert not hasattr(subject, "privacy_statement_")
