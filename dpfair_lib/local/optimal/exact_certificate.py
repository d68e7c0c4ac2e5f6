"""Certificates in whole numbers, without rounding: what they are, and the checker that `proofs/` proves right."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from typing import Any

from dpfair_lib.local.optimal.linear_bound import Constraint, linear_bound, whole_numbers

Row = tuple[int, ...]
Table = tuple[Row, ...]


@dataclass(frozen=True)
class ExactCertificate:
    """A channel, a bound of its distance from the optimum, and what proves both, in whole numbers.

    It speaks of every x = e^(−ε) between two fractions: `epsilon` need not be a logarithm of one.

    Attributes
    ----------
    weights, positives : tuple of int
        P(A = i) is ``weights[i]`` over their sum, and P(Y = 1 | A = i) is ``positives[i] / rate_unit``.
    rate_unit, x_unit, budget_unit, entry_unit, reached_unit, level_unit : int
        Denominators, above 0.
    x_low, x_high : int
        x lies between ``x_low / x_unit`` and ``x_high / x_unit``.
    budget : int
        P(Z ≠ A) may be ``budget / budget_unit``.
    entries : tuple of tuples of int
        q_ij is ``entries[i][j] / entry_unit``.
    reached : int
        The channel's Δ is at most ``reached / reached_unit``.
    level : int
        No channel of the program has a Δ below ``level / level_unit``.
    above, below : tuple of int
        Multipliers of N_j ≤ t·D_j and of −N_j ≤ t·D_j, at the level t.
    of_truth : int
        Multiplier of the error budget.
    of_rows, of_diagonal : tuple of int
        Multipliers of the row sums, which may have any sign, and of k·q_jj ≥ 1.
    column_caps, row_caps : tuple of tuples of int
        Multipliers of q_ij ≤ q_jj and of q_ij ≤ q_ii.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> channel = dpf.optimal_randomizer([0.5, 0.3, 0.2], [0.2, 0.5, 0.7], epsilon=1.0, certificate="exact")
    >>> found = channel.certificate
    >>> type(found.value).__name__, found.lower <= found.value, found.gap <= 1e-9
    ('Fraction', True, True)
    """

    weights: Row
    positives: Row
    rate_unit: int
    x_low: int
    x_high: int
    x_unit: int
    budget: int
    budget_unit: int
    entries: Table
    entry_unit: int
    reached: int
    reached_unit: int
    level: int
    level_unit: int
    above: Row
    below: Row
    of_truth: int
    of_rows: Row
    of_diagonal: Row
    column_caps: Table
    row_caps: Table

    @property
    def k(self) -> int:
        """How many groups."""
        return len(self.weights)

    @property
    def value(self) -> Fraction:
        """What the channel's Δ is at most."""
        return Fraction(self.reached, self.reached_unit)

    @property
    def lower(self) -> Fraction:
        """What every channel's Δ is at least."""
        return max(Fraction(self.level, self.level_unit), Fraction(0))

    @property
    def gap(self) -> Fraction:
        """How far the channel can be from the optimum."""
        return max(self.value - self.lower, Fraction(0))

    @property
    def objective(self) -> str:
        """Always ``"ratio"``."""
        return "ratio"

    @property
    def error_budget(self) -> Fraction:
        """What P(Z ≠ A) may be."""
        return Fraction(self.budget, self.budget_unit)

    def to_json(self) -> str:
        """Return all numbers as JSON, from which `from_json` makes the certificate again."""
        return json.dumps(asdict(self))

    @classmethod
    def from_json(cls, text: str) -> ExactCertificate:
        """Return the certificate of a JSON text; `check_exact` judges it.

        Raises
        ------
        ValueError
            If a number is missing, unknown, or no whole number.
        """
        read = json.loads(text)
        names = [field.name for field in fields(cls)]
        if not isinstance(read, dict) or set(read) != set(names):
            raise ValueError(f"text: expected a JSON object with the names {', '.join(names)}")

        def kept(value: Any) -> Any:
            return tuple(map(kept, value)) if isinstance(value, list) else value

        return cls(**{name: kept(value) for name, value in read.items()})


