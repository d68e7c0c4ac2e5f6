import copy
import math
import multiprocessing
import pickle
import sys
import threading
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.privacy import Budget, BudgetExceededError, Mechanism, PrivacyStatement
from dpfair_lib.privacy.budgets.filters import make_filter

EPSILON = st.floats(1e-3, 5)
DELTA = st.floats(0, 1e-3)


def stated(epsilon=1.0, delta=0.0, relation="replace-one", **details):
    return PrivacyStatement(epsilon, delta, relation, **details)


def test_a_budget_is_spent_to_the_last_digit_and_no_further():
    budget = Budget(0.3, 1e-5, "replace-one")
    for _ in range(3):
        budget.spend(stated(0.1, 1e-5 / 3))  # in floats 0.1 + 0.1 + 0.1 > 0.3
    assert budget.remaining.epsilon == pytest.approx(0, abs=1e-15)
    left = Fraction(1e-5) - 3 * Fraction(1e-5 / 3)
    assert budget.remaining.epsilon == 0
    assert 0 <= budget.remaining.delta <= max(left, 0)
    before = budget.spent
    with pytest.raises(BudgetExceededError, match=r"epsilon: found 0\.3000001"):
        budget.spend(stated(1e-7))
    assert budget.spent == before
    assert "left: ε = 0, δ = 0" in repr(budget)


def test_the_sum_may_exceed_the_total_by_the_stated_share_and_no_more():
    Budget(1.0, 0.0, "replace-one").spend(stated(1 + 0.9e-12))
    with pytest.raises(BudgetExceededError, match="epsilon: found 1"):
        Budget(1.0, 0.0, "replace-one").spend(stated(1 + 1.1e-12))


@pytest.mark.parametrize("composition", ["gaussian", "concentrated"])
def test_a_composition_that_needs_a_delta_says_so_of_the_delta(composition):
    with pytest.raises(ValueError, match=r"^delta: found 0"):
        Budget(1.0, 0.0, "replace-one", composition=composition)


def test_a_refused_statement_changes_nothing():
    budget = Budget(1, 1e-5, "add-remove")
    budget.spend(stated(0.5, 1e-6, "add-remove"))
    before = (budget.spent, budget.remaining)
    for refused, message in (
        (stated(0.1, 1e-5, "add-remove"), "delta: found"),
        (stated(0.6, 0, "add-remove"), "epsilon: found"),
        (stated(0.1, 0, "replace-one"), "found the relation 'replace-one', expected 'add-remove'"),
        (stated(0.1, 0, "add-remove", unit="person"), "found the unit 'person'"),
        (stated(0.1, 0, "add-remove", guarantee=False, note="printed"), "without guarantee"),
        (0.1, "expected a PrivacyStatement"),
    ):
        with pytest.raises(ValueError, match=message):
            budget.spend(refused)
        assert (budget.spent, budget.remaining) == before


def test_studies_may_add_up_what_is_not_guaranteed():
    budget = Budget(1, 0, "replace-one", allow_unguaranteed=True)
    assert budget.spend(stated(0.25, guarantee=False, note="printed")).epsilon == 0.75


@given(st.lists(st.tuples(EPSILON, DELTA), max_size=8), st.floats(0.01, 10), st.floats(0, 1e-2))
def test_a_budget_never_holds_more_than_it_allows(numbers, epsilon, delta):
    budget = Budget(epsilon, delta, "replace-one")
    for pair in numbers:
        try:
            budget.spend(stated(*pair))
        except BudgetExceededError:
            continue
    total = [math.fsum(s.epsilon for s in budget.spent), math.fsum(s.delta for s in budget.spent)]
    assert total[0] <= epsilon * (1 + 1e-12)
    assert total[1] <= delta * (1 + 1e-12)
    for left, allowed, name in zip(budget.remaining, (epsilon, delta), ("epsilon", "delta"), strict=True):
        spent = sum((Fraction(getattr(s, name)) for s in budget.spent), Fraction(0))
        exact = max(Fraction(allowed) - spent, Fraction(0))
        assert Fraction(left) <= exact < Fraction(math.nextafter(left, math.inf))  # the next float below
        assert not str(left).startswith("-")


