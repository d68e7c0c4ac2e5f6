import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest

from dpfair_lib.fairness import gap_interval, gap_interval_from_rows, mean_odds_interval, rate_interval

CHANCES = np.linspace(0, 1, 21)


@given(st.integers(1, 300), st.data(), st.sampled_from([0.8, 0.95, 0.99]))
def test_clopper_pearson_is_scipys(n, data, level):
    k = data.draw(st.integers(0, n))
    expected = binomtest(k, n).proportion_ci(level, method="exact")
    (low,), (high,) = rate_interval(k, n, level=level)
    assert (low, high) == pytest.approx((expected.low, expected.high), abs=1e-9)


@pytest.mark.parametrize("method", ["clopper-pearson", "chernoff"])
@pytest.mark.parametrize("n", [1, 2, 7, 30])
def test_rate_is_covered_with_the_stated_probability(method, n):
    k = np.arange(n + 1)
    low, high = rate_interval(k, n, level=0.9, method=method)
    for p in CHANCES:
        assert binom.pmf(k, n, p)[(low <= p) & (p <= high)].sum() >= 0.9 - 1e-12


def test_chernoff_is_wider_and_takes_probabilities():
    for k in range(21):
        exact, bound = rate_interval(k, 20), rate_interval(k, 20, method="chernoff")
        assert bound[0] <= exact[0]
        assert exact[1] <= bound[1]
    low, high = rate_interval(7.25, 20, method="chernoff")
    assert low < 7.25 / 20 < high


def test_chernoff_ends_are_where_the_bound_is_spent():
    low, high = rate_interval([0, 5, 20], 20, level=0.9, method="chernoff")
    spent = np.log(20) / 20
    assert low[0] == 0
    assert high[2] == 1
    assert -np.log1p(-high[0]) == pytest.approx(spent)
    assert -np.log(low[2]) == pytest.approx(spent)
    for p in (low[1], high[1]):
        assert 0.25 * np.log(0.25 / p) + 0.75 * np.log(0.75 / (1 - p)) == pytest.approx(spent)


@pytest.mark.parametrize("sizes", [(5, 8), (3, 4, 6)])
def test_gap_is_covered_with_the_stated_probability(sizes):
    supports = [np.arange(n + 1) for n in sizes]
    counts = np.stack(np.meshgrid(*supports, indexing="ij"), axis=-1)
    low, high = gap_interval(counts, sizes, level=0.8)
    for chances in itertools.product(CHANCES[::2], repeat=len(sizes)):
        law = np.ones(())
        for k, n, p in zip(supports, sizes, chances, strict=True):
            law = np.multiply.outer(law, binom.pmf(k, n, p))
        gap = max(chances) - min(chances)
        assert law[(low <= gap + 1e-12) & (gap - 1e-12 <= high)].sum() >= 0.8


