"""Turning a nearly optimal channel and its multipliers, in floats, into an `ExactCertificate`."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from dpfair_lib._validation import as_probabilities
from dpfair_lib.local.levels import as_epsilon
from dpfair_lib.local.optimal.certificate import Multipliers
from dpfair_lib.local.optimal.exact_certificate import ExactCertificate, check_exact, costs, level_program
from dpfair_lib.local.optimal.linear_bound import linear_bound
from dpfair_lib.local.optimal.linear_program import feasible_channel
from dpfair_lib.local.optimal.program import Program, as_program, most_truthful, privacy_ratio
from dpfair_lib.local.randomizer import Randomizer

ROOM = Fraction(1, 2**44)
"""The budget is at least half of it above the least one, so that rounded channels keep it."""
_INSIDE = Fraction(1, 2**50)  # share of a channel with room everywhere
_LEVEL = 2**64  # levels are multiples of its inverse
_SCALE = 60  # binary digits of the largest multiplier
_TRIES = 60  # lower levels tried until the multipliers prove one


def exact_program(p: Any, p1: Any, epsilon: Any, error: Any = None) -> tuple[Program, Fraction]:
    """Return the program in fractions, with x rounded up, and x rounded down.

    Shares and rates are what the floats are, or the fractions given; the shares are divided by their exact sum. The
    budget is ``error``, or the least one rounded up to a multiple of 2⁻⁴⁴ that leaves room for rounding.
    """
    as_program(p, p1, epsilon, error)  # refuses what is wrong
    shares, rates = (np.array([Fraction(value) for value in as_probabilities(values, name)], dtype=object)
                     for values, name in ((p, "p"), (p1, "p1")))  # fmt: skip
    shares = shares / shares.sum()
    checked = as_epsilon(epsilon)
    ratio = privacy_ratio(checked)
    # below 1 for every ε > 0, also where e^(−ε) is rounded up to 1
    high, low = Fraction(ratio), Fraction(ratio * (1 - 2.0**-48) if checked > 0 else ratio)
    least = 1 - most_truthful(shares, high)[0]
    budget = Fraction(math.ceil((least + ROOM / 2) / ROOM)) * ROOM
    if error is not None:
        budget = max(Fraction(float(as_probabilities([error], "error")[0])), budget)
    return Program(shares, rates, high, min(budget, Fraction(1))), low


def searched(program: Program) -> Program:
    """Return the program in floats, with a little less budget, in which to search."""
    budget = program.error - ROOM / 4
    return Program(program.p.astype(float), program.p1.astype(float), float(program.x), float(budget))


def exact_channel(
    program: Program, x_low: Fraction, matrix: np.ndarray, proofs: tuple[Multipliers, ...]
) -> Randomizer:
    """Return a channel in fractions with a certificate that `check_exact` accepts, near one in floats."""
    certificate = exact_certificate(program, x_low, matrix, proofs[0] if proofs else None)
    return Randomizer(_entries(certificate), value=certificate.value, certificate=certificate)


def _entries(c: ExactCertificate) -> np.ndarray:
    return np.array([[Fraction(entry, c.entry_unit) for entry in row] for row in c.entries], dtype=object)


def verify_exact(channel: Randomizer, p: Any, p1: Any, epsilon: Any, error: Any = None) -> Fraction:
    """Check a channel and its certificate, for these arguments, and return the gap.

    Raises
    ------
    ValueError
        If the certificate is one of another program or of another channel, or as `check_exact` says.
    """
    c = channel.certificate
    gap = check_exact(c)
    program, low = exact_program(p, p1, epsilon, error)
    total = sum(c.weights)
    said = {
        "p": [Fraction(w, total) for w in c.weights] == list(program.p),
        "p1": [Fraction(r, c.rate_unit) for r in c.positives] == list(program.p1),
        "epsilon": (Fraction(c.x_low, c.x_unit), Fraction(c.x_high, c.x_unit)) == (low, program.x),
        "error": c.error_budget == program.error,
    }
    for name, same in said.items():
        if not same:
            raise ValueError(f"certificate: found one of a program with another {name}")
    if (
        channel.matrix.shape != (c.k, c.k)
        or (channel.matrix != _entries(c)).any()
        or channel.value != c.value
    ):
        raise ValueError("channel: found another matrix or value than its certificate has")
    return gap


def exact_certificate(
    program: Program, x_low: Fraction, matrix: np.ndarray, proof: Multipliers | None
) -> ExactCertificate:
    """Return a certificate that `check_exact` accepts, near a channel and multipliers in floats."""
    entries, unit = rounded_channel(program, matrix)
    channel = np.array([[Fraction(entry, unit) for entry in row] for row in entries], dtype=object)
    value = program.ratio(channel)
    reached = math.ceil(value * _LEVEL)
    weights, _ = _whole(program.p)
    positives, rate_unit = _whole(program.p1)
    (low, high), x_unit = _whole([x_low, program.x])
    k = program.k
    none, table = (0,) * k, ((0,) * k,) * k
    start = ExactCertificate(
        weights=weights, positives=positives, rate_unit=rate_unit, x_low=low, x_high=high, x_unit=x_unit,
        budget=program.error.numerator, budget_unit=program.error.denominator, entries=entries, entry_unit=unit,
        reached=reached, reached_unit=_LEVEL, level=0, level_unit=_LEVEL, above=none, below=none, of_truth=0,
        of_rows=none, of_diagonal=none, column_caps=table, row_caps=table,
    )  # fmt: skip
    found = start if proof is None else _proved(start, proof)
    check_exact(found)
    return found


def _whole(values: Any) -> tuple[tuple[int, ...], int]:
    """Return whole numbers and the denominator that they share."""
    unit = math.lcm(*(value.denominator for value in values))
    return tuple(int(value * unit) for value in values), unit


def rounded_channel(program: Program, matrix: np.ndarray) -> tuple[tuple[tuple[int, ...], ...], int]:
    """Return whole entries, and their denominator, of a channel of the program near one in floats.

    It is completed in fractions, moved a little inside, and rounded on a grid that is finer than that move.
    """
    k, x = program.k, program.x
    tight = replace(program, error=program.error - ROOM / 8)
    floats = np.array([[Fraction(float(entry)) for entry in row] for row in matrix], dtype=object)
    diagonal = np.diagonal(floats).copy()
    channel = feasible_channel(tight, diagonal, floats - x * diagonal)
    between = (1 + x) / 2
    inside = np.full((k, k), between / (1 + (k - 1) * between), dtype=object)
    np.fill_diagonal(inside, 1 / (1 + (k - 1) * between))
    channel = (1 - _INSIDE) * channel + _INSIDE * inside
    digits = 64 + (math.ceil(1 / (1 - x)).bit_length() if x < 1 else 0)
    unit = k << digits
    rows = []
    for row in channel:
        whole = [math.floor(entry * unit) for entry in row]
        for at in range(unit - sum(whole)):  # fewer than k
            whole[at] += 1
        rows.append(tuple(whole))
    return tuple(rows), unit


def _proved(start: ExactCertificate, proof: Multipliers) -> ExactCertificate:
    """Return the certificate with the multipliers in whole numbers, at the largest level tried that they prove."""
    largest = float(max((proof.above + proof.below).max(), 1e-300))
    scale = Fraction(2) ** (_SCALE - math.frexp(largest)[1])

    def scaled(values: np.ndarray, *, signed: bool = False) -> tuple[int, ...]:
        return tuple(
            round(Fraction(float(value)) * scale) if signed else max(round(Fraction(float(value)) * scale), 0)
            for value in values
        )

    total = sum(start.weights)
    off = ~np.eye(start.k, dtype=bool)
    of_truth = Fraction(float(proof.truth)) * scale * total * start.rate_unit * _LEVEL / start.budget_unit
    with_multipliers = replace(
        start,
        above=scaled(proof.above), below=scaled(proof.below), of_truth=max(round(of_truth), 0),
        of_rows=scaled(proof.rows, signed=True),
        column_caps=tuple(map(scaled, np.where(off, proof.column_caps, 0))),
        row_caps=tuple(map(scaled, np.where(off, proof.row_caps, 0))),
    )  # fmt: skip
    level, step = min(math.floor(Fraction(float(proof.t)) * _LEVEL), start.reached), 2**16
    for _ in range(_TRIES):
        if level <= 0:
            break
        found = _with_diagonal(replace(with_multipliers, level=level))
        if linear_bound(*level_program(found)) >= 0:
            return found
        level, step = level - step, 2 * step
    return start


def _with_diagonal(c: ExactCertificate) -> ExactCertificate:
    """Return the certificate with the multipliers of the diagonal that its other ones leave room for."""
    k, total = c.k, sum(c.weights)
    unit = total * total * c.rate_unit * c.level_unit
    cost = costs(c)
    left = [cost[j][j] - (c.of_rows[j] + sum(c.row_caps[j])) * unit - c.of_truth * c.weights[j] * c.budget_unit
            for j in range(k)]  # fmt: skip
    for i in range(k):
        for j in range(k):
            if i != j:
                rest = (
                    cost[i][j] + (c.column_caps[i][j] + c.row_caps[i][j] - c.of_rows[i]) * unit
                ) // c.x_unit
                left[j] += max(rest, 0) * c.x_low - c.column_caps[i][j] * unit
    return replace(c, of_diagonal=tuple(max(rest // (k * unit), 0) for rest in left))
