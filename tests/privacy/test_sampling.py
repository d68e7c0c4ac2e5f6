import math
import sys

import numpy as np
import pytest
from scipy.stats import binom

from dpfair_lib.privacy import (
    add_discrete_laplace_noise,
    add_gaussian_noise,
    add_laplace_noise,
)
from dpfair_lib.privacy.sampling import add_discrete_gaussian_noise

DRAWS = 40_000
FAILURE = 1e-9  # of each of the tests below, secure noise being drawn afresh at every run


NOISES = [("secure", None), ("study", 0)]


def drawn(add, values, scale, noise, seed):
    return add(values, scale, noise=noise, rng=None if seed is None else np.random.default_rng(seed))


def test_draws_are_independent_of_one_another():
    # neighbouring draws: the sign of each is a fair coin whatever the last one was
    error = add_laplace_noise(np.zeros(DRAWS), 1.0)
    same = int(((error[1:] > 0) == (error[:-1] > 0)).sum())
    low, high = binom.ppf([FAILURE / 2, 1 - FAILURE / 2], DRAWS - 1, 0.5)
    assert low <= same <= high


def test_study_noise_is_reproducible_and_secure_noise_is_not():
    for add in (add_laplace_noise, add_gaussian_noise, add_discrete_laplace_noise):
        one, two = (drawn(add, np.arange(50), 5.0, "study", 1) for _ in range(2))
        np.testing.assert_array_equal(one, two)
        assert (add(np.arange(50), 1e6) != add(np.arange(50), 1e6)).any()


def test_secure_noise_takes_no_generator_and_study_noise_needs_one():
    with pytest.raises(ValueError, match="rng: found a generator beside noise='secure'"):
        add_laplace_noise([1.0], 1.0, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="rng: found None, expected a numpy"):
        add_laplace_noise([1.0], 1.0, noise="study")
    with pytest.raises(ValueError, match="noise: found 'fast'"):
        add_laplace_noise([1.0], 1.0, noise="fast")


def test_bad_values_are_named():
    with pytest.raises(ValueError, match=r"counts: found 1\.5 at position 1, expected integers"):
        add_discrete_laplace_noise([1, 1.5], 1.0)
    for large in (2**53 + 1, 10**30, 1e300):
        with pytest.raises(ValueError, match=r"at position 0, expected integers below 2\*\*53"):
            add_discrete_laplace_noise([large, 1], 1.0)
    with pytest.raises(ValueError, match="values: found nan"):
        add_laplace_noise([float("nan")], 1.0)
    with pytest.raises(ValueError, match="scale: found 0"):
        add_laplace_noise([1.0], 0)
    with pytest.raises(ValueError, match="expected at most 1e12"):
        add_discrete_laplace_noise([1], 1e13, noise="study", rng=np.random.default_rng(0))


@pytest.mark.parametrize("scale", [1e19, 1e100, 1.7e308])
def test_secure_integer_noise_is_cut_off_and_never_wraps_around(scale):
    ends = np.iinfo(np.int64)
    noisy = np.array(
        [add_discrete_laplace_noise([count], scale)[0] for count in (0, 2**53 - 1) for _ in range(200)]
    )
    # at least as many beyond either end as the law says, but for a chance of 1e-9: a sum that wraps lands inside
    outside = np.exp(-(2.0**63) / scale)
    assert ((noisy == ends.max) | (noisy == ends.min)).sum() >= binom.ppf(1e-9, len(noisy), 0.99 * outside)
    assert (noisy == ends.max).any()
    assert (noisy == ends.min).any()


@pytest.mark.parametrize("noise", ["secure", "study"])
def test_large_counts_are_kept_to_the_last_unit(noise):
    # noise of this scale is 0 but for one time in e¹⁰⁰⁰, so that what comes back is the count itself
    counts = [2**53 - 1, 1 - 2**53, 2**24 + 1, 10**12 + 1, 0]
    rng = np.random.default_rng(0) if noise == "study" else None
    assert add_discrete_laplace_noise(counts, 1e-3, noise=noise, rng=rng).tolist() == counts


def test_a_scale_of_1e12_is_allowed_and_none_beyond_it():
    study = {"noise": "study", "rng": np.random.default_rng(0)}
    assert add_discrete_laplace_noise([0] * 20, scale=1e12, **study).any()
    for scale in (math.nextafter(1e12, math.inf), 1e12 + 0.5, 1e300):
        with pytest.raises(ValueError, match="scale: found"):
            add_discrete_laplace_noise([0], scale=scale, **study)


@pytest.mark.parametrize(
    "add", [add_discrete_gaussian_noise, add_discrete_laplace_noise, add_gaussian_noise, add_laplace_noise]
)
def test_a_missing_sampler_is_named_before_any_number_is_looked_at(add, monkeypatch):
    for bad in (np.array([0.5, np.inf]), np.array(["a"])):
        with pytest.raises(ValueError, match=r"found"):
            add(bad, 1.0)
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "opendp.prelude", None)
            with pytest.raises(ImportError, match="secure"):
                add(bad, 1.0)
