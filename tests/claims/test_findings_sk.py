"""What the ledger says in words about SK is what its checks found."""

import pytest

from dpfair_lib.claims import claim, judge


@pytest.fixture(scope="module")
def facts():
    names = ("sk.alg-1-privacy", "sk.linf-bound", "sk.scaling", "sk.comparison", "sk.sentences")
    return {name: judge(claim(name)).evidence.facts for name in names}


def test_the_leak_of_the_attribute(facts):
    found = facts["sk.alg-1-privacy"]["attribute_160"]
    assert f"δ ≥ {found:.3f} at m = 160" in claim("sk.alg-1-privacy").finding


def test_the_leak_of_the_attribute_with_slack(facts):
    found = facts["sk.alg-1-privacy"]
    times = found["times_lemma"]
    assert f"with the lemma's slack, δ ≥ ½ at {times}ε, m = 4000" in claim("sk.alg-1-privacy").finding
    least = found["slack_lemma"]
    assert 0.999 < least < found["slack_generic"] < 1


def test_the_audit_proves_more_than_was_promised(facts):
    # the audit is asked at ε = 1
    lower, exact = (facts["sk.alg-1-privacy"][name] for name in ("iris_audit", "iris_exact"))
    assert 1 < lower <= exact


def test_the_sum_of_two_tails(facts):
    found = facts["sk.linf-bound"]
    assert 1 < found["both_tails"] < 2
    assert found["sum_of_tails"] < 1
    assert "their sum fails with less than β" in claim("sk.linf-bound").finding


def test_the_unit_of_the_features(facts):
    small, large = (facts["sk.scaling"][f"flip_{unit}"] for unit in ("millionths", "millions"))
    assert small == pytest.approx(0.5, abs=1e-4)
    assert large == 0
    assert "997 of 1000 records flip with probability near ½" in claim("sk.scaling").finding


def test_the_proved_bound_can_be_below_the_generic_one(facts):
    found = facts["sk.comparison"]
    assert found["proved_bound"] < found["generic_bound"] < found["printed_bound"]
    headline = claim("sk.comparison").headline
    assert f"{found['proved_bound']:.5f} against {found['generic_bound']:.5f}" in headline


def test_the_shift_of_the_gap(facts):
    finding = claim("sk.sentences").finding
    for data in ("adult", "compas"):
        found = facts["sk.sentences"][f"shift_{data}_01"]
        mean, half = (float(number) for number in found.partition(" (")[0].split(" ± "))
        assert abs(mean) < half
        assert f"{mean:+.3f} ± {half:.3f}".replace("-", "−") in finding
