"""Bounds from a private survey hold as often as they say, and shrink."""

import re

import numpy as np
import pytest

from dpfair_lib.local import generalized_randomized_response, survey_bounds
from dpfair_lib.local.robust import survey

CELLS = np.array([[0.4, 0.1], [0.15, 0.15], [0.12, 0.08]])


def counts(people, rng, epsilon=1.0):
    matrix = np.asarray(generalized_randomized_response(3, epsilon).matrix)
    return rng.multinomial(people, (matrix.T @ CELLS).ravel()).reshape(3, 2)


def test_the_law_is_within_the_bounds():
    rng = np.random.default_rng(1)
    inside = [survey_bounds(counts(2000, rng), 1.0, 0.2).contains(CELLS) for _ in range(300)]
    assert sum(inside) >= 300 * 0.8 - 4 * (300 * 0.2 * 0.8) ** 0.5


def test_the_failure_is_shared_out_among_all_intervals(monkeypatch):
    levels = []
    usual = survey.rate_interval

    def interval(*given, level):
        levels.append((np.size(given[0]), level))
        return usual(*given, level=level)

    monkeypatch.setattr(survey, "rate_interval", interval)
    survey_bounds(counts(2000, np.random.default_rng(0)), 1.0, 0.14)
    assert sum(size for size, _ in levels) == 7  # six shares of reports, and P(Y = 1)
    assert sum(size * (1 - level) for size, level in levels) == pytest.approx(0.14, rel=1e-12)


def test_reports_as_expected_give_the_cells_back():
    matrix = np.asarray(generalized_randomized_response(3, 1.0).matrix)
    table = np.rint(matrix.T @ CELLS * 10**9).astype(int)
    laws = survey_bounds(table, 1.0, 0.05)
    assert (laws.low + laws.high) / 2 == pytest.approx(CELLS, abs=1e-4)
    assert (laws.high - laws.low).max() < 2e-3
    wrong = survey_bounds(table, 1.1, 0.05)  # another ε than the one that was used
    assert not wrong.contains(CELLS)


def test_more_people_less_privacy_and_a_larger_risk_shrink_the_bounds():
    def width(people, epsilon, failure):
        matrix = np.asarray(generalized_randomized_response(3, epsilon).matrix)
        table = np.rint(matrix.T @ CELLS * people).astype(int)
        laws = survey_bounds(table, epsilon, failure)
        return (laws.high - laws.low).max()

    assert width(10**6, 1.0, 0.05) < width(10**5, 1.0, 0.05)
    assert width(10**6, 2.0, 0.05) < width(10**6, 1.0, 0.05)
    assert width(10**6, 1.0, 0.2) < width(10**6, 1.0, 0.05)


@pytest.mark.parametrize(
    ("table", "change", "said"),
    [
        ([[10, 5]], {}, "found shape (1, 2)"),
        ([[10, 5], [3, -1]], {}, "no counts"),
        ([[10.0, 5.0], [3.0, 1.0]], {}, "no counts"),
        ([[10, 0], [3, 0]], {}, "nobody with one of the labels"),
        ([[10, 5], [3, 1]], {"epsilon": 0.0}, "epsilon: found 0.0"),
        ([[10, 5], [3, 1]], {"failure": 1.0}, "failure: found 1.0"),
    ],
)
def test_what_is_no_survey_is_refused(table, change, said):
    with pytest.raises(ValueError, match=re.escape(said)):
        survey_bounds(table, **{"epsilon": 1.0, "failure": 0.05} | change)
