import dataclasses
import functools
import json
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib.claims import CLAIMS, Claim, judge
from dpfair_lib.claims import claim as entry
from dpfair_lib.claims.ledger import NOT_EXAMINED
from dpfair_lib.claims.report import as_row, as_table, layers, plain, plain_number


@functools.cache
def outcome_of(claim_id):
    return judge(CLAIMS[claim_id], faults=True)


def test_dependencies_are_entered_and_free_of_circles():
    assert set(layers(CLAIMS.values())) == set(CLAIMS)
    loop = [
        Claim("isit.a", "here", "a", statement_uses=("isit.b",)),
        Claim("isit.b", "here", "b", proof_uses=("isit.a",)),
    ]
    with pytest.raises(ValueError, match=r"circle isit\.a → isit\.b → isit\.a"):
        layers(loop)
    with pytest.raises(ValueError, match=r"isit\.a: depends on 'isit\.b'"):
        layers(loop[:1])


def test_rows_and_tables():
    unexamined = judge(Claim("isit.y", "here", "something"))
    row = as_row(unexamined)
    assert set(row) >= {
        "id", "source", "where", "statement", "verdict", "finding", "status", "slack", "cases", "witness",
        "depends_on", "chapter", "universe", "facts", "faults",
    }  # fmt: skip
    assert row["verdict"] == row["status"] == NOT_EXAMINED
    two = [outcome_of("isit.alg-1"), outcome_of("isit.prop-4.utility")]
    planted = len(entry("isit.prop-4.utility").faults)
    shown = as_row(two[0])
    assert shown["facts"] == plain(two[0].evidence.facts) != {}
    assert shown["universe"] == two[0].evidence.universe
    assert {name: run["caught"] for name, run in shown["faults"].items()} == dict.fromkeys(
        two[0].faults, True
    )
    table = as_table([*two, unexamined])
    assert "\n1 claim: 1 corrected" in as_table(two[:1])
    assert "3 claims: 1 corrected, 1 holds, 1 not yet examined" in table
    own = judge(Claim("ours.y", "A chapter, Result 1", "something"))
    assert (
        "\n3 claims: 1 corrected, 1 holds, 1 not yet examined\n1 theorem of our own: 1 not yet examined"
    ) in as_table([*two, unexamined, own])
    assert as_table([own, own]).endswith("\n\n2 theorems of our own: 2 not yet examined")
    assert f"{planted} of {planted}" in table
    assert "seconds" not in table
    assert "stored 0123abcd" in as_table(
        [dataclasses.replace(two[0], stored_under="0123abcd" * 8)], times=True
    )


def test_json_holds_whatever_a_witness_holds():
    witness = {
        "a": float("inf"),
        "b": Fraction(1, 3),
        "c": {2},
        "d": 1 + 2j,
        "e": np.float64("nan"),
        "f": (True, None),
    }
    text = json.dumps(plain(witness), allow_nan=False)
    assert json.loads(text)["b"] == "1/3"
    assert plain_number(Fraction(-1, 10**400)) == str(Fraction(-1, 10**400))
    assert plain_number(10**400) == str(10**400)
    assert plain_number(float("-inf")) == "-inf"
    assert plain_number(Fraction(-1, 4)) == -0.25
