"""Attacks on noisy numbers: averaging repeated answers, and reading the last bits of floating-point noise.

They test releases. They succeed if every answer gets fresh noise, or if noise is added in floating point. They find
nothing if noise is drawn once by a secure sampler.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dpfair_lib._arguments import positive
from dpfair_lib._validation import as_numbers

UNDECIDED = -1
"""What `last_bits_attack` and `laplace_bits_attack` say of an output that does not distinguish the candidates."""
_COARSER = 2**8 - 1
_MANY = 64  # uniform variables near an output; if so many could be behind it, one of them is


def averaging_attack(answers: Any) -> np.ndarray:
    """Return the whole numbers nearest to the means of repeated answers.

    If every answer has fresh noise of variance v, the mean of R answers has noise of variance v/R. If all answers are
    computed from noisy numbers that were drawn once, their mean reveals nothing more than one answer.

    Parameters
    ----------
    answers : array of shape (R, k)
        R answers to the same k questions, such as k noisy counts.

    Returns
    -------
    ndarray of shape (k,), int64
        The guessed exact numbers.

    Raises
    ------
    ValueError
        If the answers are not a table of finite numbers.

    Examples
    --------
    One count, answered 10,000 times with fresh noise:

    >>> import numpy as np
    >>> from dpfair_lib.privacy import averaging_attack
    >>> answers = 37 + np.random.default_rng(0).laplace(0, 10, size=(10_000, 1))
    >>> averaging_attack(answers)
    array([37])
    """
    table = np.asarray(answers)
    if table.ndim != 2 or table.size == 0:
        raise ValueError(f"answers: found shape {table.shape}, expected (repetitions, numbers)")
    as_numbers(table.ravel(), "answers")
    return np.rint(table.mean(axis=0)).astype(np.int64)


def last_bits_attack(outputs: Any, candidates: Any) -> np.ndarray:
    """Return which whole number was hidden by floating-point noise, from the last bits of each sum.

    Near the output y, the floats that added to v ≠ 0 give y are about as large as y − v, and coarser than the floats
    near y if y is smaller. So the possible sums lie on a lattice, for every distribution of the noise. Its step is the
    distance between floats near y − v (or near y, if that is larger). An output off a candidate's lattice excludes this
    candidate. An output lies on a lattice that is 2⁸ times as coarse by chance once in 2⁸ times.

    Parameters
    ----------
    outputs : array of shape (n,)
        Noisy numbers.
    candidates : sequence of int
        The different numbers that may be hidden, of absolute value below 2⁵³.

    Returns
    -------
    ndarray of shape (n,)
        For each output the position of the candidate with the coarsest lattice. `UNDECIDED` if another candidate that
        is not excluded has a lattice nearly as coarse.

    Raises
    ------
    ValueError
        If the outputs are not finite numbers, or if the candidates are not different whole numbers.

    References
    ----------
    Mironov (2012), for the Laplace distribution; that the lattices alone suffice is folklore.

    Examples
    --------
    Noise that was added to 0 has more bits than noise that was added to a large number.

    >>> import numpy as np
    >>> from dpfair_lib.privacy import last_bits_attack
    >>> last_bits_attack(0 + np.random.default_rng(0).laplace(0, 1.0, 4), [0, 2**20])
    array([0, 0, 0, 0])
    """
    noisy = as_numbers(outputs, "outputs").astype(float)
    steps = np.array([_lattice_step(noisy, value) for value in _different(candidates)])
    steps = np.where(np.fmod(noisy, steps) == 0, steps, 0)  # 0: excluded
    order = np.sort(steps, axis=0)
    decided = (order[-1] > _COARSER * order[-2]) & (noisy != 0)  # 0 lies on every lattice
    return np.where(decided, steps.argmax(axis=0), UNDECIDED)


def laplace_bits_attack(outputs: Any, candidates: Any, scale: float) -> np.ndarray:
    """Return which whole number was hidden by NumPy's Laplace noise, from the set of possible sums.

    NumPy computes the noise from a uniform multiple of 2⁻⁵³, so only few of all floats are possible. For each candidate
    the attack tries the few of them that could have given the output.

    Parameters
    ----------
    outputs : array of shape (n,)
        Noisy numbers.
    candidates : sequence of int
        As in `last_bits_attack`.
    scale : float
        b > 0 of the noise.

    Returns
    -------
    ndarray of shape (n,)
        For each output the position of the only candidate that could have given it. `UNDECIDED` if there is none, or
        more than one.

    Raises
    ------
    ValueError
        As `last_bits_attack`, or if the scale is not positive.

    References
    ----------
    Mironov (2012).

    Examples
    --------
    Noise of the usual floating-point sampler tells which of two counts it hides. −1 stands for undecided.

    >>> import numpy as np
    >>> from dpfair_lib.privacy import laplace_bits_attack
    >>> rng = np.random.default_rng(0)
    >>> laplace_bits_attack(7 + rng.laplace(0, 1.0, 6), [7, 8], scale=1.0)
    array([-1,  0,  0,  0, -1, -1])
    """
    noisy, b = as_numbers(outputs, "outputs").astype(float), positive(scale, "scale")
    values = _different(candidates)
    able = np.array([[_comes_about(y, float(value), b) for y in noisy.tolist()] for value in values])
    return np.where(able.sum(axis=0) == 1, able.argmax(axis=0), UNDECIDED)


def _different(candidates: Any) -> list[int]:
    values = [int(value) for value in as_numbers(candidates, "candidates") if value == int(value)]
    if (
        len(values) != len(candidates)
        or len(set(values)) < max(len(values), 2)
        or max(map(abs, values)) >= 2**53
    ):
        raise ValueError(
            f"candidates: found {candidates!r}, expected two different whole numbers or more, below 2**53 in size"
        )
    return values


def _lattice_step(outputs: np.ndarray, value: int) -> np.ndarray:
    """The distance of the sums of a value and a float near each output."""
    here = np.spacing(abs(outputs))
    if value == 0:
        return here
    return np.maximum(here, np.minimum(np.spacing(abs(outputs - value)), float(value & -value)))


def _comes_about(output: float, value: float, scale: float) -> bool:
    noise = output - value
    if noise == 0:
        return True
    # the uniform variables U behind the output's two neighbours, and a few roundings more; noise is positive from ½ on
    half = math.exp(-abs(noise) / scale) / 2
    reach = half * (math.ulp(output) + 4 * math.ulp(noise)) / scale + 4 * 2.0**-53
    middle = 1 - half if noise > 0 else half
    low, high = math.floor((middle - reach) * 2**53), math.ceil((middle + reach) * 2**53)
    if high - low > _MANY:
        return True
    tried = range(max(low, 1), min(high, 2**53 - 1) + 1)
    return any(value + _laplace_noise(k * 2.0**-53, scale) == output for k in tried)


def _laplace_noise(u: float, scale: float) -> float:
    """What NumPy makes of a uniform variable, rounding as it does; the logarithm is that of the same library."""
    return -(scale * math.log(2.0 - u - u)) if u >= 0.5 else scale * math.log(u + u)
