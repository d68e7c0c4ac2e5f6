"""Noise itself: from OpenDP's secure samplers where data are at stake, from NumPy where mechanisms are studied.

The noise is added here and not handed out. On integers the sum is exact; on real numbers the sum of a value
and a noise, both rounded to floats, reveals more than it should (Mironov, 2012), so that a secure sampler has to
see the value: OpenDP puts both on one lattice and adds there.
"""

from __future__ import annotations

import functools
from typing import Any, Literal

import numpy as np

from dpfair_lib._arguments import one_of, positive
from dpfair_lib._extras import extra
from dpfair_lib._validation import as_numbers

Noise = Literal["secure", "study"]
KINDS = ("secure", "study")


def add_laplace_noise(
    values: Any, scale: float, *, noise: Noise = "secure", rng: np.random.Generator | None = None
) -> np.ndarray:
    """Add independent Laplace noise of density e^(−|x|/b) / (2b) to every value.

    Parameters
    ----------
    values : array of shape (n,)
        Real numbers.
    scale : float
        b > 0.
    noise : {"secure", "study"}
        OpenDP's sampler, or NumPy's.
    rng : numpy.random.Generator, optional
        Needed for study noise; refused for secure noise, which must not be reproducible.

    Returns
    -------
    ndarray of shape (n,)
        Noisy values.

    Raises
    ------
    ValueError
        If the values are not finite numbers, the scale is not positive, or rng does not go with the noise.

    References
    ----------
    Canonne, Kamath and Steinke (2020) for the secure sampler; its noise lives on the lattice of the smallest
    floats, and its ε = Δ/b is exact.

    Examples
    --------
    >>> import numpy as np
    >>> from dpfair_lib.privacy import add_laplace_noise
    >>> add_laplace_noise([10.0, 20.0], scale=2.0).shape
    (2,)
    >>> add_laplace_noise([10.0, 20.0], scale=2.0, noise="study", rng=np.random.default_rng(0)).round(2)
    array([10.64, 18.77])
    """
    generator = checked_sampler(noise, rng)
    array, scale = as_numbers(values, "values").astype(float), positive(scale, "scale")
    if generator is not None:
        return array + generator.laplace(scale=scale, size=len(array))
    return np.array(_secure("laplace", "f64", scale)(array.tolist()))


def add_gaussian_noise(
    values: Any, sigma: float, *, noise: Noise = "secure", rng: np.random.Generator | None = None
) -> np.ndarray:
    """Add independent Gaussian noise of standard deviation σ to every value.

    Parameters
    ----------
    values : array of shape (n,)
        Real numbers.
    sigma : float
        Standard deviation.
    noise, rng
        As in `add_laplace_noise`. The secure sampler draws the discrete Gaussian on a lattice so fine that
        its zero-concentrated ρ is that of the continuous one.

    Returns
    -------
    ndarray of shape (n,)
        Noisy values.

    Raises
    ------
    ValueError
        As `add_laplace_noise`.

    References
    ----------
    Canonne, Kamath and Steinke (2020), Theorem 4.

    Examples
    --------
    >>> import numpy as np
    >>> from dpfair_lib.privacy import add_gaussian_noise
    >>> add_gaussian_noise([10.0, 20.0], sigma=2.0).shape
    (2,)
    >>> add_gaussian_noise([10.0, 20.0], sigma=2.0, noise="study", rng=np.random.default_rng(0)).round(2)
    array([10.25, 19.74])
    """
    generator = checked_sampler(noise, rng)
    array, sigma = as_numbers(values, "values").astype(float), positive(sigma, "sigma")
    if generator is not None:
        return array + generator.normal(scale=sigma, size=len(array))
    return np.array(_secure("gaussian", "f64", sigma)(array.tolist()))


