import copy
import math
import multiprocessing
import pickle
import sys
import threading
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.privacy import RELATIONS, Budget, BudgetExceededError, PrivacyStatement, compose, convert
from dpfair_lib.privacy.budget import SPLITS
from dpfair_lib.privacy.statements import without_guarantee

EPSILON = st.floats(1e-3, 5)
DELTA = st.floats(0, 1e-3)


def stated(epsilon=1.0, delta=0.0, relation="replace-one", **details):
    return PrivacyStatement(epsilon, delta, relation, **details)


def test_a_statement_prints_as_one_readable_line():
    statement = stated(
        1.5, 1e-5, "add-remove", unit="person", public=("n", "group sizes"), sampling="Poisson", accountant="pld",
        note="tuned on public data",
    )  # fmt: skip
    assert str(statement) == (
        "ε = 1.5, δ = 1e-05, add-remove, per person; sampling: Poisson; accountant: pld; "
        "public: n, group sizes; tuned on public data"
    )
    assert str(stated()) == "ε = 1 (pure), replace-one, per record"
    assert str(stated(0.1 + 0.2)) == "ε = 0.300001 (pure), replace-one, per record"


@given(st.floats(1e-12, 1e6), st.integers(0, 3))
def test_printed_numbers_are_never_below_the_statement(epsilon, roundings):
    short = float(f"{epsilon:.6g}")  # and what is above six digits by a few roundings
    for value in (epsilon, short * (1 + roundings * 2.0**-52)):
        shown = float(str(stated(value)).split("=")[1].split("(")[0])
        assert value <= shown <= value * (1 + 1.1e-5)
    assert str(stated(short)).startswith(f"ε = {short:.6g} ")  # of six digits none is changed


def test_a_statement_is_frozen():
    with pytest.raises(AttributeError):
        stated().epsilon = 2.0


@pytest.mark.parametrize(
    ("arguments", "details", "message"),
    [
        ((0, 0, "local"), {}, "epsilon: found 0, expected a number above 0"),
        ((float("nan"), 0, "local"), {}, "epsilon: found nan"),
        (("1", 0, "local"), {}, "epsilon: found '1'"),
        ((True, 0, "local"), {}, "epsilon: found True"),
        ((1, 1, "local"), {}, r"delta: found 1, expected a number in \[0, 1\)"),
        ((1, -1e-9, "local"), {}, "delta: found -1e-09"),
        ((1, 0, "swap"), {}, "relation: found 'swap'"),
        ((1, 0, "local"), {"public": "n"}, "public: found 'n', expected a tuple"),
        ((1, 0, "local"), {"guarantee": False}, "note: found none, expected why"),
        ((math.inf, 0, "local"), {}, "guarantee: found True beside an infinite epsilon"),
        ((1, 0, "local"), {"unit": ""}, "unit: found '', expected a name"),
        ((1, 0, "local"), {"unit": 3}, "unit: found 3, expected a name"),
        ((1, 0, "local"), {"public": None}, "public: found None, expected a tuple"),
        ((1, 0, "local"), {"parts": (1.0,)}, r"parts: found \(1\.0,\), expected a tuple of PrivacyStatement"),
        ((10**400, 0, "local"), {}, "epsilon: found a number that no float can hold"),
        ((-1, 0.1, "local"), {}, "epsilon: found -1"),
    ],
)
def test_malformed_statements_are_refused(arguments, details, message):
    with pytest.raises(ValueError, match=message):
        PrivacyStatement(*arguments, **details)


def test_epsilon_may_be_zero_beside_a_delta():
    # the total variation distance is then at most δ; with both at 0 nothing would have been released
    apart = stated(0, 1e-3, "add-remove")
    assert str(apart) == "ε = 0, δ = 0.001, add-remove, per record"
    assert convert(apart, "replace-one").delta == 2e-3
    assert compose(apart, stated(1.0, 0, "add-remove")).epsilon == 1


def test_no_guarantee_is_said_first_and_survives_composition():
    marked = without_guarantee(stated(note="as printed"), "sk.alg-1-privacy")
    assert str(marked).startswith("NO GUARANTEE: ε = 1")
    together = compose(marked, stated())
    assert not together.guarantee
    assert "sk.alg-1-privacy" in together.note
    with pytest.raises(ValueError, match="reason: found none"):
        without_guarantee(stated(), "")
    assert not compose(stated(math.inf, guarantee=False, note="no noise"), stated()).guarantee


