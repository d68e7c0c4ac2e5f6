"""The ledger: one entry per claim of the five documents, its check, and its planted faults.

One file per source holds that source's entries; `checks` has one module per examined claim.
"""

from dpfair_lib.claims import cgkm, isit, mpbt, sk, thesis
from dpfair_lib.claims.judging import judge, judge_all
from dpfair_lib.claims.ledger import Claim, Erratum, Outcome
from dpfair_lib.claims.search import Evidence, Search

__all__ = [
    "CLAIMS",
    "ERRATA",
    "Claim",
    "Erratum",
    "Evidence",
    "Outcome",
    "Search",
    "claim",
    "judge",
    "judge_all",
]

_FILES = (isit, thesis, cgkm, mpbt, sk)
CLAIMS: dict[str, Claim] = {entry.id: entry for file in _FILES for entry in file.CLAIMS}
ERRATA: tuple[Erratum, ...] = tuple(erratum for file in _FILES for erratum in file.ERRATA)


def claim(claim_id: str) -> Claim:
    """Return the entry of that id.

    Raises
    ------
    ValueError
        If the ledger has no such entry.
    """
    try:
        return CLAIMS[claim_id]
    except KeyError:
        near = [known for known in CLAIMS if known.split(".")[0] == claim_id.split(".")[0]]
        raise ValueError(
            f"claim_id: no entry {claim_id!r}; expected one of {', '.join(near or CLAIMS)}"
        ) from None
