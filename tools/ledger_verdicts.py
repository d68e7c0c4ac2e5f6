"""Every check of the ledger as a test: its entry's verdict stands. The faults are planted elsewhere."""

import pytest

from dpfair_lib.claims import CLAIMS, judge


@pytest.mark.parametrize("name", [name for name, claim in CLAIMS.items() if claim.check])
def test_verdict_stands(name):
    """The check, run now, finds what is recorded."""
    assert judge(CLAIMS[name], fresh=True).status == CLAIMS[name].verdict
