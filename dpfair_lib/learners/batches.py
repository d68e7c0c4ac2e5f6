"""Sampling of Poisson batches: seeded, in time proportional to those drawn, or by the system's coins."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

RECORDS = 1 << 16  # about as many are drawn at once


def poisson_batches(n: int, rate: float, count: int, seed: np.random.SeedSequence) -> Iterator[np.ndarray]:
    """Draw batches that every record enters with the same probability, independently of everything else.

    The trials of all steps form one row, record after record and step after step. From one record drawn to
    the next, the number of records left out has a geometric law, ⌊E / −log(1 − q)⌋ for an exponential E, and
    nothing is drawn for those left out.

    Parameters
    ----------
    n : int
        Number of records.
    rate : float
        Probability q in (0, 1].
    count : int
        Number of batches.
    seed : SeedSequence
        Where they come from.

    Yields
    ------
    ndarray of int
        Rows of one batch, ascending; possibly none.

    References
    ----------
    Devroye (1986), Non-Uniform Random Variate Generation, X.2, for the geometric law.
    """
    if rate == 1:
        for _ in range(count):
            yield np.arange(n)
        return
    draws, hazard, trials = np.random.default_rng(seed), -math.log1p(-rate), n * count
    together = max(1, int(min(count, RECORDS / (n * rate))))  # batches
    drawn = math.ceil(n * rate * together) + 64
    waiting, last = np.empty(0, dtype=np.int64), -1
    for first in range(0, count, together):
        edges = n * np.arange(first, min(first + together, count) + 1)
        parts = [waiting]
        while last < edges[-1]:
            with np.errstate(over="ignore"):
                left_out = np.minimum(draws.standard_exponential(drawn) / hazard, trials).astype(np.int64)
            parts.append(last + np.cumsum(left_out + 1))
            last = int(parts[-1][-1])
        places = np.concatenate(parts)
        cuts = np.searchsorted(places, edges)
        for at, start, stop in zip(edges[:-1], cuts[:-1], cuts[1:], strict=True):
            yield places[start:stop] - at
        waiting = places[cuts[-1] :]


def system_batches(n: int, rate: float, count: int) -> Iterator[np.ndarray]:
    """Draw batches by coins made of the operating system's words, whose probability is exact.

    A record enters if a uniform number of 72 bits is below q·2⁷², rounded down. Its first byte decides but for one time
    in 256; then its last 64 bits do. So the probability is at most q, and less by at most 2⁻⁷². A lower rate is no less
    private (see `dpfair_lib.privacy.grid_noise`).

    Parameters
    ----------
    n : int
        Number of records.
    rate : float
        Probability q in (0, 1].
    count : int
        Number of batches.

    Yields
    ------
    ndarray of int
        Rows of one batch, ascending; possibly none.
    """
    first, rest = divmod(math.floor(Fraction(rate) * 2**72), 2**64)
    for _ in range(count):
        if rate == 1:
            yield np.arange(n)
            continue
        begins = np.frombuffer(os.urandom(n), dtype=np.uint8)
        enters = begins < first
        open_yet = np.flatnonzero(begins == first)
        ends = np.frombuffer(os.urandom(8 * len(open_yet)), dtype=np.uint64)
        enters[open_yet] = ends < np.uint64(rest)
        yield np.flatnonzero(enters)
