"""What badges say of the proofs is what the map and the record say."""

from pathlib import Path

from dpfair_lib.claims import CLAIMS
from dpfair_lib.claims.proof_tables import axioms_of, read_proofs
from dpfair_lib.claims.proved import PROVED

MAPPED, RECORD = read_proofs(Path(__file__).parents[2])


def test_every_marked_claim_is_in_the_map_with_its_file_and_axioms():
    said = {
        entry["claim"]: (entry["file"], len(entry["theorem"]), bool(axioms_of(entry, RECORD)))
        for entry in MAPPED["entry"]
    }
    assert said == PROVED
    assert set(said) <= set(CLAIMS)


def test_only_what_speaks_of_real_numbers_rests_on_axioms():
    assert {claim for claim, (_, _, reals) in PROVED.items() if reals} == {
        "cgkm.laplace", "cgkm.alg-1", "sk.alg-1-privacy", "thesis.open-2",
    }  # fmt: skip
