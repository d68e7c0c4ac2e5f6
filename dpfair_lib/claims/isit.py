"""Entries of the ledger: isit."""

from dpfair_lib.claims.ledger import Claim, Erratum

CLAIMS: tuple[Claim, ...] = ()

ERRATA: tuple[Erratum, ...] = ()