SOUND = {
    ("add-remove", "replace-one"), ("add-remove", "replace-within-group"), ("add-remove", "sensitive-attribute"),
    ("replace-one", "replace-within-group"), ("replace-one", "sensitive-attribute"), ("local", "replace-one"),
    ("local", "replace-within-group"), ("local", "sensitive-attribute"),
}  # fmt: skip


@pytest.mark.parametrize("source", RELATIONS)
@pytest.mark.parametrize("target", RELATIONS)
def test_only_sound_conversions_are_done(source, target):
    statement = stated(0.5, 1e-6, source)
    if source == target:
        assert convert(statement, target) is statement
    elif (source, target) in SOUND:
        converted = convert(statement, target)
        factor = 2 if source == "add-remove" else 1
        assert converted.epsilon == factor * 0.5
        assert converted.delta == pytest.approx(1e-6 * (1 + math.exp(0.5) if factor == 2 else 1), rel=1e-12)
        assert (converted.relation, converted.parts) == (target, (statement,))
    else:
        with pytest.raises(ValueError, match="implies nothing under"):
            convert(statement, target)


def worst_replacement(epsilon, delta):
    """δ at 2ε between the ends of a chain of two steps, each exactly (ε, δ): the worst chain of two."""
    # the probability of one event under the three data sets of the chain, each step as large as allowed
    e = math.exp(epsilon)
    end = 1e-4
    middle = e * end + delta
    start = e * middle + delta
    return start - math.exp(2 * epsilon) * end


@given(EPSILON.filter(lambda e: e < 2), DELTA)
def test_replacing_costs_two_steps_and_no_less(epsilon, delta):
    converted = convert(stated(epsilon, delta, "add-remove"), "replace-one")
    assert converted.delta == pytest.approx(worst_replacement(epsilon, delta), rel=1e-9, abs=1e-15)


def test_conversions_that_say_nothing_are_refused():
    with pytest.raises(ValueError, match="only delta >= 1"):
        convert(stated(20.0, 1e-6, "add-remove"), "replace-one")
    with pytest.raises(ValueError, match="only delta >= 1"):
        convert(stated(800.0, 1e-6, "add-remove"), "replace-one")
    assert convert(stated(800.0, 0, "add-remove"), "replace-one").epsilon == 1600


def test_a_randomised_attribute_does_not_protect_the_record():
    partly = stated(1.0, 0, "local", unit="sensitive attribute")
    assert convert(partly, "sensitive-attribute").epsilon == 1
    with pytest.raises(ValueError, match="found a guarantee per sensitive attribute under 'local'"):
        convert(partly, "replace-one")
    assert convert(stated(1.0, 0, "local", unit="person"), "replace-one").epsilon == 1


@pytest.mark.parametrize("source", ["local", "replace-one", "add-remove"])
def test_a_guarantee_for_labels_says_nothing_about_the_sensitive_attribute(source):
    with pytest.raises(ValueError, match=f"found a guarantee per label under '{source}'"):
        convert(stated(1.0, 0, source, unit="label"), "sensitive-attribute")
    assert convert(stated(1.0, 0, source), "sensitive-attribute").unit == "record"


@given(st.lists(st.tuples(EPSILON, DELTA), min_size=1, max_size=6))
def test_the_same_data_add_up_and_disjoint_data_do_not(numbers):
    parts = [stated(*pair, "replace-within-group") for pair in numbers]
    total = compose(*parts)
    assert total.epsilon == pytest.approx(math.fsum(e for e, _ in numbers), rel=3e-16)
    assert total.delta == pytest.approx(math.fsum(d for _, d in numbers), rel=3e-16)
    assert total.parts == tuple(parts)
    apart = compose(*parts, parallel="group")
    assert (apart.epsilon, apart.delta) == (max(e for e, _ in numbers), max(d for _, d in numbers))
    assert apart.epsilon <= total.epsilon
    # in any grouping and any order
    assert compose(compose(*parts[:2]), *parts[2:]).epsilon == pytest.approx(total.epsilon, rel=1e-12)
    assert compose(*reversed(parts)).delta == pytest.approx(total.delta, rel=1e-12)


