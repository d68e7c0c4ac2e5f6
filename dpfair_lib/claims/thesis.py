"""Entries of the ledger: thesis."""

from dpfair_lib.claims.ledger import Claim, Erratum

CLAIMS: tuple[Claim, ...] = ()

ERRATA: tuple[Erratum, ...] = ()
