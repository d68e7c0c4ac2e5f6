"""ISIT, Tables X–XIII: accountant GDP."""

from __future__ import annotations

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.shared.recomputed.printed_means import FAULTS, check_of

CLAIM = Claim(
    id="isit.tables-10-13",
    where="ISIT Tables X–XIII, App. B",
    statement="GDP: Algorithm 2 has accuracy 0.7796, 0.7804 and gap 0.0081, 0.0060 on Adult "
    "(ε′ = 3, 9), 0.7863, 0.7915 and 0.0062, 0.0063 on Credit; "
    "DP-FERMI at like accuracy 0.0152 to 0.0215.",
    verdict="not-reproduced",
    finding="Of the printed numbers "
    "4 of 8 of Algorithm 2 and 27 of 40 of DP-FERMI lie within the spread of our hundred "
    "trials. The ε′ of these rows comes from an accountant that reports too little.",
    headline="Of the printed numbers 31 of 48 come out again; the GDP accountant behind them reports too small an ε.",
    kind="digits",
    impact="conclusion",
    because="The tables compare at equal privacy, but DP-FERMI as run misses its stated δ by four orders of magnitude.",
    shown_by="fermi_delta",
    chapter="isit-tables",
    statement_uses=("isit.alg-2", "isit.noise-multipliers"),
    check=check_of("GDP"),
    faults=FAULTS,
)
