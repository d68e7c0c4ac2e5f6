"""Entries of the ledger: sk."""

from dpfair_lib.claims.ledger import Claim, Erratum

CLAIMS: tuple[Claim, ...] = ()

ERRATA: tuple[Erratum, ...] = ()
