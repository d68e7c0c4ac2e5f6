"""What the ledger says in words about Table 1 and the sentences of MPBT is what the checks found."""

import re

import pytest

from dpfair_lib.claims import claim, judge
from dpfair_lib.experiments.printed import printed_bounds


def short(number, digits):
    return f"{float(number):.{digits}f}".removeprefix("0")


@pytest.fixture(scope="module")
def table():
    return judge(claim("mpbt.table-1")).evidence.facts


def test_numbers_of_the_statement_are_printed():
    expected = [
        short(value, 4) for data in ("celeba", "acs-income") for value in printed_bounds(data)[1].values()
    ]
    assert re.findall(r"\.\d{4}", claim("mpbt.table-1").statement) == expected


def test_bounds_and_epsilon_of_the_finding_are_those_of_the_check(table):
    finding = claim("mpbt.table-1").finding
    bounds = table["celeba_as_stated_bounds"].split(", ")
    assert ", ".join(short(value, 3) for value in bounds) in finding
    assert f"ε is at least {table['celeba_as_run_record_epsilon']}" in finding


def test_sentences_have_the_factors_that_are_said():
    facts, finding = judge(claim("mpbt.sentences")).evidence.facts, claim("mpbt.sentences").finding
    factors = [
        float(number)
        for name, text in facts.items()
        if name.endswith("not_improvable")
        for number in re.findall(r"factors ([\d.]+) to ([\d.]+)", text)[0]
    ]
    assert f"{min(factors):.0f} to {max(factors):.0f} times" in re.sub(r"\s+", " ", finding)
    assert "0.317" in finding
    assert "largest 0.3170" in facts["celeba_as_stated_largest_bound"]
