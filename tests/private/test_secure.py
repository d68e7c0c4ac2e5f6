"""The secure path is the secure sampler, seen where it is called: its law, its scale, what it is handed, how often.

No generator of NumPy or of Python draws anything beside it. A learner that draws for itself, after the release, is let
draw how many of its classifiers select a cell, and nothing else.
"""

import random

import numpy as np
import pytest
from cases import cases
from checks import check_secure, check_system
from watching import shifted

ASKING = [case for case in cases() if case.asked is not None]
LOCAL = [case for case in cases() if case.local]
SAMPLERS = [case for case in ASKING if case.relation is None]


@pytest.mark.parametrize("case", ASKING, ids=str)
def test_the_sampler_is_asked_for_every_released_number_at_the_scale_of_the_statement(case):
    check_secure(case, case.data())
    for first, second in list(case.pairs().values())[::5]:
        check_secure(case, first)
        check_secure(case, second)


@pytest.mark.parametrize("by", [-30, 30])
@pytest.mark.parametrize("case", ASKING, ids=str)
def test_what_it_is_asked_next_rests_on_its_answer_however_rare_that_is(case, by):
    # a noisy count that is capped by the exact one is that count wherever the noise is large: one-sided and rare
    check_secure(case, case.data(), shifted(by))


@pytest.mark.parametrize("case", LOCAL, ids=str)
def test_reports_are_made_of_the_operating_systems_words(case):
    check_system(case, {"values": np.arange(60) % 3})


@pytest.mark.parametrize("case", [*SAMPLERS, *LOCAL[:3]], ids=str)
def test_no_seed_makes_a_secure_draw_repeat(case):
    seen = []
    data = {"scores": np.zeros(50)} if "choice" in case.name else case.data()
    for _ in range(2):
        np.random.seed(7)  # noqa: NPY002
        random.seed(7)
        seen.append(np.concatenate([case.numbers(case.release(data)) for _ in range(40)]))
    # 40 choices among 50 alike, 200 numbers with noise, 480 reports: equal with a probability below 1e-50
    assert (seen[0] != seen[1]).any()
