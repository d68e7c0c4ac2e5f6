"""The arguments of the Coq definitions that stand for functions: how cases are drawn, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from proof_draws import Draw, inside, law, objects, odds, q, share, table

from dpfair_lib.fairness.linear_form import form_coefficients
from dpfair_lib.local.optimal.linear_bound import Constraint
from dpfair_lib.svm.line import hard_margin


def group_rates(rng: Draw) -> tuple[list[Fraction], list[Fraction]]:
    """Draw shares and rates of groups."""
    size = rng.randint(1, 5)
    p1 = [share(rng) for _ in range(size)]
    p1[rng.randrange(size)] = inside(rng)
    return law(rng, size, positive=True), p1


def channel(rng: Draw, inputs: int, reports: int, *, positive: bool = False) -> list[list[Fraction]]:
    """Draw a channel."""
    return [law(rng, reports, positive=positive) for _ in range(inputs)]


def two_laws(rng: Draw) -> tuple[Fraction, list[Fraction], list[Fraction]]:
    """Draw odds and two laws."""
    size = rng.randint(1, 6)
    return odds(rng), law(rng, size), law(rng, size)


def law_and_map(rng: Draw) -> tuple[list[Fraction], list[list[Fraction]]]:
    """Draw a law and a channel after it."""
    size, results = rng.randint(1, 4), rng.randint(1, 4)
    return law(rng, size), channel(rng, size, results)


def reported(rng: Draw) -> tuple[list[Fraction], list[Fraction], list[list[Fraction]]]:
    """Draw shares, rates and a channel whose reports all occur."""
    p, p1 = group_rates(rng)
    return p, p1, channel(rng, len(p), len(p), positive=True)


def joint_law(labels: int | None = None) -> Callable[[Draw], tuple[Any, ...]]:
    """Return what draws a joint law of labels and groups, and the desirable labels."""

    def draw(rng: Draw) -> tuple[Any, ...]:
        height, width = labels or rng.randint(1, 3), rng.randint(1, 3)
        flat = law(rng, height * width, positive=True)
        desirable = [rng.randint(0, 1) for _ in range(height)]
        return [flat[y * width : (y + 1) * width] for y in range(height)], desirable

    return draw


def by_cells(call: str) -> Callable[[Any, Any], str]:
    """Return what writes a coefficient for all pairs of cells, row by row, of a joint table."""

    def coq(joint: Any, desirable: Any) -> str:
        cells = [(y, r) for y in range(len(joint)) for r in range(len(joint[0]))]
        wanted = (
            "(fun i => nth i (" + " :: ".join("true" if d else "false" for d in desirable) + " :: nil) false)"
        )
        fixed = call.format(labels=len(joint), groups=len(joint[0]), desirable=wanted)
        values = (f"{fixed} m {a} {b} {c} {d}" for a, b in cells for c, d in cells)
        return f"(let m := {table(joint)} in {' :: '.join(values)} :: nil)"

    return coq


def accuracy_cells(joint: Any, _: Any) -> str:
    """Write a coefficient for all pairs of groups."""
    groups = range(len(joint[0]))
    values = (f"accuracy_coefficient {len(joint)} m {a} {b}" for a in groups for b in groups)
    return f"(let m := {table(joint)} in {' :: '.join(values)} :: nil)"


def parity_constants(joint: Any, _: Any) -> str:
    """Write a constant for all cells."""
    cells = [(y, r) for y in range(2) for r in range(len(joint[0]))]
    values = (f"parity_constant {len(joint[0])} m {y} {r}" for y, r in cells)
    return f"(let m := {table(joint)} in {' :: '.join(values)} :: nil)"


def sorted_groups(rng: Draw) -> tuple[list[Fraction], Fraction]:
    """Draw rates of groups, upwards, and γ."""
    return sorted(share(rng) for _ in range(rng.randint(1, 6))), share(rng)


def groups_and_error(rng: Draw) -> tuple[int, Fraction]:
    """Draw a number of groups and η."""
    return rng.randint(1, 20), share(rng)


def by_form(notion: str) -> Callable[[Any, Any], list[Fraction]]:
    """Return the library's coefficients of a notion, in a row."""

    def library(joint: Any, desirable: Any) -> list[Fraction]:
        matrix = form_coefficients(objects(joint), notion, desirable)[1]
        return [Fraction(value) for value in matrix.ravel()]

    return library


def counted(name: str) -> Callable[[int, Fraction], str]:
    """Return what writes a function of a number of groups and η."""
    return lambda groups, radius: f"({name} {groups} {q(radius)})"