def add_discrete_laplace_noise(
    counts: Any, scale: float, *, noise: Noise = "secure", rng: np.random.Generator | None = None
) -> np.ndarray:
    """Add independent discrete Laplace noise, P(k) ∝ e^(−|k|/b), to every count; exact integers throughout.

    A sum beyond the 64-bit integers is returned as the nearest of them, −2⁶³ or 2⁶³ − 1. That is a function of the
    exact noisy count, so that ε is as for the whole integers. It never wraps around. Adding to what is returned may:
    use Python's integers if the number to add can be large.

    Parameters
    ----------
    counts : array of shape (n,)
        Integers of absolute value below 2⁵³: larger ones would be rounded to floats on the way, and rounding
        can move two neighbouring counts further apart.
    scale : float
        b > 0; at most 10¹² for study noise.
    noise, rng
        As in `add_laplace_noise`.

    Returns
    -------
    ndarray of shape (n,)
        Noisy counts, 64-bit integers, cut off at the ends of their range.

    Raises
    ------
    ValueError
        As `add_laplace_noise`; if a count is not such an integer.

    References
    ----------
    Ghosh, Roughgarden and Sundararajan (2012); Canonne, Kamath and Steinke (2020) for the secure sampler.

    Examples
    --------
    >>> import numpy as np
    >>> from dpfair_lib.privacy import add_discrete_laplace_noise
    >>> add_discrete_laplace_noise([10, 20], scale=2.0).shape
    (2,)
    >>> add_discrete_laplace_noise([10, 20], scale=2.0, noise="study", rng=np.random.default_rng(0))
    array([12, 20])
    """
    generator = checked_sampler(noise, rng)
    array, scale = as_numbers(counts, "counts"), positive(scale, "scale")
    wrong = (abs(array) >= 2**53) | (array % 1 != 0)
    if wrong.any():
        at = int(np.argmax(wrong))
        raise ValueError(f"counts: found {array[at]} at position {at}, expected integers below 2**53")
    whole = array.astype(np.int64)
    if generator is None:
        return np.array(_secure("laplace", "i64", scale)(whole.tolist()), dtype=np.int64)
    if scale > 1e12:
        raise ValueError(
            f"scale: found {scale} (for an epsilon, its sensitivity over it), expected at most 1e12, beyond which "
            "64-bit draws overflow"
        )
    # the difference of two geometric variables has exactly this law
    stop = -np.expm1(-1 / scale)
    up, down = generator.geometric(stop, size=(2, len(whole)))
    return whole + (up - down)


def add_discrete_gaussian_noise(counts: np.ndarray, scale: float) -> np.ndarray:
    """Add independent discrete Gaussian noise, P(k) ∝ e^(−k²/(2s²)), to every integer; OpenDP's exact sampler only.

    The noisy integer is exact, and then cut off at the ends of the 64-bit integers.

    Parameters
    ----------
    counts : ndarray of shape (n,), 64-bit integers
        The exact numbers.
    scale : float
        s > 0.

    Returns
    -------
    ndarray of shape (n,), 64-bit integers
        Noisy numbers.

    Raises
    ------
    ValueError
        If the numbers are not 64-bit integers, or the scale is not positive.

    References
    ----------
    Canonne, Kamath and Steinke (2020), Algorithm 3.
    """
    checked_sampler("secure", None)
    scale = positive(scale, "scale")
    if counts.dtype != np.int64:
        raise ValueError(f"counts: found numbers of type {counts.dtype}, expected int64")
    return np.array(_secure("gaussian", "i64", scale)(counts.tolist()), dtype=np.int64)


def checked_generator(noise: Noise, rng: Any) -> np.random.Generator | None:
    """Return the generator of study noise, and None for secure noise; raise if it does not go with the noise."""
    one_of(noise, "noise", KINDS)
    if noise == "secure":
        if rng is not None:
            raise ValueError(
                "rng: found a generator beside noise='secure', expected None: it must not be seeded"
            )
        return None
    if not isinstance(rng, np.random.Generator):
        raise ValueError(f"rng: found {rng!r}, expected a numpy.random.Generator for noise='study'")
    return rng


def checked_sampler(noise: Noise, rng: Any) -> np.random.Generator | None:
    """Return what `checked_generator` does; raise ImportError, before any data are looked at, if OpenDP is missing."""
    generator = checked_generator(noise, rng)
    if generator is None:
        with extra("secure"):
            import opendp.prelude  # noqa: F401 - so that nothing is computed that could not be released
    return generator


@functools.lru_cache(maxsize=64)
def _secure(kind: Literal["laplace", "gaussian"], number: Literal["f64", "i64"], scale: float) -> Any:
    with extra("secure"):
        import opendp.prelude as dp

    dp.enable_features("contrib")
    atom = dp.atom_domain(T=number, nan=False) if number == "f64" else dp.atom_domain(T=number)
    if kind == "laplace":
        return dp.m.make_laplace(dp.vector_domain(atom), dp.l1_distance(T=number), scale=scale)
    return dp.m.make_gaussian(dp.vector_domain(atom), dp.l2_distance(T="f64"), scale=scale)
