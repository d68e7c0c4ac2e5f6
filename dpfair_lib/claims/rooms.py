"""Where the claims are: a room for each source, a module for each claim, imported when it is asked for."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping

from dpfair_lib.claims.ledger import SOURCES, Claim

PACKAGE = __name__.rpartition(".")[0]


class Ledger(Mapping[str, Claim]):
    """The claims by id, in order; a claim's module is imported when the claim is first asked for."""

    def __init__(self) -> None:
        rooms = {source: importlib.import_module(f"{PACKAGE}.{source}") for source in SOURCES}
        self._ids = {f"{source}.{name}": None for source, room in rooms.items() for name in room.ORDER}

    def __getitem__(self, claim_id: str) -> Claim:
        if claim_id not in self._ids:
            raise KeyError(claim_id)
        found: Claim = importlib.import_module(module_of(claim_id)).CLAIM
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self._ids)

    def __len__(self) -> int:
        return len(self._ids)


def module_of(claim_id: str) -> str:
    """Return the dotted name of a claim's module: of ``isit.prop-4.utility`` it ends in ``isit.prop_4_utility``."""
    source, _, name = claim_id.partition(".")
    return f"{PACKAGE}.{source}.{name.replace('.', '_').replace('-', '_')}"


CLAIMS = Ledger()


def in_ledger(claim: Claim) -> bool:
    """Return whether a claim's check and faults are those of the ledger's entry of that id."""
    own = CLAIMS.get(claim.id)
    return own is not None and own.check is claim.check and own.faults is claim.faults


def claim(claim_id: str) -> Claim:
    """Return the entry of that id.

    Raises
    ------
    ValueError
        If the ledger has no such entry.

    Examples
    --------
    >>> from dpfair_lib.claims import claim
    >>> claim("thesis.thm-15").where, claim("thesis.thm-15").kind
    ('thesis Thm 15, § 5.6; proof App. B', 'condition')
    """
    if claim_id not in CLAIMS:
        near = [known for known in CLAIMS if known.split(".")[0] == claim_id.split(".")[0]]
        raise ValueError(f"claim_id: no entry {claim_id!r}; expected one of {', '.join(near or CLAIMS)}")
    return CLAIMS[claim_id]
