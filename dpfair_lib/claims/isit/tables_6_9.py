"""ISIT, Tables VI–IX: accountant moments."""

from __future__ import annotations

from dpfair_lib.claims.ledger import Claim
from dpfair_lib.claims.shared.recomputed.printed_means import FAULTS, check_of

CLAIM = Claim(
    id="isit.tables-6-9",
    where="ISIT Tables VI–IX, App. B",
    statement="Moments: Algorithm 2 has accuracy 0.7752, 0.7782 and gap 0.0057, 0.0054 on Adult "
    "(ε′ = 3, 9), 0.7842, 0.7908 and 0.0041, 0.0071 on Credit; "
    "DP-FERMI at like accuracy 0.0121 to 0.0193.",
    verdict="not-reproduced",
    finding="Of the printed numbers "
    "7 of 8 of Algorithm 2 and 27 of 40 of DP-FERMI lie within the spread of our hundred "
    "trials. DP-FERMI's are those of Tables II–V again, but for one λ in VI and one in IX.",
    headline="Of the printed numbers 34 of 48 come out again; DP-FERMI as run has δ of at least 0.32, not 1e-5.",
    kind="digits",
    impact="conclusion",
    because="The tables compare at equal privacy, but DP-FERMI as run misses its stated δ by four orders of magnitude.",
    shown_by="fermi_delta",
    chapter="isit-tables",
    statement_uses=("isit.alg-2", "isit.noise-multipliers"),
    check=check_of("moments"),
    faults=FAULTS,
)
