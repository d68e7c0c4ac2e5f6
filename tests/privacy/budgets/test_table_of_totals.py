"""Which combinations have which total: each row of the table on the page of composition, against exact laws."""

import itertools
import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest
from scipy.integrate import quad
from scipy.stats import norm
from small_releases import (
    QUERIES,
    SPLITS,
    counted,
    on_parts,
    on_parts_by_coins,
    one_after_the_other,
    revealed,
    rising,
)

from dpfair_lib.privacy import RELATIONS, Mechanism, PrivacyStatement, compose, convert
from dpfair_lib.privacy.budgets.adaptive_releases import adaptive_delta
from dpfair_lib.privacy.budgets.filters import make_filter

PAGE = Path(__file__).parents[3] / "notebooks" / "composition.md"
ODDS, FAILS = (Fraction(2), Fraction(3)), (Fraction(1, 20), Fraction(1, 30))
ROUNDING = Fraction(1, 10**13)


def stated(at, relation, fails=FAILS):
    return PrivacyStatement(math.log(ODDS[at]), float(fails[at]), relation)


def holds(total, release, relation):
    """Whether a statement is one of a release; e^ε of a float is rounded, by less than `ROUNDING`."""
    return revealed(release, relation, Fraction(math.exp(total.epsilon))) <= Fraction(total.delta) + ROUNDING


def is_least(total, release, relation):
    """Whether no smaller ε is stated of a pure release."""
    return not holds(replace(total, epsilon=total.epsilon * (1 - 1e-9)), release, relation)


def releases(fails=FAILS):
    """Yield two releases, for all that can be counted."""
    for one, other in itertools.product(QUERIES.values(), repeat=2):
        yield counted(ODDS[0], fails[0], one), counted(ODDS[1], fails[1], other)


def chosen_on_the_way(fails):
    """Yield joint releases of the same rows; the first decides what the second counts."""
    for (first, second), query in itertools.product(releases(fails), QUERIES.values()):
        yield one_after_the_other(first, (second, counted(ODDS[1], fails[1], query)))


def the_same_rows(compose=compose):
    for relation in RELATIONS:
        for fails in ((0, 0), FAILS):
            total = compose(stated(0, relation, fails), stated(1, relation, fails))
            found = list(chosen_on_the_way(fails))[:: 1 if relation == "add-remove" else 5]
            assert all(holds(total, joint, relation) for joint in found)
            assert fails[0] or any(is_least(total, joint, relation) for joint in found)


def parted(split):
    def check(compose=compose):
        for relation in RELATIONS:
            pure = (0, 0)
            joint = (
                on_parts_by_coins
                if split == "coin"
                else lambda one, other: on_parts(one, other, SPLITS[split])
            )
            sound = relation in SOUND[split]
            if not sound:
                with pytest.raises(ValueError, match=f"found a division by {split}"):
                    compose(stated(0, relation), stated(1, relation), parallel=split)
                larger = stated(1, relation, pure)  # the maximum that was refused
                assert not all(holds(larger, joint(*two), relation) for two in releases(pure))
                continue
            for fails in (pure, FAILS):
                parts = stated(0, relation, fails), stated(1, relation, fails)
                total = compose(*parts, parallel=split)
                found = [joint(*two) for two in releases(fails)]
                assert all(holds(total, one, relation) for one in found)
                assert fails[0] or split == "coin" or any(is_least(total, one, relation) for one in found)

    return check


SOUND = {
    "position": {"replace-one", "replace-within-group", "sensitive-attribute", "local"},
    "coin": set(RELATIONS),
    "group": {"add-remove", "replace-within-group"},
    "features": {"add-remove", "sensitive-attribute"},
    "record": {"add-remove"},
}


def converted(given, wanted):
    """Return a check of what a statement under one relation says under others; the first has to be sharp."""

    def check(convert=convert):
        for fails in (
            Fraction(0),
            Fraction(1, 40),
        ):  # so little that "no" of `rising` tells no more than "yes"
            statement = PrivacyStatement(math.log(2), float(fails), given)
            found = [counted(2, fails, query) for query in QUERIES.values()]
            found += [counted(2, fails, both_ways, (-2, 2))] if given == "add-remove" else []
            found += [rising(2, fails, both_ways)] if given == "add-remove" and fails else []
            assert all(holds(statement, release, given) for release in found)
            implied = {to: convert(statement, to) for to in wanted}
            assert all(holds(implied[to], release, to) for release in found for to in wanted)
            sharp = implied[wanted[0]]
            less = replace(sharp, delta=sharp.delta * (1 - 1e-9)) if fails else None
            assert any(
                not holds(less, one, wanted[0]) if less else is_least(sharp, one, wanted[0]) for one in found
            )

    return check


def both_ways(record):
    return 2 * record[1] - 1


# The profile of each pair at every real ε: H = E(1 − e^(ε − L))₊ under the first of the two.
def gaussian(ratio):
    return lambda e: norm.cdf(ratio / 2 - e / ratio) - math.exp(e) * norm.cdf(-ratio / 2 - e / ratio)


