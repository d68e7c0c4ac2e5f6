"""The secure path is the secure sampler, seen where it is called: its law, its scale, what it is handed, how often."""


import pytest
from cases import cases
from checks import check_secure

CASES = [case for case in cases() if case.asked is not None]
LOCAL = [case for case in cases() if case.local]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_released_number_is_one_answer_of_the_sampler(case):
    check_secure(case, case.data())


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_the_sampler_is_asked_is_right_on_adversarial_data_too(case):
    if case.through is None:
        pytest.fail("nothing")
    for first, second in list(case.pairs().values())[::4]:
        check_secure(case, first)
        check_secure(case, second)
