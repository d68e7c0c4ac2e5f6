import math

import pytest

from dpfair_lib.central.decoupled import decoupled_statement
from dpfair_lib.privacy import PrivacyStatement, convert

ADD_REMOVE = [PrivacyStatement(1.0, 1e-5, "add-remove"), PrivacyStatement(2.0, 1e-6, "add-remove")]
WITHIN = [PrivacyStatement(e, 0.0, "replace-within-group") for e in (1.0, 2.0)]


def test_groups_apart_cost_the_maximum_where_no_group_changes():
    together = decoupled_statement(ADD_REMOVE, "add-remove")
    assert (together.epsilon, together.delta) == (2.0, 1e-5)
    within = decoupled_statement(WITHIN, "replace-within-group")
    assert (within.epsilon, within.delta) == (2.0, 0.0)


def test_a_changed_group_costs_one_removal_and_one_addition():
    stated = decoupled_statement(ADD_REMOVE, "sensitive-attribute")
    assert stated.epsilon == 3.0
    assert stated.delta == pytest.approx(1.1e-5 - 1e-11, rel=1e-12)
    assert stated.relation == "sensitive-attribute"
    converted = convert(decoupled_statement(ADD_REMOVE, "add-remove"), "sensitive-attribute")
    assert stated.epsilon < converted.epsilon
    assert stated.delta < converted.delta


def test_replace_one_covers_records_that_stay_in_their_group():
    stated = decoupled_statement(ADD_REMOVE, "replace-one")
    assert (stated.epsilon, stated.delta) == (4.0, pytest.approx(1e-5 * (1 + math.exp(2.0))))
    three = [*ADD_REMOVE, PrivacyStatement(2.0, 0.0, "add-remove")]
    assert decoupled_statement(three, "sensitive-attribute").epsilon == 4.0


def test_no_delta_is_rounded_away_and_none_refused_that_suffices():
    tiny = [PrivacyStatement(1.0, 1e-18, "add-remove")] * 2
    assert decoupled_statement(tiny, "sensitive-attribute").delta == pytest.approx(2e-18, rel=1e-12, abs=0)
    large = [PrivacyStatement(12.0, 1e-5, "add-remove")] * 2  # (1 + e^12)δ is above 1, and is not needed here
    assert decoupled_statement(large, "sensitive-attribute").epsilon == 24.0
    with pytest.raises(ValueError, match="delta >= 1"):
        decoupled_statement(large, "replace-one")


def test_the_reason_for_no_guarantee_is_kept():
    seeded = [PrivacyStatement(1.0, 1e-5, "add-remove", guarantee=False, note="seeded noise")] * 2
    stated = decoupled_statement(seeded, "sensitive-attribute")
    assert not stated.guarantee
    assert stated.note.count("seeded noise") == 1


@pytest.mark.parametrize("to", ["add-remove", "replace-one", "sensitive-attribute", "local"])
def test_a_promise_within_groups_says_nothing_about_the_group(to):
    with pytest.raises(ValueError, match="implies nothing"):
        decoupled_statement(WITHIN, to)


def test_bad_input_is_named():
    with pytest.raises(ValueError, match="statements: found 1"):
        decoupled_statement(ADD_REMOVE[:1], "add-remove")
    with pytest.raises(ValueError, match="statements: found one under 'local'"):
        decoupled_statement([PrivacyStatement(1.0, 0.0, "local")] * 2, "replace-one")
    with pytest.raises(ValueError, match="to: found 'local'"):
        decoupled_statement(ADD_REMOVE, "local")
    with pytest.raises(ValueError, match="to: found 'group'"):
        decoupled_statement(ADD_REMOVE, "group")