def laplace(ratio):
    def profile(e):
        return -math.expm1(min(e, ratio) / 2 - ratio / 2) if e >= -ratio else -math.expm1(e)

    return profile


def batch(ratio, rate):
    """Return the profile of a step on a Poisson batch, when the record is there."""
    inner = gaussian(ratio)

    def profile(e):
        odds = (math.exp(e) - 1 + rate) / rate
        return rate * inner(math.log(odds)) if odds > 0 else -math.expm1(e)

    return profile


def turned(profile):
    """Return the profile of the same pair, exchanged."""
    return lambda e: -math.expm1(e) + math.exp(e) * profile(-e)


def with_stated(profile, epsilon, delta):
    """Return the profile after the worst release of ε and δ: it fails openly, or else is randomised response."""
    up = math.exp(epsilon) / (1 + math.exp(epsilon))
    return lambda e: delta + (1 - delta) * (up * profile(e - epsilon) + (1 - up) * profile(e + epsilon))


def with_laplace(profile, ratio):
    """Return the profile after Laplace noise: its loss is ±ratio, or between with a density."""

    def after(e):
        between = quad(lambda z: math.exp((z - ratio) / 2) / 4 * profile(e - z), -ratio, ratio, epsabs=1e-13)[
            0
        ]
        return profile(e - ratio) / 2 + math.exp(-ratio) / 2 * profile(e + ratio) + between

    return after


GAUSS, NOISE, STEP = Mechanism("gaussian", 0.5), Mechanism("laplace", 0.4), Mechanism(
    "poisson-gaussian", 0.8, rate=0.3, relation="add-remove"
)  # fmt: skip


def nothing(e):
    return max(-math.expm1(e), 0.0)


def _fixed(lists):
    """Return a check of totals against the profiles of lists: enough, and hardly more than enough."""

    def check(compose=compose):
        for mechanisms, profiles in lists:
            parts = [
                PrivacyStatement(1.0, 0.01, "add-remove", mechanism=(m,)) if m.kind != "stated"
                else PrivacyStatement(m.ratio, m.delta, "add-remove")
                for m in mechanisms
            ]  # fmt: skip
            for delta in (0.004, 0.03):
                total = compose(*parts, delta=delta)
                revealed_there = max(profile(total.epsilon) for profile in profiles)
                just_below = max(profile(total.epsilon - 2e-3) for profile in profiles)
                assert total.delta == delta
                assert revealed_there <= delta * (1 + 1e-9)
                assert just_below > delta

    return check


FIXED = {
    "ε and δ known": [
        (
            (Mechanism("stated", 0.3, 0.001), Mechanism("stated", 0.5, 0.002)),
            (with_stated(with_stated(nothing, 0.3, 0.001), 0.5, 0.002),),
        )
    ],
    "Gaussian noise": [
        ((GAUSS, Mechanism("gaussian", 0.25), GAUSS), (gaussian(0.75),)),
    ],
    "Laplace noise": [
        ((NOISE, Mechanism("laplace", 0.7)), (with_laplace(laplace(0.7), 0.4),)),
    ],
    "DP-SGD": [
        ((STEP, Mechanism("stated", 0.4, 0.001)),
         tuple(with_stated(one, 0.4, 0.001) for one in (batch(0.8, 0.3), turned(batch(0.8, 0.3))))),
    ],
    "mixed": [
        ((GAUSS, NOISE), (with_laplace(gaussian(0.5), 0.4),)),
        ((GAUSS, Mechanism("stated", 0.4, 0.001)), (with_stated(gaussian(0.5), 0.4, 0.001),)),
        ((GAUSS, NOISE, Mechanism("stated", 0.2)), (with_stated(with_laplace(gaussian(0.5), 0.4), 0.2, 0.0),)),
    ],
}  # fmt: skip


MENUS = ((1, 0.0), (2, 0.0), (3, 0.0), (4, 0.0)), ((1, 0.0), (2, 0.004), (4, 0.001))
"""Releases that can be chosen: ε in quarters, and how often they fail openly."""


def grown(kind):
    def check(factor=1):
        limit = make_filter(kind, 1.0, 0.2, 0.0 if kind == "sum" else 0.05)
        for menu in MENUS:
            costs = [limit.cost(PrivacyStatement(m / 4, fails, "replace-one")) for m, fails in menu]

            def allowed(counts, costs=costs):
                spent = (
                    sum(n * c[at] for n, c in zip(counts, costs, strict=True))
                    for at in range(len(limit.limits))
                )
                return not limit.excess(tuple(factor * one for one in spent))

            # pure releases whose ε add up to ε reveal nothing beyond it
            promised = 0.0 if kind == "sum" and not any(fails for _, fails in menu) else 0.2
            assert adaptive_delta(menu, 1.0, allowed, unit=0.25, most=9) <= promised + 1e-12

    return check


def what_reads_no_row(compose=compose):
    constant = PrivacyStatement(0.0, 0.0, "add-remove")
    for relation in RELATIONS:
        total = compose(constant, stated(0, relation))
        assert (total.epsilon, total.delta, total.relation) == (math.log(2), float(FAILS[0]), relation)
        for query in QUERIES.values():
            after = counted(2, FAILS[0], query)
            assert holds(total, one_after_the_other(lambda _: {1: Fraction(1)}, (after, after)), relation)


