"""Longer searches of theorems of our own, by random cases, run by hand: ``make further``.

The ledger's check of such an entry enumerates small universes within seconds. Each module here draws larger cases, and
judges what the entry states by another computation. `dpfair_lib.claims.further.run` records what was found.
"""
