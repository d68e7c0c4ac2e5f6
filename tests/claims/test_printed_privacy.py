"""The table of published runs: each bound against another way to it, and verdicts that can go wrong."""

import math

import pytest

from dpfair_lib.claims.papers import NAMES
from dpfair_lib.claims.printed_privacy import PublishedRun, published_runs, rounded, table
from dpfair_lib.experiments.mpbt.bounded_impact import BOUND
from dpfair_lib.experiments.mpbt.bounded_impact_records import cut_n
from dpfair_lib.experiments.mpbt.bounded_impact_summary import (
    equal_records_move,
    guaranteed_epsilon,
    pair_epsilon,
)
from dpfair_lib.privacy import gaussian_epsilon, prv_interval


@pytest.fixture(scope="module")
def runs():
    return published_runs()


def test_every_run_is_there_once(runs):
    assert len(runs) == 12 * 2 + 4 * 2 + 2 * 2
    assert len({(run.run, run.relation, run.seen) for run in runs}) == len(runs)
    assert all(0 < run.least <= run.most for run in runs)


def test_algorithm_2_agrees_with_another_accountant(runs):
    run = next(run for run in runs if run.run == "Algorithm 2, Adult, ε′ = 3, PRV")
    other = prv_interval(3.13 / 1.5, 1 / 23, 1150, 1e-5, epsilon_error=0.05)
    assert other.lower - 0.02 <= run.least <= run.most - 0.1 <= other.upper + 0.02
    assert run.kept == "no"


def test_a_replaced_record_costs_more(runs):
    pairs = {}
    for run in runs:
        if run.run.startswith("Algorithm 2"):
            pairs.setdefault(run.run, {})[run.relation] = run.least
    assert len(pairs) == 12
    for least in pairs.values():
        assert least["one record replaced"] > 1.5 * least["one record added or removed"]


def test_dp_fermi_hides_no_record(runs):
    for run in runs:
        if run.run.startswith("DP-FERMI"):
            assert run.kept == "no"
            if run.seen == "all weights":  # half the distance gives a quarter of ε, or more
                assert run.most / 5 < run.least


def test_table_1_is_bounded_by_a_decisive_label_and_by_the_reach_of_a_minimiser(runs):
    found = {run.run: run for run in runs if run.paper == "mpbt"}
    assert [run.kept for run in found.values()] == ["no", "no", "yes", "yes"]
    for data, name in (("celeba", "CelebA"), ("acs-income", "ACSIncome")):
        run, n = found[f"Table 1, {name}, as run"], cut_n(data)
        assert run.least > pair_epsilon(BOUND[data], n, equal_records_move(BOUND[data], n, n**-2.0))
        assert run.most < guaranteed_epsilon(BOUND[data], n, n**-2.0)
        assert run.most < 4.1 * run.least


def test_verdicts_follow_from_the_bounds():
    def kept(least, most):
        return PublishedRun("isit", "", "", "", 1.0, least, most, "").kept

    assert (kept(0.5, 1.0), kept(1.0, 2.0), kept(1.1, 2.0), kept(0.5, math.inf)) == (
        "yes",
        "not known",
        "no",
        "not known",
    )


@pytest.mark.parametrize(
    ("value", "down", "up"),
    [(3.2221, "3.22", "3.23"), (0.8606, "0.860", "0.861"), (776.66, "776", "777"), (1626.2, "1,620", "1,630"),
     (1.1301e19, "1.13·10¹⁹", "1.14·10¹⁹"), (math.inf, "∞", "∞"), (2.0, "2.00", "2.00")],
)  # fmt: skip
def test_bounds_are_rounded_outwards(value, down, up):
    assert rounded(value, math.floor) == down
    assert rounded(value, math.ceil) == up


def test_the_table_names_the_paper(runs):
    shown = table(runs, NAMES)
    assert set(shown["paper"]) == {"ISIT", "MPBT"}
    assert shown.loc[0, "at most"] == rounded(runs[0].most, math.ceil)


def test_the_rates_are_in_the_bound_from_above(runs):
    """At full batches the training would be one Gaussian release; with the rates it costs their two ε more."""
    run = next(run for run in runs if run.run == "Algorithm 2, Credit, ε′ = 3, PRV")
    assert 0.2 < run.most - run.least < 0.21
    assert gaussian_epsilon(1e-5, 4.44 / 1.5, math.sqrt(50 * 15)) > run.most