def check_exact(certificate: ExactCertificate) -> Fraction:
    """Recompute everything in whole numbers and return the gap; what ``accepts`` of ``proofs/Certificates`` does.

    `dpfair_lib.local.verify_certificate` also compares the program with the one that is meant.

    Parameters
    ----------
    certificate : ExactCertificate
        Of any origin; nothing in it is believed.

    Returns
    -------
    Fraction
        How far the channel can be from the optimum.

    Raises
    ------
    ValueError
        If a dimension, a sign or a denominator is wrong, if the channel breaks a constraint or has another Δ, or if
        the multipliers do not prove the level.

    Examples
    --------
    >>> import dpfair_lib as dpf
    >>> from dpfair_lib.local import check_exact
    >>> channel = dpf.optimal_randomizer([0.5, 0.3, 0.2], [0.2, 0.5, 0.7], epsilon=1.0, certificate="exact")
    >>> check_exact(channel.certificate) <= 1e-9
    True
    """
    c = certificate
    if type(c) is not ExactCertificate:  # a subclass may say another gap
        raise ValueError(f"certificate: found {type(c).__name__}, expected an ExactCertificate")
    _check_tuples(c)
    _check_numbers(c)
    _check_channel(c)
    if c.level > 0:
        _check_level(c)
    return c.gap


def _check_tuples(c: ExactCertificate) -> None:
    """Raise if a row or a table is no plain tuple, which is read alike each time."""
    for field in fields(c):
        value = getattr(c, field.name)
        rows = {"Table": value, "Row": (value,)}.get(str(field.type), ())
        if type(rows) is not tuple or any(type(row) is not tuple for row in rows):
            raise ValueError(f"{field.name}: found {value!r}, expected tuples")


def _check_numbers(c: ExactCertificate) -> None:
    """Raise if a length, a denominator or a sign is wrong."""
    k = c.k
    if k < 2:
        raise ValueError(f"weights: found {k} groups, expected at least 2")
    for field in fields(c):
        value = getattr(c, field.name)
        if field.type == "int":
            whole_numbers([value], field.name)
            continue
        rows = value if field.type == "Table" else (value,)
        if (field.type == "Table" and len(value) != k) or any(len(row) != k for row in rows):
            raise ValueError(f"{field.name}: found another number of entries, expected those of {k} groups")
        for row in rows:
            whole_numbers(row, field.name)
    for name in ("rate_unit", "x_unit", "budget_unit", "entry_unit", "reached_unit", "level_unit"):
        if getattr(c, name) <= 0:
            raise ValueError(f"{name}: found {getattr(c, name)}, expected a denominator above 0")
    if min(c.weights) <= 0:
        raise ValueError(f"weights: found {min(c.weights)}, expected every group to occur")
    if min(c.positives) < 0 or max(c.positives) > c.rate_unit or max(c.positives) == 0:
        raise ValueError("positives: found a rate outside [0, 1], or none above 0")
    if not 0 <= c.x_low <= c.x_high <= c.x_unit:
        raise ValueError(
            f"x: found {c.x_low}/{c.x_unit} to {c.x_high}/{c.x_unit}, expected a range in [0, 1]"
        )


