"""What the ledger says in words about SK is what its checks found."""

import pytest

from dpfair_lib.claims import claim, judge


@pytest.fixture(scope="module")
def facts():
    names = ("sk.alg-1-privacy", "sk.linf-bound", "sk.scaling", "sk.comparison", "sk.sentences")
    return {name: judge(claim(name)).evidence.facts for name in names}


def test_the_leak_of_the_attribute(facts):
    found = facts["sk.alg-1-privacy"][
        "one A changed, Ŷ without A, e^ε = 2, m = 160: δ at every ε′ is at least"
    ]
    assert f"δ ≥ {found:.3f} at m = 160" in claim("sk.alg-1-privacy").finding


def test_the_leak_of_the_attribute_with_slack(facts):
    found = facts["sk.alg-1-privacy"]
    times = found["slack part 4's, 4L/μ̃, k = m, m = 4000: δ at least ½ up to so many ε"]
    assert f"with the lemma's slack, δ ≥ ½ at {times}ε, m = 4000" in claim("sk.alg-1-privacy").finding
    least = found["slack part 4's, 4L/μ̃, k = m, m = 4000, e^ε = 2: δ at ε at least"]
    assert 0.999 < least < found["slack the generic one, 4ℓ/(μ̃mε), m = 4000, e^ε = 2: δ at ε at least"] < 1


def test_the_audit_proves_more_than_was_promised(facts):
    # the audit is asked at ε = 1
    lower, exact = (
        facts["sk.alg-1-privacy"][name]
        for name in (
            "irises, 42 support vectors, ε = 1 asked: Clopper–Pearson lower bound",
            "the same, exact",
        )
    )
    assert 1 < lower <= exact


def test_the_sum_of_two_tails(facts):
    found = facts["sk.linf-bound"]
    assert 1 < found["if the noise were added: both tails at once fail at most so many β"] < 2
    assert found["their sum fails at most so many β"] < 1
    assert "their sum fails with less than β" in claim("sk.linf-bound").finding


def test_the_unit_of_the_features(facts):
    small, large = (
        facts["sk.scaling"][f"features in [0, {size}], ε = 100, k = 2: P(all positives at 7R/8 flip)"]
        for size in ("1e-06", "1e+06")
    )
    assert small == pytest.approx(0.5, abs=1e-4)
    assert large == 0
    assert "997 of 1000 records flip with probability near ½" in claim("sk.scaling").finding


def test_the_proved_bound_can_be_below_the_generic_one(facts):
    found = facts["sk.comparison"]
    assert (
        found["there the proved SVM bound"]
        < found["there the generic bound"]
        < found["there the printed SVM bound"]
    )


def test_the_shift_of_the_gap(facts):
    finding = claim("sk.sentences").finding
    for data in ("adult", "compas"):
        found = facts["sk.sentences"][f"{data}, ε = 0.1, noise on the support vectors, gap"]
        mean, half = (float(number) for number in found.partition(" (")[0].split(" ± "))
        assert abs(mean) < half
        assert f"{mean:+.3f} ± {half:.3f}".replace("-", "−") in finding
