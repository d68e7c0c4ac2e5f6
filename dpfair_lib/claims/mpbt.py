"""Entries of the ledger: mpbt."""

from dpfair_lib.claims.ledger import Claim, Erratum

CLAIMS: tuple[Claim, ...] = ()

ERRATA: tuple[Erratum, ...] = ()
