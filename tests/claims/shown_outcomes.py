"""Outcomes to show on pages, of entries whose checks are not run."""

import dataclasses
from fractions import Fraction

from dpfair_lib.claims import Claim
from dpfair_lib.claims.evidence import Evidence
from dpfair_lib.claims.ledger import FaultRun, Outcome
from dpfair_lib.claims.papers import STATEMENTS


def outcome(claim_id, kind, impact="none", **evidence):
    """An outcome whose kind needs nothing: its run could not be made."""
    found = Evidence(1, slack=0, not_run="", **evidence)
    entry = Claim(claim_id, "ISIT Thm 1", "x_i ≤ y", verdict=found.finding, check=lambda: found, headline="It <fails>.",
                  chapter="isit-prop-1", impact=impact, because="So.", shown_by="size")  # fmt: skip
    return Outcome(dataclasses.replace(entry, kind=kind), found)


def every_statement():
    """Outcomes that let every numbered statement hold."""
    ids = [claim_id for named in STATEMENTS.values() for of in named.values() for claim_id in of]
    return [outcome(claim_id, "as-printed") for claim_id in ids]


def theorem(claim_id):
    """The outcome of a theorem of our own, whose three faults were caught."""
    found = Evidence(1234, slack=0, needed=(("the factor x_2", Fraction(-1, 3)),))
    entry = Claim(claim_id, "A chapter, Result 2", "y_i ≤ z", verdict="holds", check=lambda: found, kind="theorem",
                  headline="Less is <enough>.", finding="Not sharp.", chapter="composition")  # fmt: skip
    faults = {name: FaultRun(True, "here") for name in "abc"}
    return Outcome(entry, found, faults)


OURS = theorem("ours.a")
HOLDS = outcome("isit.a", "as-printed")
FAILS = outcome(
    "isit.b", "replaced", "conclusion", counterexample={"epsilon": Fraction(1, 2)}, printed_slack=Fraction(-1, 3),
    readings={"as printed": True}, facts={"size": 12345}, says={"size": "the size"},
)  # fmt: skip