# Records are (place, group, feature). A part is named by what decides it; a neighbour may change what the
# relation says; the maximum is sound if no neighbour's record can be in another part.
MAY_CHANGE = {
    "replace-one": {"group", "features"},
    "replace-within-group": {"features"},
    "sensitive-attribute": {"group"},
    "local": {"group", "features"},
}
DECIDED_BY = {"position": {"place"}, "coin": set(), "group": {"group"}, "features": {"features"},
              "record": {"group", "features"}}  # fmt: skip


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("split", SPLITS)
def test_the_maximum_only_where_no_record_changes_its_part(relation, split):
    moves = DECIDED_BY[split] & MAY_CHANGE.get(relation, set())
    sound = not moves and (relation, split) != ("add-remove", "position")  # rows after a new one move on
    parts = (stated(1.0, 0, relation), stated(2.0, 0, relation))
    if sound:
        assert compose(*parts, parallel=split).epsilon == 2
    else:
        with pytest.raises(ValueError, match="parallel: found a division by"):
            compose(*parts, parallel=split)


def test_composition_refuses_what_does_not_go_together():
    with pytest.raises(ValueError, match="found the relations local, replace-one"):
        compose(stated(), stated(relation="local"))
    with pytest.raises(ValueError, match="found the units person, record"):
        compose(stated(), stated(unit="person"))
    with pytest.raises(ValueError, match="parallel: found True, expected how"):
        compose(stated(), parallel=True)
    with pytest.raises(ValueError, match="parallel: found 'halves'"):
        compose(stated(), parallel="halves")
    with pytest.raises(ValueError, match="statements: found none"):
        compose()
    with pytest.raises(ValueError, match=r"statements: found 1\.0"):
        compose(1.0)
    with pytest.raises(ValueError, match="add up to"):
        compose(stated(1, 0.6), stated(1, 0.6))


def test_composition_converts_when_told_to():
    total = compose(stated(1.0, 0, "add-remove"), stated(0.5), to="replace-one")
    assert (total.epsilon, total.relation) == (2.5, "replace-one")
    # disjoint under add-remove: first the maximum, then twice; a record may leave one part and enter another
    moved = compose(
        stated(1.0, 0, "add-remove"), stated(0.5, 0, "add-remove"), parallel="record", to="replace-one"
    )
    assert (moved.epsilon, moved.relation) == (2.0, "replace-one")
    with pytest.raises(ValueError, match="implies nothing"):
        compose(stated(relation="replace-within-group"), stated(), to="replace-one")


def test_terms_are_kept():
    total = compose(
        stated(public=("n",), sampling="Poisson", accountant="pld"),
        stated(public=("n", "m"), accountant="rdp"),
    )
    assert (total.public, total.sampling, total.accountant) == (("n", "m"), "Poisson", "pld, rdp")


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


def test_a_guarantee_is_a_truth_value_and_rests_on_guarantees():
    with pytest.raises(ValueError, match="guarantee: found 'no'"):
        PrivacyStatement(1.0, 0.0, "add-remove", guarantee="no")
    part = PrivacyStatement(1.0, 0.0, "add-remove", guarantee=False, note="not proved")
    proved = PrivacyStatement(1.0, 0.0, "add-remove")
    for parts in ((part,), (proved, part), (part, proved), (proved,) * 5 + (part,)):  # one is enough
        with pytest.raises(ValueError, match="guarantee: found True beside a part"):
            PrivacyStatement(1.0, 0.0, "add-remove", parts=parts)


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


@given(st.lists(st.tuples(EPSILON, DELTA), min_size=1, max_size=8))
def test_sums_are_rounded_up(numbers):
    statements = [stated(*pair) for pair in numbers]
    exact = sum(Fraction(s.epsilon) for s in statements), sum(Fraction(s.delta) for s in statements)
    if exact[1] < 0.999:
        total = compose(*statements)
        assert (total.epsilon, total.delta) >= exact
        assert total.delta >= exact[1]
        assert math.nextafter(total.epsilon, 0) < exact[0]


@pytest.mark.parametrize("exact", [Fraction(1, 3), Fraction(2, 3), 2**53 + 1, np.longdouble(1) / 3])
def test_numbers_that_are_no_floats_are_rounded_up(exact):
    claimed = Fraction(stated(exact).epsilon)
    assert claimed >= Fraction(*exact.as_integer_ratio())
    if exact < 1:
        assert Fraction(stated(1, exact).delta) >= Fraction(*exact.as_integer_ratio())


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.7, 30.0, 300.0])
def test_conversions_are_rounded_up(epsilon):
    delta = 1e-3 * math.exp(-epsilon)
    found = convert(stated(epsilon, delta, "add-remove"), "replace-one")
    with mpmath.workdps(60):
        assert found.epsilon == 2 * epsilon
        exact = mpmath.mpf(delta) * (1 + mpmath.exp(mpmath.mpf(epsilon)))
        assert exact <= mpmath.mpf(found.delta) <= exact * (1 + mpmath.mpf(2) ** -50)