def sets(rng: Draw) -> tuple[int, int, Fraction]:
    """Draw k, the size of a set, and odds."""
    k = rng.randint(1, 4)
    return k, rng.randint(1, k), odds(rng)


def selection_of(k: int, w: int, t: Fraction) -> str:
    """Write the channel, report by report; the sets come in the order of the library's columns."""
    return f"flat_map (fun s => map (fun i => selection {k} {w} {q(t)} i s) (seq 0 {k})) (subsets {k} {w})"


def blind(rng: Draw) -> tuple[list[Fraction], list[Fraction], Fraction, Fraction]:
    """Draw rates, weights, Δ and γ."""
    size = rng.randint(1, 5)
    return [share(rng) for _ in range(size)], [share(rng) for _ in range(size)], inside(rng), share(rng)


def on_a_line(rng: Draw) -> tuple[list[int], list[int]]:
    """Draw records on a line that a threshold separates, duplicates among them, in any order."""
    low, gap, flip = rng.randint(-5, 5), rng.randint(1, 4), rng.randint(0, 1)
    below = [low - rng.choice((0, 0, 1, 3)) for _ in range(rng.randint(1, 4))]
    above = [low + gap + rng.choice((0, 0, 1, 3)) for _ in range(rng.randint(1, 4))]
    records = [(x, flip) for x in below] + [(x, 1 - flip) for x in above]
    rng.shuffle(records)
    return [x for x, _ in records], [y for _, y in records]


def any_channel(rng: Draw) -> tuple[Fraction, list[list[Fraction]]]:
    """Draw odds and a channel."""
    return odds(rng), channel(rng, rng.randint(1, 4), rng.randint(1, 4))


def counts_and_rows(rng: Draw) -> tuple[int, int, int]:
    """Draw two counts and a number of records."""
    one, other = rng.randint(1, 40), rng.randint(1, 40)
    return one, other, one + other + rng.randint(0, 40)


def noisy_count(rng: Draw) -> tuple[int, Fraction]:
    """Draw a number of records and a noisy count other than 1."""
    while True:
        count = Fraction(rng.randint(-200, 200), rng.randint(1, 8))
        if count != 1:
            return rng.randint(1, 60), count


def linear_program(rng: Draw) -> tuple[dict[int, int], list[Constraint], list[int]]:
    """Draw a small program and multipliers of the right signs."""

    def form() -> dict[int, int]:
        return {rng.randint(1, 6): rng.randint(-9, 9) for _ in range(rng.randint(0, 5))}

    rows = [Constraint(form(), rng.randint(-9, 9), rng.random() < 0.4) for _ in range(rng.randint(0, 5))]
    return form(), rows, [rng.randint(-9 * row.equation, 9) for row in rows]


def linear_program_of(objective: dict[int, int], rows: list[Constraint], multipliers: list[int]) -> str:
    """Write a program and multipliers."""

    def form(terms: Mapping[int, int]) -> str:
        return "(" + "".join(f"({i}%positive, ({a})%Z) :: " for i, a in terms.items()) + "nil)"

    written = "".join(
        f"{{| equation := {str(row.equation).lower()}; left_side := {form(row.coefficients)}; "
        f"least_side := ({row.least})%Z |}} :: "
        for row in rows
    )
    ys = "".join(f"({y})%Z :: " for y in multipliers)
    return f"whole (linear_bound {{| objective := {form(objective)}; constraints := ({written}nil) |}} ({ys}nil))"


def line_coq(x: Sequence[int], y: Sequence[int]) -> str:
    """Write the machine of the library, and the support vectors that Coq finds with it: positions and labels."""
    machine = hard_margin(x, y)
    records = "".join(f"({q(a)}, {'true' if b else 'false'}) :: " for a, b in zip(x, y, strict=True))
    found = f"support ({records}nil) {q(machine.weight)} {q(machine.intercept)}"
    return f"(flat_map (fun r : Q * bool => fst r :: (if snd r then 1 else 0) :: nil) ({found}))"


def line_library(x: Sequence[int], y: Sequence[int]) -> list[Fraction]:
    """Return positions and labels of the library's support vectors."""
    return [Fraction(value) for i in hard_margin(x, y).support for value in (x[i], y[i])]


def size_below(rng: Draw) -> tuple[int, int, Fraction]:
    """Draw a number of values, a smaller size of the reports, and e^ε above 1."""
    values = rng.randint(2, 20)
    return values, rng.randint(1, values - 1), odds(rng) + Fraction(1, 7)