def test_mean_odds_is_covered_with_the_stated_probability():
    sizes = (4, 3, 3, 4)  # label 0 in both groups, then label 1
    supports = [np.arange(n + 1) for n in sizes]
    counts = np.stack(np.meshgrid(*supports, indexing="ij"), axis=-1).reshape(5, 4, 4, 5, 2, 2)
    low, high = mean_odds_interval(counts, np.reshape(sizes, (2, 2)), level=0.8)
    for chances in itertools.product(CHANCES[::5], repeat=4):
        law = np.ones(())
        for k, n, p in zip(supports, sizes, chances, strict=True):
            law = np.multiply.outer(law, binom.pmf(k, n, p))
        truth = (abs(chances[0] - chances[1]) + abs(chances[2] - chances[3])) / 2
        assert law[(low <= truth + 1e-12) & (truth - 1e-12 <= high)].sum() >= 0.8


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(9, 12)), min_size=1, max_size=4))
def test_gap_interval_is_the_range_over_the_box(cells):
    k, n = np.array(cells).T
    low, high = rate_interval(k, n, level=0.95 ** (1 / len(cells)))
    box = list(itertools.product(*zip(low, high, strict=True)))
    most = max(max(rates) - min(rates) for rates in box)
    least = max(0.0, low.max() - high.min())
    found = gap_interval(k, n)
    assert found == (pytest.approx(least, abs=1e-12), pytest.approx(most, abs=1e-12))
    assert found[0] <= (k / n).max() - (k / n).min() <= found[1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: rate_interval(1, 0), "counts: found a cell without rows"),
        (lambda: rate_interval(1, 2.5), "counts: .*not whole"),
        (lambda: rate_interval(3, 2), r"positives: found a number outside \[0, count\]"),
        (lambda: rate_interval(np.nan, 2), "positives: found a number outside"),
        (lambda: rate_interval(0.5, 2), "positives: found sums that are not whole"),
        (lambda: rate_interval(1, 2, level=1), "level: found 1, expected"),
        (lambda: rate_interval(1, 2, method="wald"), "method: found 'wald'"),
        (lambda: gap_interval([1, 1], [2, 0]), "counts: found a cell without rows"),
        (lambda: gap_interval([1, 1], [2, 2], level=0.0), r"level: found 0\.0, expected"),
        (lambda: mean_odds_interval([1, 1], [2, 2]), r"positives: found shape \(2,\)"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def small_rows(seed=0, n=60, k=3):
    rng = np.random.default_rng(seed)
    y, pred, groups = rng.integers(0, 2, size=n), rng.integers(0, 2, size=n), np.arange(n) % k
    y[: 2 * k] = np.repeat([0, 1], k)
    return y, pred, groups


def test_intervals_from_rows_are_those_of_their_counts():
    y, pred, groups = small_rows()

    def counts(values, of=None):
        mine = [(groups == group) & (True if of is None else y == of) for group in range(3)]
        return [values[cell].sum() for cell in mine], [cell.sum() for cell in mine]

    both = [counts(pred, label) for label in (0, 1)]
    expected = {
        "demographic_parity": gap_interval(*counts(pred), level=0.9),
        "equal_opportunity": gap_interval(*both[1], level=0.9),
        "accuracy_parity": gap_interval(*counts((pred == y).astype(int)), level=0.9),
        "mean_equalized_odds": mean_odds_interval(
            [both[0][0], both[1][0]], [both[0][1], both[1][1]], level=0.9
        ),
        "equalized_odds": tuple(
            max(ends) for ends in zip(*(gap_interval(*one, level=0.9**0.5) for one in both), strict=True)
        ),
    }
    for notion, (low, high) in expected.items():
        found = gap_interval_from_rows(y, pred, sensitive_features=groups, notion=notion, level=0.9)
        assert found == pytest.approx((float(low), float(high)), abs=1e-12), notion
        assert all(type(end) is float for end in found)


def test_the_larger_gap_of_both_labels_is_covered_with_the_stated_probability():
    n, level = 3, 0.7  # in each of four cells
    y, groups = np.repeat([0, 1], 2 * n), np.tile(np.repeat(["a", "b"], n), 2)
    drawn = list(itertools.product(range(n + 1), repeat=4))
    ends = []
    for cells in drawn:
        pred = np.concatenate([np.arange(n) < count for count in cells]).astype(int)
        same = {"sensitive_features": groups, "notion": "equalized_odds", "level": level}
        ends.append(gap_interval_from_rows(y, pred, **same))
    low, high = np.array(ends).T
    for chances in itertools.product([0.0, 0.3, 0.5, 0.9], repeat=4):
        gap = max(abs(chances[0] - chances[1]), abs(chances[2] - chances[3]))
        law = np.ones(1)
        for p in chances:
            law = np.multiply.outer(law, binom.pmf(np.arange(n + 1), n, p)).ravel()
        assert law[(low <= gap) & (gap <= high)].sum() >= level - 1e-12


def test_intervals_from_rows_take_words_columns_and_probabilities():
    y, pred, groups = small_rows(1, k=4)
    words = np.array(["no", "yes"])
    columns = np.column_stack([groups % 2, groups // 2])
    ours = gap_interval_from_rows(
        words[y], words[pred], sensitive_features=columns, notion="equal_opportunity", pos_label="yes"
    )
    assert ours == gap_interval_from_rows(y, pred, sensitive_features=groups, notion="equal_opportunity")
    chances = {"sensitive_features": groups, "method": "chernoff"}
    low, high = gap_interval_from_rows(None, pred / 3 + 0.1, **chances)
    assert 0 <= low < high <= 1
    with pytest.raises(ValueError, match="positives: found sums that are not whole"):
        gap_interval_from_rows(None, pred / 3 + 0.1, sensitive_features=groups)


@pytest.mark.parametrize("notion", ["demographic_parity", "equalized_odds", "mean_equalized_odds"])
def test_intervals_from_rows_refuse_by_name(notion):
    y, pred, groups = small_rows()
    same = {"sensitive_features": groups, "notion": notion}
    for level in (0, 1, 2):
        with pytest.raises(ValueError, match=f"level: found {level}"):
            gap_interval_from_rows(y, pred, **same, level=level)
    with pytest.raises(ValueError, match="method: found 'exact'"):
        gap_interval_from_rows(y, pred, **same, method="exact")
    with pytest.raises(ValueError, match="notion: found 'parity', expected one of"):
        gap_interval_from_rows(y, pred, sensitive_features=groups, notion="parity")
    if notion != "demographic_parity":
        with pytest.raises(ValueError, match="y_true: found None, expected labels"):
            gap_interval_from_rows(None, pred, **same)
        with pytest.raises(ValueError, match="y_true: found no label 1, expected"):
            gap_interval_from_rows(0 * y, pred, **same)
