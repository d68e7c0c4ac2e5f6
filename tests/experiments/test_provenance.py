import functools

from dpfair_lib.experiments import provenance
from dpfair_lib.experiments.code_digest import reached_digest
from dpfair_lib.experiments.provenance import LIBRARY, code, code_of
from dpfair_lib.experiments.sk.private_svms import run_trial
from dpfair_lib.experiments.sources import on_data


def test_functions_of_the_library_have_digests_of_their_own():
    assert len({code(), code_of(run_trial), code_of(on_data)}) == 3
    assert code_of(functools.partial(on_data, run_trial)) == reached_digest(
        ["dpfair_lib.experiments.sources", "dpfair_lib.experiments.sk.private_svms"], LIBRARY
    )
    assert provenance.code_of(lambda **task: [task]) not in {code_of(run_trial), code_of(on_data)}