@pytest.mark.parametrize(
    ("arguments", "name"), [((math.inf, 0, "local"), "epsilon"), ((1, 1, "local"), "delta")]
)
def test_malformed_budgets_are_refused(arguments, name):
    with pytest.raises(ValueError, match=f"{name}: found"):
        Budget(*arguments)
    with pytest.raises(ValueError, match="unit: found ''"):
        Budget(1, 0, "local", unit="")


def test_a_budget_shared_by_threads_is_never_overspent():
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # so that a thread is left between any two steps
    try:
        for _ in range(5):
            budget, accepted = Budget(1.0, 0, "replace-one"), []
            start = threading.Barrier(8)

            def work(budget=budget, accepted=accepted, start=start):
                start.wait()
                for _ in range(30):
                    try:
                        budget.spend(stated(0.01))
                    except BudgetExceededError:
                        continue
                    accepted.append(1)

            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert len(accepted) == len(budget.spent) == 100
    finally:
        sys.setswitchinterval(interval)


@pytest.mark.parametrize(
    "duplicate", [copy.copy, copy.deepcopy, lambda budget: copy.deepcopy({"budget": [budget]}), pickle.dumps]
)
def test_a_budget_has_no_copies(duplicate):
    budget = Budget(1.0, 0, "replace-one")
    with pytest.raises(TypeError, match="budget: found a copy or a pickle"):
        duplicate(budget)
    budget.spend(stated(1.0))  # nothing is held by the attempt


def test_a_forked_process_cannot_spend():
    budget = Budget(1.0, 0, "replace-one")
    context = multiprocessing.get_context("fork")
    found = context.Queue()

    def child():
        try:
            budget.spend(stated(0.5))
            found.put("spent")
        except RuntimeError as error:
            found.put(str(error))

    process = context.Process(target=child)
    process.start()
    assert "budget: found process" in found.get(timeout=60)
    process.join()
    found.close()
    assert budget.remaining == (1.0, 0.0)


def test_what_was_spent_cannot_be_forgotten():
    budget = Budget(1.0, 0, "replace-one", allow_unguaranteed=True)
    with pytest.raises(AttributeError):
        budget.spent = ()
    with pytest.raises(BudgetExceededError, match="epsilon: found inf"):
        budget.spend(stated(math.inf, guarantee=False, note="printed"))


@pytest.mark.parametrize("composition", ["gaussian", "concentrated"])
def test_pure_releases_count_in_both_sums(composition):
    noisy = stated(0.01, 1e-9, mechanism=(Mechanism("gaussian", 1e-3),))
    pure_first = Budget(1.0, 1e-6, "replace-one", composition=composition)
    for _ in range(4):
        pure_first.spend(stated(0.25))  # beyond the limit for noise, and let through as a sum
    with pytest.raises(BudgetExceededError):
        pure_first.spend(noisy)
    noisy_first = Budget(1.0, 1e-6, "replace-one", composition=composition)
    noisy_first.spend(noisy)
    with pytest.raises(BudgetExceededError):
        noisy_first.spend(stated(0.9))  # no longer a list of pure releases
    assert len(noisy_first.spent) == 1


@pytest.mark.parametrize("composition", ["gaussian", "concentrated"])
def test_every_parameter_of_a_budget_reaches_its_filter(composition):
    own = make_filter(composition, 0.7, 1e-4, 3e-5)
    budget = Budget(0.7, 1e-4, "replace-one", composition=composition, open_delta=3e-5)
    assert budget.remaining == own.left(own.limits)
    assert budget.remaining.delta == 3e-5
    fails = stated(0.01, 2e-5)
    budget.spend(fails)
    for other in (budget, Budget(0.7, 1e-4, "replace-one", composition=composition)):
        before = other.spent
        with pytest.raises(BudgetExceededError, match="delta of open failure: found"):
            other.spend(fails)
        assert other.spent == before


@pytest.mark.parametrize("composition", ["gaussian", "concentrated"])
def test_what_is_said_to_be_left_fits_after_noise_too(composition):
    # with noise among the releases the sum of pure ones counts no more, and what is left is rounded down
    for spent in (1e-3, 0.03, 0.1):
        budget = Budget(1.0, 1e-6, "replace-one", composition=composition)
        budget.spend(stated(0.3, 1e-9, mechanism=(Mechanism("gaussian", spent),)))
        left = budget.remaining.epsilon
        with pytest.raises(BudgetExceededError):
            budget.spend(stated(left * (1 + 2e-9) + 2e-12))
        budget.spend(stated(left))
