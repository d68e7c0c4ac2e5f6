import math
import os
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from dpfair_lib import Randomizer
from dpfair_lib.local import generalized_randomized_response, subset_selection, words
from dpfair_lib.privacy.rounding import log_above

SKEW = Randomizer([[0.7, 0.2, 0.1], [0.25, 0.5, 0.25], [0.1, 0.1, 0.8]])


def within(count, n, probability, failure=1e-7):
    interval = binomtest(int(count), n).proportion_ci(1 - failure, "exact")
    return interval.low <= probability <= interval.high


@pytest.mark.parametrize("k", [1, 2, 3, 7])
def test_whole_numbers_of_the_system_are_uniform_and_in_range(k):
    found = words.below(k, 40_000, None)
    assert set(found.tolist()) == set(range(k))
    assert all(within((found == i).sum(), 40_000, 1 / k) for i in range(k))
    high = words.words(20_000, 5, None)
    assert (high.min(), high.max()) == (0, 31)


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize(
    ("draw", "values"),
    [
        (lambda n, source: words.below(5, n, source), 5),
        (lambda n, source: words.words(n, 2, source), 4),
        (lambda n, source: words.words32(n, source) >> 30, 4),
    ],
    ids=["below", "words", "words32"],
)
def test_every_person_has_a_word_of_their_own(draw, values, seed):
    found = draw(20_001, None if seed is None else np.random.default_rng(seed))
    assert found.shape == (20_001,)
    # whether two neighbours have the same word: as often as two independent ones
    assert within((found[:-1:2] == found[1::2]).sum(), 10_000, 1 / values)


