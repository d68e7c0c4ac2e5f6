import itertools
from fractions import Fraction

import pytest

from dpfair_lib.claims.shared.populations.exchange_fronts import front
from dpfair_lib.local.exchange import (
    exchange_gap,
    exchange_optima,
    exchange_order,
    only_exchanges_optimal,
)


def test_five_people_by_hand():
    # one person of group 0, label 0; of the four of group 1 three have label 1, or all: exchange one for one
    first = exchange_optima((1, 4), (0, 3))
    assert first == [(1, Fraction(3, 4)), (Fraction(3, 5), Fraction(1, 2))]
    second = exchange_optima((1, 4), (0, 4))
    assert second == [(1, 1), (Fraction(3, 5), Fraction(1, 4))]
    share, accuracy = Fraction(1, 5), Fraction(3, 5)
    assert [exchange_gap(difference, accuracy, share) for difference in (Fraction(3, 4), 1)] == [
        Fraction(1, 2),
        Fraction(1, 4),
    ]
    assert not exchange_order(Fraction(3, 4), 1, accuracy, share)
    assert exchange_order(Fraction(3, 4), Fraction(3, 4), accuracy, share)


def test_a_tie_is_not_gone_beyond():
    # two people a group, Δ′ = ½: one exchange turns the gap round and leaves it as large
    assert exchange_optima((2, 2), (0, 1)) == [(1, Fraction(1, 2))]
    assert exchange_optima((2, 2), (1, 1)) == [(1, 0)]


def test_equal_sizes_and_equally_many_labels_keep_the_order():
    for n_0, n_1 in itertools.product(range(1, 6), repeat=2):
        labels = itertools.product(range(n_0 + 1), range(n_1 + 1))
        for p, q in itertools.permutations(labels, 2):
            one, other = exchange_optima((n_0, n_1), p), exchange_optima((n_0, n_1), q)
            if sum(p) == sum(q) and one[0][1] <= other[0][1]:
                assert all(g <= h for (acc, g), (same, h) in itertools.product(one, other) if acc == same)


SEEN = [[[1, 0], [0, 0]], [[0, 1], [0, 0]], [[0, 0], [1, 0]], [[0, 0], [0, 2]]]
LABELS_ONLY = [[[1, 0], [1, 0]], [[0, 0], [0, 1]]]
REVEALED = [[[1, 0], [0, 0]], [[0, 1], [0, 1]], [[1, 0], [1, 0]], [[0, 0], [0, 1]]]
NOISY = [[[0, 0], [2, 1]], [[2, 1], [0, 0]]]
BALANCED = [[[0, 0], [2, 1]], [[1, 2], [0, 0]], [[0, 0], [0, 9]], [[9, 0], [0, 0]]]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [(SEEN, True), (LABELS_ONLY, False), (REVEALED, True), (NOISY, False), (BALANCED, True)],
    ids=["group and label seen", "label seen", "label seen, group for some", "noisy", "noisy but balanced"],
)
def test_where_only_exchanges_are_optimal(cells, expected):
    assert only_exchanges_optimal(cells) is expected
    found = front(cells)
    assert all(map(found.on_the_equation, found.optima())) is expected
    # groups and labels have no names
    assert only_exchanges_optimal([cell[::-1] for cell in cells]) is expected
    assert only_exchanges_optimal([[row[::-1] for row in cell] for cell in cells]) is expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: exchange_optima((0, 2), (0, 1)), "positives: found 0 of 0"),
        (lambda: exchange_optima((1, 2), (2, 1)), "positives: found 2 of 1"),
        (
            lambda: exchange_order(1, Fraction(1, 2), 1, Fraction(1, 2)),
            "difference: found 1, expected at most",
        ),
        (lambda: only_exchanges_optimal([[1, 0], [0, 1]]), "cells: found shape"),
        (lambda: only_exchanges_optimal([[[1, 0], [0, 0]]]), "cells: found an empty cell or group"),
    ],
)
def test_bad_input(call, message):
    with pytest.raises(ValueError, match=message):
        call()
