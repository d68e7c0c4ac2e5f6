import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from notion_sets import SETS, SHARES, distribution

from dpfair_lib.fairness.joint_notions import NOTIONS, best_accuracy
from dpfair_lib.fairness.joint_notions_search import best_accuracy_by_lp, enumerate_classifiers


@given(SHARES, st.data())
def test_no_linear_program_finds_more(weights, data):
    share, base = distribution(weights, data)
    for notions in SETS:
        found = best_accuracy_by_lp(share, base, notions)
        assert found == pytest.approx(float(best_accuracy(share, base, notions)), abs=1e-9)


def test_enumeration_finds_no_more_and_attains_every_bound():
    for notions, seen in zip(SETS, enumerate_classifiers(10, SETS), strict=True):
        assert seen.slack == 0, notions
        assert 0 < seen.attained <= seen.cases, notions


def spread(base):
    return np.ptp(base, axis=-1)


FAULTS = [
    (("parity",), "the larger share", lambda share, base: 1 - share.max(axis=-1) * spread(base)),
    (("parity",), "shares left out", lambda _, base: 1 - spread(base) / 2),
    (("parity", "opportunity"), "shares left out", lambda _, base: 1 - spread(base)),
    (
        ("parity", "opportunity"),
        "the constant left out",
        lambda share, base: 1 - base.max(axis=-1) + (share * base).sum(axis=-1),
    ),
    (("parity", "accuracy"), "a factor 1/2 dropped", lambda _, base: 1 - spread(base)),
    (
        ("parity", "opportunity", "false-positives"),
        "one constant only",
        lambda share, base: (share * base).sum(axis=-1),
    ),
    (("parity", "opportunity", "accuracy"), "the mean", lambda _, base: 1 - base.mean(axis=-1) / 2),
    (NOTIONS, "worse than a coin", lambda _, base: 0.45 + 0 * base[..., 0]),
]


@pytest.mark.parametrize(("notions", "fault", "wrong"), FAULTS)
def test_enumeration_rejects_wrong_bounds(notions, fault, wrong):
    (seen,) = enumerate_classifiers(10, [notions], bound=lambda share, base, _: wrong(share, base))
    assert seen.slack != 0, fault


def test_slack_in_the_gaps_buys_accuracy_and_at_last_all_of_it():
    share, base, notions = [0.4, 0.6], [0.2, 0.5], ("parity", "opportunity", "false-positives")
    values = [best_accuracy_by_lp(share, base, notions, slack=slack) for slack in (0, 0.1, 0.2, 0.3)]
    assert values == sorted(values)
    assert values[0] == pytest.approx(best_accuracy(share, base, notions))
    assert values[-1] == pytest.approx(1)  # the perfect classifier has a parity gap of 0.3
    assert values[1] < 1