@pytest.mark.parametrize("seed", [None, 0])
@pytest.mark.parametrize(
    "channel",
    [
        generalized_randomized_response(3, 0.7),
        SKEW,
        subset_selection(5, 1.0, size=2),
        subset_selection(40, 1.0, size=3),
    ],
    ids=["response", "any", "table of sets", "sets one by one"],
)
def test_reports_of_different_people_are_independent(channel, seed):
    """People of one value: two of them report the same as often as independent draws do, and no one coin serves all."""
    n, value = 40_000, 1
    reports = channel.apply(np.full(n, value), None if seed is None else np.random.default_rng(seed))
    if reports.ndim == 1:
        alike, chance = reports[::2] == reports[1::2], (channel.matrix[value] ** 2).sum()
        assert within(alike.sum(), n // 2, float(chance))
        return
    held = reports[:, :4]  # bit by bit: of the own value, and of three others
    for bit in held.T:
        rate = bit.mean()
        alike = (bit[::2] == bit[1::2]).mean()
        assert abs(alike - (rate**2 + (1 - rate) ** 2)) < 6 * math.sqrt(0.25 / (n // 2))


def test_words_that_are_left_over_are_drawn_again(monkeypatch):
    # 2³² = 3·1431655765 + 1: the last word alone is left over for the bound 3
    bytes_ = [np.array([2**32 - 1, 5, 2**32 - 1], np.uint32), np.array([2**32 - 1, 7], np.uint32),
              np.array([2**32 - 2], np.uint32)]  # fmt: skip
    monkeypatch.setattr(os, "urandom", lambda n: bytes_.pop(0).tobytes()[:n])
    assert words.below(3, 3, None).tolist() == [(2**32 - 2) % 3, 2, 1]
    assert not bytes_


@pytest.mark.parametrize(
    "channel", [generalized_randomized_response(3, 0.7), SKEW, Randomizer(SKEW.matrix[:, [2, 0, 1]])]
)
def test_secure_reports_follow_the_law(channel):
    n = 60_000
    values = np.repeat(np.arange(3, dtype=np.int8), n)
    reports = channel.apply(values).reshape(3, n)
    law = channel.realized().matrix.astype(float)
    assert all(within((reports[i] == j).sum(), n, law[i, j]) for i in range(3) for j in range(3))


@pytest.mark.parametrize("k", [4, 40])
def test_secure_sets_follow_the_law_with_and_without_a_table(k):
    sets, n = subset_selection(k, 1.0, size=k // 4 + 1), 30_000
    assert sets._tabled == (k == 4)
    reports = sets.apply(np.full(n, 2))
    assert (reports.sum(axis=1) == sets.size).all()
    ratio = sets.realized_ratio
    held = float(sets.size * ratio / (sets.size * ratio + k - sets.size))
    assert within(reports[:, 2].sum(), n, held)
    assert within(reports[:, 1].sum(), n, (sets.size - held) / (k - 1))


def test_the_system_is_asked_for_every_report(monkeypatch):
    asked = []
    system = os.urandom
    monkeypatch.setattr(os, "urandom", lambda n: asked.append(n) or system(n))
    for channel in (generalized_randomized_response(5, 1.0), SKEW, subset_selection(3, 0.1)):
        asked.clear()
        channel.apply(np.zeros(1000, np.int8))
        assert sum(asked) >= 4 * 1000
        asked.clear()
        channel.apply(np.zeros(1000, np.int8), np.random.default_rng(0))
        assert not asked


@given(st.integers(1, 2**62), st.integers(0, 2**62))
def test_the_logarithm_is_never_below_the_true_one(low, more):
    ratio = 1 + Fraction(more, low)
    with mpmath.workprec(300):
        true = mpmath.log1p(mpmath.mpf(more) / low)
        found = mpmath.mpf(log_above(ratio))
        assert true <= found
        assert found <= true * (1 + mpmath.mpf(2) ** -49) + mpmath.mpf(2) ** -1060


@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 21.0, 50.0])
@pytest.mark.parametrize("k", [2, 5, 100])
def test_the_stated_level_is_that_of_the_law_drawn_and_not_above_the_one_asked_for(k, epsilon):
    for channel in (generalized_randomized_response(k, epsilon), subset_selection(k, epsilon)):
        stated = channel.privacy_statement().epsilon
        ratio = (
            channel.realized_ratio
            if hasattr(channel, "realized_ratio")
            else channel.realized().likelihood_ratio
        )
        with mpmath.workprec(200):
            true = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
            assert true <= stated <= true + 1e-13
        assert stated <= epsilon * (1 + 1e-15)
        # what rounding cost: the weights are whole numbers of 2^(−32)
        assert epsilon > 21 or stated >= epsilon - 1e-4


def test_a_general_channel_states_the_level_of_its_rounded_entries():
    drawn = SKEW.realized()
    stated = SKEW.privacy_statement(attribute="race").epsilon
    assert stated >= drawn.epsilon
    assert stated == pytest.approx(math.log(8), rel=1e-14)
    assert abs(drawn.matrix - [[Fraction(x) for x in row] for row in SKEW.matrix]).max() < Fraction(1, 2**53)


REALIZED = {
    "response": lambda epsilon: generalized_randomized_response(5, epsilon),
    "sets from a table": lambda epsilon: subset_selection(5, epsilon, size=2),
    "sets one by one": lambda epsilon: subset_selection(16, epsilon, size=5),
    "full sets": lambda epsilon: subset_selection(3, epsilon, size=3),
    "any channel": lambda epsilon: Randomizer(generalized_randomized_response(3, min(epsilon, 500.0)).matrix),
}


@pytest.mark.parametrize(
    ("kind", "epsilon"),
    [
        (kind, epsilon)
        for kind in REALIZED
        for epsilon in (0.0, 1e-6, 1.0, 21.0, 40.0, 600.0, math.inf)
        if kind != "sets one by one" or epsilon in (1.0, 40.0)  # 70,000 fractions
    ],
)
def test_the_channel_that_is_said_to_be_drawn_from_has_the_level_that_is_stated(kind, epsilon):
    """Every kind of channel that draws in a way of its own says of itself from which law."""
    channel = REALIZED[kind](epsilon)
    drawn = channel.realized()
    assert drawn.exact
    assert drawn.matrix.shape == channel.matrix.shape
    assert (drawn.matrix.sum(axis=1) == 1).all()
    ratio = drawn.likelihood_ratio
    assert (log_above(ratio) if ratio < math.inf else ratio) == channel.realized_epsilon
    assert abs(drawn.matrix.astype(float) - channel.matrix).max() < 2.0**-19
    law = getattr(channel, "_law", None)
    if law is not None and channel.realized_epsilon < math.inf and ratio > 1:
        assert ratio == Fraction(law.high, law.low)  # what `draw` takes words by


def test_every_kind_of_channel_is_looked_at():
    found = [Randomizer]
    for kind in found:
        found.extend(kind.__subclasses__())
    own = {kind for kind in found if kind.__module__.startswith("dpfair_lib.")}
    assert {type(make(1.0)) for make in REALIZED.values()} == own
    assert not REALIZED["sets one by one"](1.0)._tabled
    assert REALIZED["sets from a table"](1.0)._tabled


def test_a_channel_whose_rows_nearly_add_up_states_the_level_of_what_is_drawn():
    # rows may miss 1 by 1e-9; the likeliest report makes up for it, and the level of what is drawn is another one
    rng, above = np.random.default_rng(0), 0
    for _ in range(40):
        rows = rng.dirichlet(np.ones(3), size=3)
        channel = Randomizer(rows * (1 + rng.uniform(-9e-10, 9e-10, size=(3, 1))))
        ratio = max(max(column) / min(column) for column in channel.realized().matrix.T.tolist())
        with mpmath.workprec(200):
            true = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
            assert true <= channel.privacy_statement().epsilon <= true * (1 + mpmath.mpf(2) ** -49)
            above += channel.epsilon < true
    assert above >= 5  # planted: the level of the matrix as it was given is too small


def test_the_statement_says_what_is_protected_and_from_whom():
    statement = generalized_randomized_response(5, 1.0).privacy_statement(attribute="race")
    assert (statement.relation, statement.delta, statement.guarantee) == ("local", 0.0, True)
    for words_ in (
        "one report of race",
        "its collector included",
        "adds its own epsilon",
        "where the rest tells race",
    ):
        assert words_ in statement.note
    study = generalized_randomized_response(5, 1.0).privacy_statement(noise="study")
    assert not study.guarantee
    assert "protects no real data" in study.note
    sure = generalized_randomized_response(5, math.inf).privacy_statement()
    assert not sure.guarantee
    assert math.isinf(sure.epsilon)
    assert generalized_randomized_response(1, 1.0).privacy_statement().epsilon < 1e-300
    with pytest.raises(ValueError, match="attribute: found ''"):
        SKEW.privacy_statement(attribute="")
    with pytest.raises(ValueError, match="noise: found 'none'"):
        SKEW.privacy_statement(noise="none")
