"""What the ledger says in words about section 4 of CGKM is what its checks found."""

import math

from dpfair_lib.claims import claim, judge
from dpfair_lib.compat.learner_accuracy import printed_sample_size, sample_size
from dpfair_lib.compat.learner_law import printed_delta


def test_numbers_of_the_findings_are_those_of_the_checks():
    facts = judge(claim("cgkm.thm-2.sample-size")).evidence.facts
    times = facts["printed n over ours with δ = 10⁻⁶, in these cases"]
    assert f"in the cases tried at {times} times" in claim("cgkm.thm-2.sample-size").finding
    assert printed_sample_size((0.25, 0.25), 2, 0.1, 0.05, 0.01) > 70 * sample_size(
        (0.25, 0.25), 2, 0.1, 0.05, 0.01, 1e-6
    )  # "and more for a small ε"
    facts = judge(claim("cgkm.thm-2.privacy")).evidence.facts
    needed = facts["δ needed at 2ε, n = 400, ε = 1, two positives in each group"]
    assert f"δ = {needed:.2f} at 2ε instead of 2·10⁻⁹" in claim("cgkm.thm-2.privacy").finding
    assert round(printed_delta(400) * 1e9) == 2


def test_constants_of_the_findings():
    assert "0.39·ρ²n" in claim("cgkm.lemma-3").finding
    assert "0.098·ρ²n" in claim("cgkm.lemma-1").finding
    # 1 − e^(−x/2) is concave in x = ρ², so on [0, 1] at least its chord; half of ρ leaves a quarter of the exponent
    assert 1 - math.exp(-1 / 2) >= 0.39
    assert (1 - math.exp(-1 / 2)) / 4 >= 0.098
