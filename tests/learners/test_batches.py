import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import binom, chi2, kstest

from dpfair_lib.learners import batches
from dpfair_lib.learners.batches import RECORDS, poisson_batches, system_batches

# Each test below rejects a right sampler with probability at most 1e-6, by exact binomial tails and a union
# bound; the seed being fixed, it either always passes or never.
FAILURE = 1e-6


def draw(n, rate, count, seed=0):
    return list(poisson_batches(n, rate, count, np.random.SeedSequence(seed)))


def inclusion(n, rate, count, seed=0):
    drawn = np.zeros((count, n), dtype=bool)
    for step, rows in enumerate(draw(n, rate, count, seed)):
        drawn[step, rows] = True
    return drawn


def within(successes, trials, chance, tests):
    """Whether all counts lie between the binomial quantiles that a union bound over the tests asks for."""
    low = binom.ppf(FAILURE / (2 * tests), trials, chance)
    high = binom.isf(FAILURE / (2 * tests), trials, chance)
    return bool((low <= np.min(successes)) and (np.max(successes) <= high))


def counts_fit(drawn, rate):
    """Whether counts fit: of all, of each record, of pairs in a batch, and of pairs in steps 2k and 2k + 1."""
    count, n = drawn.shape
    together = (drawn.astype(float).T @ drawn)[np.triu_indices(n, 1)]
    later = drawn[1::2].astype(float).T @ drawn[:-1:2]
    return (
        within(drawn.sum(), drawn.size, rate, 4)
        and within(drawn.sum(axis=0), count, rate, 4 * n)
        and within(together, count, rate**2, 4 * len(together))
        and within(later, count // 2, rate**2, 4 * n * n)
    )


@pytest.mark.parametrize("rate", [0.03, 0.3, 0.9, 0.995])
def test_records_enter_independently_with_the_rate(rate):
    assert counts_fit(inclusion(12, rate, 40_000), rate)


@pytest.mark.parametrize("wrong", ["fixed size", "shuffled", "ends", "carried", "rate"])
def test_other_samplers_are_told_apart(wrong):
    rate, n, count, rng = 0.25, 12, 40_000, np.random.default_rng(1)
    drawn = inclusion(n, rate, count)
    if wrong == "fixed size":
        drawn = rng.permuted(np.tile(np.arange(n) < n * rate, (count, 1)), axis=1)
    elif wrong == "shuffled":  # epochs
        order = np.argsort(rng.random((count // 4, n)), axis=1)
        drawn = (order[:, None, :] // 3 == np.arange(4)[:, None]).reshape(count, n)
    elif wrong == "ends":  # the last record of a step is forgotten now and then
        drawn[::10, -1] = False
    elif wrong == "carried":
        drawn[1::20] = drawn[:-1:20]
    else:
        drawn &= rng.random(drawn.shape) < 0.97
    assert not counts_fit(drawn, rate)


def test_batch_sizes_are_binomial():
    sizes = np.array([len(rows) for rows in draw(500, 0.04, 20_000)])
    grid = np.arange(5, 40)
    observed = np.bincount(np.clip(sizes, 5, 39) - 5, minlength=35)
    chances = binom.pmf(grid, 500, 0.04)
    chances[0], chances[-1] = binom.cdf(5, 500, 0.04), binom.sf(38, 500, 0.04)
    statistic = ((observed - 20_000 * chances) ** 2 / (20_000 * chances)).sum()
    assert statistic < chi2.isf(FAILURE, 34)


def test_places_are_uniform_also_where_draws_are_cut_into_blocks():
    # several blocks of draws in a step, and several steps in a block
    for n, rate, count in ((3 * RECORDS, 0.5, 3), (1000, 0.01, 4 * RECORDS // 10)):
        batches = draw(n, rate, count)
        assert len(batches) == count
        assert all((np.diff(rows) > 0).all() for rows in batches)
        assert all(rows.size == 0 or (rows[0] >= 0 and rows[-1] < n) for rows in batches)
        assert within(sum(map(len, batches)), n * count, rate, 1)
        places = np.concatenate(batches) + np.random.default_rng(0).random(sum(map(len, batches)))
        assert kstest(places / n, "uniform").pvalue > FAILURE


def test_all_rows_at_rate_one_and_none_at_the_least_rates():
    assert [rows.tolist() for rows in draw(3, 1.0, 2)] == [[0, 1, 2]] * 2
    for rate in (1e-12, 1e-300, 5e-324):
        assert [rows.size for rows in draw(1000, rate, 5)] == [0] * 5
    assert draw(4, np.nextafter(1.0, 0.0), 3)[2].tolist() == [0, 1, 2, 3]


def test_one_seed_one_row_of_batches():
    first, again, other, shorter = draw(50, 0.2, 9), draw(50, 0.2, 9), draw(50, 0.2, 9, 1), draw(50, 0.2, 4)
    assert all(np.array_equal(*pair) for pair in zip(first, again, strict=True))
    assert not all(np.array_equal(*pair) for pair in zip(first, other, strict=True))
    assert all(np.array_equal(*pair) for pair in zip(first, shorter, strict=False))


@pytest.mark.parametrize("together", [1, 30, 200])
def test_batches_are_the_same_however_many_are_drawn_together(monkeypatch, together):
    expected = draw(50, 0.1, 300)
    monkeypatch.setattr(batches, "RECORDS", together)
    assert [rows.tolist() for rows in draw(50, 0.1, 300)] == [rows.tolist() for rows in expected]


def coin(words, rate, monkeypatch):
    """Whether a record enters whose 72 bits are given, by the operating system's words."""
    bits = words.to_bytes(9, "big")
    answers = {1: bits[:1], 8: np.array([int.from_bytes(bits[1:], "big")], dtype=np.uint64).tobytes(), 0: b""}
    monkeypatch.setattr(batches.os, "urandom", lambda size: answers[size])
    return len(next(system_batches(1, rate, 1))) == 1


@pytest.mark.parametrize("rate", [0.3, 1 / 256, 0.5, 1e-9, 2.0**-60, 1 - 2.0**-53, 0.034, 1e-300])
def test_a_coin_of_72_bits_is_exact(rate, monkeypatch):
    edge = math.floor(Fraction(rate) * 2**72)
    for words, due in [(0, edge > 0), (edge - 1, True), (edge, False), (edge + 1, False), (2**72 - 1, False)]:
        if words >= 0:
            assert coin(words, rate, monkeypatch) == due
    assert Fraction(edge, 2**72) <= Fraction(rate) < Fraction(edge + 1, 2**72)


def test_coins_of_the_system_are_independent():
    # seeded words in their place, so that the test always gives the same answer
    words = np.random.default_rng(0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches.os, "urandom", words.bytes)
        for rate in (0.3,):
            drawn = np.zeros((40_000, 12), dtype=bool)
            for step, rows in enumerate(system_batches(12, rate, 40_000)):
                assert (np.diff(rows) > 0).all()
                drawn[step, rows] = True
            assert counts_fit(drawn, rate)
            assert not counts_fit(drawn, 0.95 * rate)


def test_all_rows_need_no_coin(monkeypatch):
    monkeypatch.setattr(batches.os, "urandom", lambda _: pytest.fail("words were drawn"))
    assert [batch.tolist() for batch in system_batches(3, 1.0, 2)] == [[0, 1, 2]] * 2


def open_coins(rate, words, monkeypatch, n=12, count=40_000):
    """Draw batches in which the first byte of no record decides, so that its last word does; return who entered."""
    first, rest = divmod(math.floor(Fraction(rate) * 2**72), 2**64)
    monkeypatch.setattr(
        batches.os, "urandom", lambda size: bytes([first]) * size if size == n else words(size)
    )
    drawn = np.zeros((count, n), dtype=bool)
    for step, rows in enumerate(system_batches(n, rate, count)):
        drawn[step, rows] = True
    return drawn, rest / 2**64


@pytest.mark.parametrize("rate", [0.3, 0.001])
def test_coins_that_the_first_byte_leaves_open_are_independent(rate, monkeypatch):
    # one record in 256 is left open, so few that ordinary batches do not show what becomes of them
    drawn, chance = open_coins(rate, np.random.default_rng(0).bytes, monkeypatch)
    assert counts_fit(drawn, chance)


def test_one_last_word_for_all_that_are_open_is_found(monkeypatch):
    # planted: each record enters as often as it should, but those that are open enter together
    words = np.random.default_rng(0)
    drawn, chance = open_coins(0.3, lambda size: words.bytes(8) * (size // 8), monkeypatch)
    assert within(drawn[:, 0].sum(), len(drawn), chance, 1)
    assert not counts_fit(drawn, chance)
