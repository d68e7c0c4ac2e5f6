import numpy as np

from dpfair_lib.learners.linear import seeds


def test_a_generator_gives_as_many_words_as_a_seed_can_hold():
    for source in (np.random.default_rng(0), np.random.RandomState(0)):
        (first,), (second,) = seeds(source, 1), seeds(source, 1)
        assert len(first.entropy) == len(second.entropy) == 4
        assert first.entropy != second.entropy
