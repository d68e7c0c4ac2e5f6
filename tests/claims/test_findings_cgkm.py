"""What the ledger says in words about section 4 of CGKM is what its checks found."""

import itertools
import math
from fractions import Fraction

from dpfair_lib.claims import claim, judge
from dpfair_lib.compatibility.impossibility.acceptable import hypothesis_grid
from dpfair_lib.compatibility.impossibility.opposites import usable_within
from dpfair_lib.compatibility.private_learner.accuracy_bounds import printed_sample_size, sample_size
from dpfair_lib.compatibility.private_learner.choice_law import printed_delta


def test_numbers_of_the_findings_are_those_of_the_checks():
    facts = judge(claim("cgkm.thm-2.sample-size")).evidence.facts
    times = facts["times_ours"]
    assert f"in the cases tried at {times} times" in claim("cgkm.thm-2.sample-size").finding
    assert printed_sample_size((0.25, 0.25), 2, 0.1, 0.05, 0.01) > 70 * sample_size(
        (0.25, 0.25), 2, 0.1, 0.05, 0.01, 1e-6
    )  # "and more for a small ε"
    facts = judge(claim("cgkm.thm-2.privacy")).evidence.facts
    needed = facts["delta_needed"]
    assert f"δ = {needed:.2f} at 2ε instead of 2·10⁻⁹" in claim("cgkm.thm-2.privacy").finding
    assert round(printed_delta(400) * 1e9) == 2


def test_constants_of_the_findings():
    assert "0.39·ρ²n" in claim("cgkm.lemma-3").finding
    assert "0.098·ρ²n" in claim("cgkm.lemma-1").finding
    # 1 − e^(−x/2) is concave in x = ρ², so on [0, 1] at least its chord; half of ρ leaves a quarter of the exponent
    assert 1 - math.exp(-1 / 2) >= 0.39
    assert (1 - math.exp(-1 / 2)) / 4 >= 0.098


def test_rounds_of_lemma_4():
    facts, finding = judge(claim("cgkm.lemma-4")).evidence.facts, claim("cgkm.lemma-4").finding
    assert f"from T = {facts['fails_afresh']} on" in finding
    assert f"(from {facts['fails_played']}, if" in finding
    # the plays are made from the noisy losses, and could tell less
    once = facts["fails_once"]
    assert f"from T = {once} if the noisy losses are seen" in finding


def test_leak_of_the_printed_dynamics():
    facts, finding = judge(claim("cgkm.fairnr-privacy")).evidence.facts, claim("cgkm.fairnr-privacy").finding
    assert f"into ε = {facts['epsilon_mixture']:.0f} for the mixture ĥ" in finding
    assert f"into δ = {facts['delta_one_draw']} at ε = 1 for one draw" in finding


def test_size_of_theorem_3():
    facts, finding = judge(claim("cgkm.thm-3")).evidence.facts, claim("cgkm.thm-3").finding
    fact = facts["size_and_calls"]
    assert fact.startswith("1e+25")
    assert "10²⁵ for α = 0.1, ε = 1, δ = 10⁻⁶, d = c₀ = 1" in finding


def test_the_chain_that_the_errata_turn_round():
    """After Lemma 2: what β has to exceed, step by step, in fractions; m = max(a, b)."""
    grid = [Fraction(i, 7) ** 2 for i in range(8)]
    falls = set()
    for size, a, b, delta in itertools.product((1, 2, 30), grid, grid, grid):
        m = max(a, b)
        first, second, last = size * (18 * a + b) + delta, 19 * size * m + delta, 20 * max(size * m, delta)
        assert first <= second <= last
        printed = size * (19 * m + delta)
        # as printed each of these is at least the next
        falls |= {step for step, holds in enumerate((first >= printed, printed >= last)) if not holds}
        falls |= {2} if printed > last else set()  # δ inside the bracket: nor would ≤ be right
    assert falls == {0, 1, 2}
    for bound, step in itertools.product(grid[1:], grid[1:]):
        # a larger sensitivity, a larger exponential
        assert math.exp(-1 / bound) <= math.exp(-1 / (bound + step))
    said = [one.printed for one in claim("cgkm.thm-2.sample-size").errata]
    assert any("≥ |H|(19·max(a, b) + δ) ≥ 20|H|·max(a, b, δ/|H|)" in printed for printed in said)


def test_all_three_at_no_delta_below_1():
    outcome = judge(claim("cgkm.remarks"))
    facts, finding = outcome.evidence.facts, claim("cgkm.remarks").finding
    assert facts["classes_refused"] > 247
    assert "for no δ < 1 once two deterministic h in H" in finding
    h = hypothesis_grid(2)
    counted = [int(usable_within(h, alpha).sum()) for alpha in (0, Fraction(1, 10))]
    # of 16: not constant and somebody in each group; not constant and not the group or its complement
    assert counted == [3 * 3 - 1, 16 - 2 - 2]