def only_the_larger(*parts, delta=None, **options):
    largest = max(parts, key=lambda part: part.epsilon)
    return (
        compose(largest, delta=delta)
        if delta
        else replace(compose(*parts, **options), epsilon=largest.epsilon)
    )


def without_delta(*parts, **options):
    return replace(compose(*parts, **options), delta=0.0)


def with_the_first_epsilon(*parts, **options):
    return replace(compose(*parts, **options), epsilon=parts[0].epsilon)


def whatever_the_relation(*parts, parallel):
    assert parallel in SOUND
    return replace(parts[1], delta=max(part.delta for part in parts))


def losses_of_gaussians(*parts, delta):
    """Take each release for a Gaussian one of its ratio."""
    others = (m for part in parts for m in part.mechanism or (Mechanism("stated", part.epsilon, part.delta),))
    ratio = math.hypot(*(m.ratio * m.rate for m in others))
    return compose(
        PrivacyStatement(1.0, 0.01, "add-remove", mechanism=(Mechanism("gaussian", ratio),)), delta=delta
    )


def added_ratios(*parts, delta):
    ratio = sum(m.ratio for part in parts for m in part.mechanism)
    return compose(
        PrivacyStatement(1.0, 0.01, "add-remove", mechanism=(Mechanism("gaussian", ratio),)), delta=delta
    )


def the_first_alone(*parts):
    return parts[0]


def with_no_delta(statement, to):
    return replace(statement, relation=to, delta=0.0)


def unchanged(statement, to):
    return replace(statement, relation=to)


def twice_both(statement, to):
    return replace(statement, relation=to, epsilon=2 * statement.epsilon, delta=2 * statement.delta)


def twice_for_nothing(statement, to):
    return replace(statement, relation=to, epsilon=2 * statement.epsilon)


class Row(NamedTuple):
    """What is checked of one row of the table, and wrong totals that the check has to refuse."""

    check: Callable
    faults: tuple


PARTED = (without_delta, with_the_first_epsilon, whatever_the_relation)
ROWS = {
    "same rows": Row(the_same_rows, (only_the_larger, without_delta)),
    "same rows, list fixed, δ given: ε and δ known": Row(
        _fixed(FIXED["ε and δ known"]), (only_the_larger, losses_of_gaussians)),
    "same rows, list fixed, δ given: Gaussian noise": Row(
        _fixed(FIXED["Gaussian noise"]), (only_the_larger, added_ratios)),
    "same rows, list fixed, δ given: Laplace noise": Row(
        _fixed(FIXED["Laplace noise"]), (only_the_larger, losses_of_gaussians)),
    "same rows, list fixed, δ given: DP-SGD": Row(
        _fixed(FIXED["DP-SGD"]), (only_the_larger, losses_of_gaussians)),
    "same rows, list fixed, δ given: mixed": Row(
        _fixed(FIXED["mixed"]), (only_the_larger, losses_of_gaussians)),
    "same rows, each cost chosen by earlier results: sum": Row(
        grown("sum"), (Fraction(3, 5), Fraction(3, 4))),
    "same rows, each cost chosen by earlier results: gaussian": Row(
        grown("gaussian"), (Fraction(2, 5), Fraction(1, 2))),
    "same rows, each cost chosen by earlier results: concentrated": Row(
        grown("concentrated"), (Fraction(1, 4), Fraction(1, 5))),
    "rows parted by position": Row(parted("position"), PARTED),
    "rows parted by coin": Row(parted("coin"), PARTED[:2]),
    "rows parted by group": Row(parted("group"), PARTED),
    "rows parted by features": Row(parted("features"), PARTED),
    "rows parted by record": Row(parted("record"), PARTED),
    "add-remove to another relation": Row(
        converted("add-remove", ("replace-one", "replace-within-group", "sensitive-attribute")),
        (unchanged, twice_both, twice_for_nothing),
    ),
    "replace-one to another relation": Row(
        converted("replace-one", ("replace-within-group", "sensitive-attribute")), (with_no_delta, twice_both),
    ),
    "local to another relation": Row(
        converted("local", ("replace-one", "replace-within-group", "sensitive-attribute")), (with_no_delta, twice_both),
    ),
    "no row is read": Row(what_reads_no_row, (the_first_alone, without_delta)),
}  # fmt: skip


@pytest.mark.parametrize("row", ROWS)
def test_each_total_is_that_of_exact_laws(row):
    ROWS[row].check()


@pytest.mark.parametrize(
    ("row", "at"), [(row, at) for row, one in ROWS.items() for at in range(len(one.faults))]
)
def test_wrong_totals_are_refused(row, at):
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        ROWS[row].check(ROWS[row].faults[at])


def test_the_page_has_these_rows_and_no_others():
    table = re.search(
        r"^\| how the releases were made .*?\n\n", PAGE.read_text(encoding="utf-8"), re.M | re.S
    )[0]
    shown = [line.split("|")[1].strip() for line in table.splitlines()[2:] if line]
    assert shown == list(ROWS)
