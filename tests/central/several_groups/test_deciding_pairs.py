"""The knots between which the midpoint lies: which two may be the middle ones."""

import numpy as np

from dpfair_lib.central.several_groups import deciding_pairs


def test_all_pairs_that_may_decide_are_found():
    assert deciding_pairs.knots_that_may_decide([(0.1, 0.2), (0.3, 0.4), (0.5, 0.6), (0.7, 0.8)], 0.0) == [
        ((1, 0), (2, 0))
    ]
    # two of four may be either
    found = deciding_pairs.knots_that_may_decide([(0.1, 0.2), (0.3, 0.5), (0.4, 0.6), (0.7, 0.8)], 0.0)
    assert set(found) == {((1, 0), (2, 0)), ((2, 0), (1, 0))}
    # one group, three far apart: both of its knots
    assert ((1, 1), (1, 0)) in deciding_pairs.knots_that_may_decide([(0.1, 0.2), (0.4, 0.5), (0.8, 0.9)], 0.1)


def test_the_middle_two_of_drawn_rates_are_among_them():
    rng = np.random.default_rng(0)
    for _ in range(300):
        gamma = float(rng.choice([0.0, 0.1, 0.4]))
        k = int(rng.choice([2, 4, 6])) if gamma == 0 else int(rng.integers(2, 7))
        levels = np.sort(rng.random((k, 2)), axis=1)
        known = deciding_pairs.knots_that_may_decide([(low, high) for low, high in levels.tolist()], gamma)
        for x in rng.uniform(levels[:, 0], levels[:, 1], (20, k)):
            knots = sorted(
                (x[group] - kind * gamma, group, kind)
                for group in range(k) for kind in range(2 if gamma else 1)
            )  # fmt: skip
            low, high = (one[1:] for one in knots[len(knots) // 2 - 1 : len(knots) // 2 + 1])
            assert (low, high) in known
