"""The ledger: every claim of the five documents with its verdict, its check, and its planted faults.

Each source has a room (`isit`, `thesis`, `cgkm`, `mpbt`, `sk`), and each claim a module there, named as its id. A sixth
room, `ours`, holds theorems that the book states itself; no count of the papers' claims includes them.
"""

from dpfair_lib.claims.judging import judge, judge_all
from dpfair_lib.claims.ledger import Claim, Erratum, Outcome
from dpfair_lib.claims.rooms import CLAIMS, claim
from dpfair_lib.claims.search import Evidence, Search

__all__ = ["CLAIMS", "Claim", "Erratum", "Evidence", "Outcome", "Search", "claim", "judge", "judge_all"]
