"""The longer searches hold, can fail, and their record is about what the entries state now."""

import functools
import inspect
import math

import numpy as np
import pytest
from scipy.optimize import linprog

from dpfair_lib.claims.further import both_notions, least_gap, opportunity_change, run
from dpfair_lib.claims.further.run import FURTHER, RECORD, search_further
from dpfair_lib.claims.rooms import CLAIMS
from dpfair_lib.claims.search import Search, Violated
from dpfair_lib.experiments import read_record

PLANTED = [
    (claim_id, name)
    for claim_id, (function, _) in FURTHER.items()
    for name, wrong in CLAIMS[claim_id].faults.items()
    if wrong.keys() <= inspect.signature(function).parameters.keys()
]


@pytest.mark.parametrize("claim_id", FURTHER)
def test_another_seed_fails_nothing(claim_id):
    found = search_further(claim_id, draws=300, seed=7)
    assert found.cases >= 300
    assert found.violation is None


@pytest.mark.parametrize(("claim_id", "name"), PLANTED)
def test_a_planted_fault_of_the_entry_is_found(claim_id, name):
    asked = Search(seed=1, ends_at_a_violation=True)
    with pytest.raises(Violated):
        FURTHER[claim_id].search_on(draws=1000, search=asked, **CLAIMS[claim_id].faults[name])


def test_every_function_that_a_search_examines_is_wrong_in_some_fault():
    for claim_id, (function, _) in FURTHER.items():
        examined = inspect.signature(function).parameters.keys() - {"draws", "search"}
        spoiled = {key for one, name in PLANTED if one == claim_id for key in CLAIMS[one].faults[name]}
        assert examined == spoiled, claim_id


def test_the_record_is_about_the_present_statements_and_long_enough():
    rows, provenance = read_record(RECORD)
    assert list(rows.claim) == list(FURTHER)
    for row in rows.itertuples():
        assert row.statement == CLAIMS[row.claim].statement, f"{row.claim}: say make further"
        assert row.draws == FURTHER[row.claim].draws
        assert row.cases >= 10**5
        assert row.slack + row.tolerance >= 0
    assert provenance["parameters"]["seed"] == run.SEED
    assert "changes" not in provenance["commit"]


def test_a_case_that_fails_is_told_and_nothing_is_recorded(monkeypatch, capsys):
    claim_id = "ours.group-unknown"
    wrong = CLAIMS[claim_id].faults["γ counted twice"]
    search_on = functools.partial(FURTHER[claim_id].search_on, **wrong)
    monkeypatch.setattr(run, "FURTHER", {claim_id: run.Further(search_on, 50)})
    monkeypatch.setattr(
        "dpfair_lib.experiments.recorded_results.write_whole", lambda *_: pytest.fail("recorded")
    )
    assert run.main([claim_id]) == 1
    assert "ours.group-unknown FAILS in 'every corner' at" in capsys.readouterr().out


def test_all_private_tests_are_as_good_as_a_linear_program():
    rng = np.random.default_rng(3)
    for n in (1, 2, 3, 4) * 5:
        odds, delta = math.exp(rng.exponential()), float(rng.choice([0.0, 0.1, 0.3]) * rng.random())
        gains = rng.normal(size=n + 1)
        rows, limits = [], []
        for at in range(n):
            for one, other in ((at, at + 1), (at + 1, at)):
                row = np.zeros(n + 1)
                row[one], row[other] = 1, -odds
                rows += [row, -row]  # of either answer
                limits += [delta, delta + odds - 1]
        solved = linprog(gains, np.array(rows), limits, bounds=[(0, 1)] * (n + 1))
        found = least_gap._least(gains[None], *least_gap._private_tests(n, odds, delta))[0]
        assert found == pytest.approx(solved.fun, abs=1e-9)


def test_bands_cost_what_linear_programs_say():
    rng = np.random.default_rng(4)
    for _ in range(20):
        parts = 12
        rates, selected = rng.integers(1, parts, size=(2, 3))
        weights, gap = rng.integers(1, 5, size=3), int(rng.integers(0, 5))
        costs, unit = opportunity_change._of_bands(parts, rates, selected, weights, gap)
        t, s = rates / parts, selected / parts
        moved = np.hstack([np.diag(1 - t), -np.diag(t), -np.ones((3, 1))])  # q₀, 1 − q₁, the lower end
        solved = linprog(
            [*(weights * (1 - s)), *(weights * s), 0],
            np.vstack([moved, -moved]),
            np.concatenate([gap / parts - t, t]),
            bounds=[(0, 1)] * 7,
        )
        assert costs.min() / unit == pytest.approx(solved.fun, abs=1e-9)


def test_many_random_classifiers_come_close_to_the_bound():
    """Else the search of both notions would say little."""
    rng, close = np.random.default_rng(5), 0
    for _ in range(400):
        base = np.sort(rng.random(3))
        true, false = np.array(both_notions._rates(base, rng)) / both_notions.PARTS
        selected = base * true + (1 - base) * false
        bounds = both_notions.largest_informativeness(
            base.tolist(), float(np.ptp(selected)), float(max(np.ptp(true), np.ptp(false)))
        )
        close += bounds[0] < 1 and abs(true - false)[0] > 0.8 * bounds[0]
    assert close > 60
