import json
import math
from dataclasses import fields, replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpfair_lib.privacy import (
    RELATIONS,
    PrivacyStatement,
    compose,
    convert,
    dp_sgd_statement,
    gaussian_epsilon,
    total_epsilon,
)
from dpfair_lib.privacy.budgets.filters import adaptive_epsilon
from dpfair_lib.privacy.mechanisms import Mechanism
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


@pytest.mark.parametrize("guarantee", [True, False])
@pytest.mark.parametrize("target", ["replace-one", "replace-within-group", "sensitive-attribute"])
def test_a_conversion_alters_nothing_but_the_numbers_the_relation_and_the_note(target, guarantee):
    statement = PrivacyStatement(
        0.5, 1e-6, "add-remove", public=("one", "two"), sampling="Poisson", accountant="pld", guarantee=guarantee,
        note="said before",
    )  # fmt: skip
    kept = ("unit", "public", "sampling", "accountant", "guarantee")
    converted = convert(statement, target)
    assert [getattr(converted, name) for name in kept] == [getattr(statement, name) for name in kept]
    assert converted.note == "said before; converted from add-remove"


@given(EPSILON.filter(lambda e: e < 2), DELTA)
def test_replacing_costs_two_steps_and_no_less(epsilon, delta):
    converted = convert(stated(epsilon, delta, "add-remove"), "replace-one")
    assert converted.delta == pytest.approx(worst_replacement(epsilon, delta), rel=1e-9, abs=1e-15)


# what a release of add-remove is dominated by where a record is replaced: noise for a move twice as long, and for
# DP-SGD the account of that relation
COSTLIER = {
    "laplace": (stated(0.1, 0.0, "add-remove", mechanism=(Mechanism("laplace", 0.1),)), Mechanism("laplace", 0.2)),
    "gaussian": (
        stated(gaussian_epsilon(1e-7, 1.0, 0.1), 1e-7, "add-remove", mechanism=(Mechanism("gaussian", 0.1),)),
        Mechanism("gaussian", 0.2),
    ),
    "DP-SGD": (
        dp_sgd_statement(1.0, 0.05, 20, 1e-7, "pld"),
        Mechanism("poisson-gaussian", 1.0, rate=0.05, steps=20, relation="replace-one"),
    ),
}  # fmt: skip


@pytest.mark.parametrize("target", ["replace-one", "replace-within-group", "sensitive-attribute"])
@pytest.mark.parametrize("name", COSTLIER)
def test_what_converted_statements_cost_together_is_no_less_than_their_releases_do(name, target):
    statement, due = COSTLIER[name]
    least = total_epsilon([due] * 8, 1e-4) * (1 - 1e-6)
    assert compose(*[statement] * 8, to=target, delta=1e-4).epsilon >= least
    converted = convert(statement, target)
    assert compose(*[converted] * 8, delta=1e-4).epsilon >= least
    for kind in ("gaussian", "concentrated"):
        assert adaptive_epsilon([converted] * 8, 1e-4, kind, open_delta=5e-5) >= least
    # planted: the mechanism of the relation before, which is cheaper
    kept = replace(converted, mechanism=statement.mechanism)
    assert compose(*[kept] * 8, delta=1e-4).epsilon < least


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


def test_terms_are_kept():
    total = compose(
        stated(public=("n",), sampling="Poisson", accountant="pld"),
        stated(public=("n", "m"), accountant="rdp"),
    )
    assert (total.public, total.sampling, total.accountant) == (("n", "m"), "Poisson", "pld, rdp")


def test_a_guarantee_is_a_truth_value_and_rests_on_guarantees():
    with pytest.raises(ValueError, match="guarantee: found 'no'"):
        PrivacyStatement(1.0, 0.0, "add-remove", guarantee="no")
    part = PrivacyStatement(1.0, 0.0, "add-remove", guarantee=False, note="not proved")
    proved = PrivacyStatement(1.0, 0.0, "add-remove")
    for parts in ((part,), (proved, part), (part, proved), (proved,) * 5 + (part,)):  # one is enough
        with pytest.raises(ValueError, match="guarantee: found True beside a part"):
            PrivacyStatement(1.0, 0.0, "add-remove", parts=parts)


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


def test_no_cost_is_that_of_what_depends_on_no_record():
    free = PrivacyStatement(0, 0, "add-remove", public=("the bounds",))
    assert free.free
    assert str(free) == "ε = 0 (pure), add-remove, per record; public: the bounds"
    assert not PrivacyStatement(0, 1e-9, "add-remove").free
    for relation in ("replace-one", "replace-within-group", "sensitive-attribute", "local"):
        with pytest.raises(ValueError, match="or under 'add-remove' for what depends on no record"):
            PrivacyStatement(0, 0, relation)
        with pytest.raises(ValueError, match="found ε = δ = 0, expected a cost"):
            convert(free, relation)


STATED = [
    PrivacyStatement(0.1 + 0.2, 1e-6, "replace-one", public=("n", "the groups"), sampling="Poisson"),
    PrivacyStatement(math.inf, 0.0, "local", guarantee=False, note="a report tells"),
    compose(*[PrivacyStatement(0.5, 0.0, "local", unit="sensitive attribute")] * 3),
    PrivacyStatement(
        1.0, 1e-5, "add-remove", accountant="pld", mechanism=(Mechanism("gaussian", 0.7, steps=3),)
    ),
]


@pytest.mark.parametrize("statement", STATED)
def test_json_is_read_as_the_same_statement_and_has_the_same_keys(statement):
    text = statement.to_json()
    assert PrivacyStatement.from_json(text) == statement
    assert "Infinity" not in text
    keys = list(json.loads(text))
    assert keys == [
        "epsilon", "delta", "relation", "unit", "public", "sampling", "accountant", "guarantee", "note", "parts",
        "mechanism", "text",
    ]  # fmt: skip
    assert json.loads(text)["text"] == str(statement)


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", "3", '{"epsilon": 1, "delta": 0, "relation": "local", "rows": [1]}',
             '{"epsilon": -1, "delta": 0, "relation": "local"}', '{"epsilon": "one", "delta": 0, "relation": "local"}',
             '{"epsilon": 1, "delta": 0, "relation": "local", "mechanism": [{"kind": "x"}]}']
)  # fmt: skip
def test_json_that_is_no_statement_is_refused(text):
    with pytest.raises(ValueError, match=r"found|Expecting"):
        PrivacyStatement.from_json(text)


def test_no_field_of_a_statement_or_of_its_mechanisms_is_lost_in_a_file():
    # every field has another value than by default, so that one which is not written comes back as another statement
    mechanism = Mechanism("poisson-gaussian", 0.7, rate=0.25, steps=3, relation="add-remove", distance=1e-13)
    fails = Mechanism("stated", 0.7, delta=1e-9, steps=2)
    part = PrivacyStatement(0.5, 1e-7, "add-remove", mechanism=(mechanism,))
    whole = PrivacyStatement(
        0.7, 1e-6, "add-remove", unit="person", public=("a", "b"), sampling="c", accountant="d", guarantee=False,
        note="e", parts=(part,), mechanism=(mechanism, fails),
    )  # fmt: skip
    for several in ((mechanism, fails), (whole,)):
        for field in fields(several[0]):
            assert any(getattr(one, field.name) != field.default for one in several), field.name
    assert PrivacyStatement.from_json(whole.to_json()) == whole
