"""A certificate in whole numbers is accepted as it was made, and refused with anything in it spoiled."""

from dataclasses import fields, replace
from fractions import Fraction

import pytest

from dpfair_lib import optimal_randomizer
from dpfair_lib.local import ExactCertificate, check_exact

P, P1, EPSILON = [0.5, 0.3, 0.2], [0.2, 0.5, 0.7], 1.0


@pytest.fixture(scope="module")
def good():
    return optimal_randomizer(P, P1, EPSILON, error=0.5, certificate="exact").certificate


@pytest.fixture(scope="module")
def other():
    return optimal_randomizer(
        [0.2, 0.4, 0.4], [0.7, 0.5, 0.1], EPSILON, error=0.46, certificate="exact"
    ).certificate


def test_the_good_one_is_accepted(good):
    assert 0 <= check_exact(good) == good.gap <= Fraction(1, 10**9)
    assert good.lower > Fraction(1, 20)  # it proves something


def negated(row):
    return tuple(-value for value in row)


SPOILED = {
    "negative of_truth": lambda c: {"of_truth": -c.of_truth},
    "negative above": lambda c: {"above": negated(c.above)},
    "negative below": lambda c: {"below": negated(c.below)},
    "negative caps": lambda c: {
        "row_caps": tuple(map(negated, c.row_caps)),
        "column_caps": tuple(map(negated, c.column_caps)),
    },
    "negative diagonal": lambda _: {"of_diagonal": (-1, 0, 0)},
    "all multipliers 0": lambda _: {"above": (0,) * 3, "below": (0,) * 3, "of_truth": 0, "of_rows": (0,) * 3},
    "a higher level": lambda c: {"level": c.level + c.level_unit // 10**6},
    "a level above the value": lambda c: {"level": 2 * c.level_unit},
    "a smaller value": lambda c: {"reached": c.reached - c.reached_unit // 10**6},
    "another budget": lambda c: {"budget": c.budget * 9 // 10},
    "a larger x": lambda c: {"x_high": c.x_high + c.x_unit // 10**6},
    "x the wrong way round": lambda c: {"x_low": c.x_high, "x_high": c.x_low},
    "x above 1": lambda c: {"x_high": c.x_unit + 1},
    "rows in another order": lambda c: {"entries": c.entries[::-1]},
    "another row sum": lambda c: {"entry_unit": c.entry_unit + 1},
    "a rate above 1": lambda c: {"positives": (c.rate_unit + 1, *c.positives[1:])},
    "no rate above 0": lambda _: {"positives": (0, 0, 0)},
    "no people": lambda c: {"weights": (0, *c.weights[1:])},
    "two groups": lambda c: {"weights": c.weights[:2]},
    "one group": lambda c: {"weights": c.weights[:1]},
    "a float": lambda c: {"above": (0.5, *c.above[1:])},
    "a truth value": lambda _: {"level_unit": True},
}


@pytest.mark.parametrize("name", ["of_truth", "above", "below", "of_diagonal", "column_caps", "row_caps"])
def test_a_multiplier_below_0_is_refused_for_its_sign(good, name):
    """One of −1 each: a certificate whose multipliers merely prove too little is refused with other words."""
    row = (-1, 0, 0)
    spoiled = {
        "of_truth": -1,
        "column_caps": (row[::-1], *good.column_caps[1:]),
        "row_caps": (row[::-1], *good.row_caps[1:]),
    }
    with pytest.raises(
        ValueError, match=r"found (a multiplier below 0|-\d+ at position \d+), expected at least 0"
    ):
        check_exact(replace(good, **{name: spoiled.get(name, row)}))


@pytest.mark.parametrize("name", SPOILED)
def test_a_spoiled_one_is_refused(good, name):
    with pytest.raises(ValueError, match=r"found|sums to"):
        check_exact(replace(good, **SPOILED[name](good)))


@pytest.mark.parametrize("name", [f.name for f in fields(ExactCertificate) if f.name.endswith("_unit")])
@pytest.mark.parametrize("value", [0, -1])
def test_a_denominator_of_0_or_less_is_named(good, name, value):
    with pytest.raises(ValueError, match=f"{name}: found {value}"):
        check_exact(replace(good, **{name: value}))


@pytest.mark.parametrize("name", [f.name for f in fields(ExactCertificate) if f.type in {"Row", "Table"}])
@pytest.mark.parametrize("change", [lambda v: v[:-1], lambda v: v + v[:1], lambda _: ()])
def test_a_wrong_dimension_is_refused(good, name, change):
    with pytest.raises(ValueError, match=r"found another number of entries|found 0 groups"):
        check_exact(replace(good, **{name: change(getattr(good, name))}))


def test_multipliers_of_another_program_prove_nothing_here(good, other):
    proof = ("above", "below", "of_truth", "of_rows", "of_diagonal", "column_caps", "row_caps", "level")
    mixed = replace(good, **{name: getattr(other, name) for name in proof})
    assert other.level > 0
    mixed = replace(mixed, level=max(other.level, good.level))  # a lower one could hold by chance
    with pytest.raises(ValueError, match="the multipliers do not prove"):
        check_exact(mixed)


def test_it_survives_json(good):
    assert ExactCertificate.from_json(good.to_json()) == good


@pytest.mark.parametrize("text", ["{}", "[]", '{"weights": [1, 2]}'])
def test_json_with_other_names_is_refused(text):
    with pytest.raises(ValueError, match="expected a JSON object"):
        ExactCertificate.from_json(text)


class Obliging(int):
    """A whole number whose products are 0."""

    def __mul__(self, _):
        return 0

    __rmul__ = __mul__


class Boasting(ExactCertificate):
    """A certificate that says another gap."""

    gap = Fraction(0)


def test_numbers_and_certificates_of_other_types_are_refused(good):
    forged = replace(good, level=Obliging(2 * good.level_unit))
    with pytest.raises(ValueError, match=r"level: found .* expected a whole number"):
        check_exact(forged)
    with pytest.raises(ValueError, match="certificate: found Boasting, expected an ExactCertificate"):
        check_exact(Boasting(**{f.name: getattr(good, f.name) for f in fields(good)}))


@pytest.mark.parametrize(
    ("name", "value"),
    [("weights", 3), ("above", [0, 0, 1]), ("entries", (1, 2, 3)), ("row_caps", ([0] * 3,) * 3)],
)
def test_what_is_no_tuple_is_refused(good, name, value):
    with pytest.raises(ValueError, match=f"{name}: found .* expected tuples"):
        check_exact(replace(good, **{name: value}))


def test_a_level_of_0_needs_no_multipliers(good):
    bare = replace(good, level=0, above=(0,) * 3, below=(0,) * 3)
    assert check_exact(bare) == good.value
