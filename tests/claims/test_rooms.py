import importlib
import re
from pathlib import Path

import pytest

from dpfair_lib.claims import CLAIMS
from dpfair_lib.claims.ledger import SOURCES
from dpfair_lib.claims.rooms import module_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("source", SOURCES)
def test_each_claim_has_a_module_of_its_name_and_each_module_a_place_in_the_order(source):
    room = importlib.import_module(f"dpfair_lib.claims.{source}")
    found = {path.stem for path in Path(room.__file__).parent.glob("*.py")} - {"__init__"}
    claimed = {module_of(f"{source}.{name}").rpartition(".")[2] for name in room.ORDER}
    assert len(claimed) == len(room.ORDER), "two ids have one module"
    for name in room.ORDER:
        assert CLAIMS[f"{source}.{name}"].id == f"{source}.{name}", "the id in the module is another"
    # the part of a long check is named after its claim
    apart = {stem for stem in found - claimed if not stem.startswith(tuple(f"{own}_" for own in claimed))}
    assert not apart, (
        f"not in ORDER of dpfair_lib/claims/{source}/__init__.py, and no part of a claim: {apart}"
    )


def test_no_claim_s_module_imports_another_s():
    """What two claims need stands in ``claims/shared``; the parts of a long check are named after its claim."""
    rooms = "|".join(SOURCES)
    for path in sorted((ROOT / "dpfair_lib" / "claims").glob("*/*.py")):
        text = path.read_text(encoding="utf-8")
        for room, name in re.findall(
            rf"^\s*from dpfair_lib\.claims\.({rooms})(?:\.(\w+))? import", text, re.M
        ):
            own = room == path.parent.name and name.startswith(f"{path.stem}_")
            assert own, f"{path}: move what it takes from {room}.{name} to claims/shared"