def _check_channel(c: ExactCertificate) -> None:
    """Raise if the channel breaks a constraint at x_high, or if its Δ is larger than is said."""
    k, q, each = c.k, c.entries, range(c.k)
    for i in each:
        if sum(q[i]) != c.entry_unit:
            raise ValueError(f"entries: row {i} sums to {Fraction(sum(q[i]), c.entry_unit)}, expected 1")
        for j in each:
            if not 0 <= q[i][j] <= min(q[i][i], q[j][j]):
                raise ValueError(
                    f"entries: found q[{i}][{j}] below 0 or above a truth, expected a truthful channel"
                )
            if c.x_high * q[j][j] > c.x_unit * q[i][j]:
                raise ValueError(
                    f"entries: found q[{i}][{j}] below x·q[{j}][{j}], expected a private channel"
                )
    truth = sum(w * q[i][i] for i, w in enumerate(c.weights))
    if (c.budget_unit - c.budget) * sum(c.weights) * c.entry_unit > c.budget_unit * truth:
        raise ValueError(f"entries: found an error above the budget of {float(c.error_budget)}")
    excess, mass = _excess_and_mass(c)
    for j in range(k):
        n, d = (sum(part[i] * q[i][j] for i in each) for part in (excess, mass))
        if abs(n) * c.reached_unit > c.reached * d:
            raise ValueError(f"reached: found {float(c.value)}, but report {j} has Δ = {abs(n) / d}")


def _excess_and_mass(c: ExactCertificate) -> tuple[list[int], list[int]]:
    """Return what N_j and D_j count an entry of each group for, up to a common factor."""
    total = sum(c.weights)
    positive = sum(w * r for w, r in zip(c.weights, c.positives, strict=True))
    excess = [w * (r * total - positive) for w, r in zip(c.weights, c.positives, strict=True)]
    return excess, [positive * w for w in c.weights]


def _check_level(c: ExactCertificate) -> None:
    """Raise if the multipliers do not prove the level."""
    if min(*c.above, *c.below) < 0:
        raise ValueError("above, below: found a multiplier below 0, expected at least 0")
    if not any(c.above) and not any(c.below):
        raise ValueError("above, below: found only 0, which proves nothing")
    objective, constraints, multipliers = level_program(c)
    bound = linear_bound(objective, constraints, multipliers)
    if bound < 0:
        raise ValueError(
            f"level: found {float(c.lower)}, which the multipliers do not prove: their bound is {float(bound):.3g}"
        )


def costs(c: ExactCertificate) -> list[list[int]]:
    """Return the objective: what each entry adds to Σ above_j·(N_j − t·D_j) + below_j·(−N_j − t·D_j), scaled."""
    excess, mass = _excess_and_mass(c)
    pairs = list(zip(c.above, c.below, strict=True))
    return [[c.level_unit * e * (a - b) - c.level * m * (a + b) for a, b in pairs]
            for e, m in zip(excess, mass, strict=True)]  # fmt: skip


def level_program(c: ExactCertificate) -> tuple[dict[int, int], list[Constraint], list[int]]:
    """Return objective, constraints and multipliers of the linear program at the level; entry (i, j) is i·k + j.

    The multipliers of privacy are not part of a certificate: they are what the others leave of the costs.
    """
    k, total, cost = c.k, sum(c.weights), costs(c)
    unit = total * total * c.rate_unit * c.level_unit
    diagonal = {i * k + i: w * c.budget_unit for i, w in enumerate(c.weights)}
    constraints = [Constraint(diagonal, (c.budget_unit - c.budget) * total)]
    multipliers = [c.of_truth]
    for i in range(k):
        constraints.append(Constraint({i * k + j: 1 for j in range(k)}, 1, equation=True))
        multipliers.append(c.of_rows[i] * unit)
        for j in range(k):
            here, truth = i * k + j, j * k + j
            if i == j:
                constraints.append(Constraint({here: k}, 1))
                multipliers.append(c.of_diagonal[j] * unit)
                continue
            column, row = c.column_caps[i][j], c.row_caps[i][j]
            rest = (cost[i][j] + (column + row - c.of_rows[i]) * unit) // c.x_unit
            constraints.append(Constraint({here: c.x_unit, truth: -c.x_low}, 0))
            constraints.append(Constraint({truth: 1, here: -1}, 0))
            constraints.append(Constraint({i * k + i: 1, here: -1}, 0))
            multipliers += [max(rest, 0), column * unit, row * unit]
    return {i * k + j: cost[i][j] for i in range(k) for j in range(k)}, constraints, multipliers
