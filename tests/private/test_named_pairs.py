"""The pair that a statement names, for tight totals, is no weaker than the statement's own numbers."""

import dataclasses
import math

import mpmath
import pytest
from cases import cases, statement_of
from checks import caught
from test_calibration import gaussian_ratio

from dpfair_lib.privacy import Mechanism, PrivacyStatement, total_epsilon

SECURE = [case for case in cases() if case.secure and case.relation not in (None, "local")]


def check_pair(statement: PrivacyStatement, kind: str = "analytic") -> None:
    """Raise unless the named releases, together, are at least as easy to tell apart as the statement says.

    ``kind`` is the calibration of Gaussian noise, of which the classical one is more than enough.
    """
    if len(statement.parts) > 1:  # a sum: each by itself, and all of them
        named: tuple[Mechanism, ...] = ()
        for part in statement.parts:
            if part.mechanism:
                check_pair(part)
            if (
                part.epsilon or part.delta
            ):  # a part that names none counts by its numbers, one that costs nothing not
                named += part.mechanism or (Mechanism("stated", part.epsilon, part.delta),)
        assert statement.mechanism == named
        return
    kinds = {one.kind for one in statement.mechanism}
    if kinds <= {"laplace", "stated"} and statement.delta == 0:
        # the largest losses add up
        assert math.fsum(one.ratio * one.steps for one in statement.mechanism) >= statement.epsilon * (
            1 - 1e-12
        )
    elif kinds == {"gaussian"}:
        with mpmath.workdps(40):
            distance = mpmath.sqrt(sum(mpmath.mpf(one.ratio) ** 2 * one.steps for one in statement.mechanism))
            assert distance * gaussian_ratio(statement.epsilon, statement.delta, kind) >= 1 - 1e-9
    else:
        assert total_epsilon(statement.mechanism, statement.delta) >= statement.epsilon * (1 - 2e-3)
        assert {one.relation for one in statement.mechanism} <= {statement.relation}


NAMED = [case for case in SECURE if statement_of(case.release(case.data())).mechanism]


def test_statements_that_name_a_pair():
    rooms = {"rates", "odds", "constants", "output", "secure"}
    assert {case.name.split()[0] for case in NAMED} >= rooms


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_the_pair_is_no_weaker_than_the_numbers(case):
    statement = statement_of(case.release(case.data()))
    kind = "classical" if "classical" in case.name else "analytic"
    check_pair(statement, kind)
    for part in statement.parts or (statement,):
        weaker = tuple(dataclasses.replace(one, ratio=0.9 * one.ratio) for one in part.mechanism)
        assert not weaker or caught(check_pair, dataclasses.replace(part, mechanism=weaker), kind)
