"""Small universes for learners of two answers: graphs of distributions, exact linear programs, counts of people."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from dpfair_lib.compatibility.impossibility.acceptable import neighbor_table
from dpfair_lib.compatibility.impossibility.mechanism_programs import largest_mass
from dpfair_lib.populations import Population

ONE = Fraction(1)
DEMANDS = tuple(
    (ONE * a, ONE * s, ONE * t)
    for a, s, t in (
        (0, 0, 0),
        (0, Fraction(3, 5), Fraction(1, 5)),
        (1, 0, Fraction(1, 5)),
        (Fraction(1, 4), Fraction(1, 2), Fraction(2, 5)),
        (0, 0, 1),
        (0, 1, Fraction(2, 5)),
    )
)
"""Threshold, slack, tolerance; (1, 0, τ) asks for accuracy alone, (α, s, 1) for fairness alone."""


def labelled(size: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield all graphs of so many distributions, with what each rejects: nothing (0), the first answer, the second."""
    pairs = list(itertools.combinations(range(size), 2))
    for chosen in itertools.product((False, True), repeat=len(pairs)):
        near = np.zeros((size, size), dtype=bool)
        for (i, j), joined in zip(pairs, chosen, strict=True):
            near[i, j] = near[j, i] = joined
        for wants in itertools.product((0, 1, 2), repeat=size):
            yield near, np.array(wants)


def steps_to(near: np.ndarray, inside: np.ndarray) -> np.ndarray:
    """Return the steps from each distribution to the nearest inside, −1 where no chain leads to one."""
    steps = np.where(inside, 0, -1)
    reached, count = inside.copy(), 0
    while True:
        count += 1
        new = near[reached].any(axis=0) & (steps < 0) if reached.any() else np.zeros(len(inside), dtype=bool)
        if not new.any():
            return steps
        steps[new] = count
        reached = new


def feasible(
    near: np.ndarray, wants: np.ndarray, factor: Fraction, delta: Fraction, failure: Fraction
) -> bool:
    """Decide the linear program over learners exactly: the probability of the first answer on each distribution.

    Each row bounds one probability from above by an increasing function of another one. So the pointwise largest
    solution of these rows is found by lowering, in as many rounds as there are distributions, and the program is
    feasible if and only if it is large enough where the second answer is rejected.
    """
    top = [failure if rejected == 1 else ONE for rejected in wants]
    arcs = [(int(i), int(j)) for i, j in np.argwhere(near)]
    # p_i ≤ t·p_j + δ, and 1 − p_j ≤ t(1 − p_i) + δ
    above = functools.cache(lambda q: min(factor * q + delta, (factor - 1 + q + delta) / factor))
    waiting = True
    while waiting:
        waiting = False
        for i, j in arcs:
            if top[j] == 1:
                continue
            most = above(top[j])
            if most < top[i]:
                top[i], waiting = most, True
                if wants[i] == 2 and most < 1 - failure:
                    return False
    return all(q >= 1 - failure for q, rejected in zip(top, wants, strict=True) if rejected == 2)


@functools.cache
def counted(people: int, floor: int) -> np.ndarray:
    """Return all counts of so many people, at least `floor` of them positive in each group.

    Columns: true positives and missed positives of group 0, of group 1, false positives, true negatives. The last two
    are of group 0.
    """
    rows = [
        (*counts, people - sum(counts))
        for counts in itertools.product(range(people + 1), repeat=5)
        if sum(counts) <= people and counts[0] + counts[1] >= floor and counts[2] + counts[3] >= floor
    ]
    return np.array(rows)


def gap_at_most(counts: np.ndarray, most: Fraction) -> np.ndarray:
    """Return where the true positive rates differ by at most a number, in whole numbers."""
    zero, one = counts[:, 0] + counts[:, 1], counts[:, 2] + counts[:, 3]
    cross = abs(counts[:, 0] * one - counts[:, 2] * zero)
    return np.asarray(cross * most.denominator <= most.numerator * zero * one, dtype=bool)


def least_between(some: np.ndarray, others: np.ndarray) -> int:
    """Return how many people must be replaced at least between one of some counts and one of others; 0 for none."""
    if not len(some) or not len(others):
        return 0
    return min(int(abs(others - row).sum(axis=1).min()) // 2 for row in some)


@functools.cache
def as_populations(people: int, floor: int) -> list[Population]:
    """Return the populations with these counts, for the hypothesis that selects the second of two points."""
    places = ((1, 0, 1), (0, 0, 1), (1, 1, 1), (0, 1, 1), (1, 0, 0), (0, 0, 0))
    found = []
    for row in counted(people, floor):
        table = np.full((2, 2, 2), Fraction(0), dtype=object)
        for place, count in zip(places, row, strict=True):
            table[place] = Fraction(int(count), people)
        found.append(Population.from_table(table))
    return found


def whole_universe(people: int) -> list[Population]:
    """Return all populations of so many people on two points and two groups, with positives in both groups."""
    every = Population.exhaustive(2, 2, people)
    return [law for law in every if (law.table[..., 1].sum(axis=0) > 0).all()]


def universe_size(people: int) -> int:
    """Count them from scratch: positives of each group, on two points, and the others in four cells."""
    return sum(
        (i + 1) * (j + 1) * math.comb(people - i - j + 3, 3)
        for i in range(1, people)
        for j in range(1, people - i + 1)
    )


def replaced_one(laws: list[Population]) -> np.ndarray:
    """Return which populations differ in one person."""
    people = math.lcm(*{value.denominator for value in laws[0].table.flat})
    return neighbor_table(laws, Fraction(1, people))


def opened_gaps(people: int) -> Iterator[tuple[Fraction, Fraction, int, int]]:
    """Yield for each start below 1, floor and number of replaced people the widest gap that is reached.

    As the gap at the start, the replaced people over the floor, and the widest gap's numerator and denominator.
    """
    rows = np.array(
        [
            (*counts, people - sum(counts))
            for counts in itertools.product(range(people + 1), repeat=4)
            if sum(counts) <= people and counts[0] + counts[1] and counts[2] + counts[3]
        ]
    )
    zero, one = rows[:, 0] + rows[:, 1], rows[:, 2] + rows[:, 3]
    above, below = abs(rows[:, 2] * zero - rows[:, 0] * one), zero * one
    floors = np.minimum(zero, one)
    for at in np.flatnonzero(above < below):
        moved = abs(rows - rows[at]).sum(axis=1) // 2
        start = Fraction(int(above[at]), int(below[at]))
        for floor in range(1, int(floors[at]) + 1):
            for replaced in range(1, floor + 1):
                inside = np.flatnonzero((moved <= replaced) & (floors >= floor))
                best = inside[np.argmax(above[inside] / below[inside])]
                yield start, Fraction(replaced, floor), int(above[best]), int(below[best])


def opened_count(people: int) -> int:
    """Count what `opened_gaps` yields, from the sizes of the positives alone."""
    count = 0
    for zero in range(1, people):
        for one in range(1, people - zero + 1):
            least = min(zero, one)
            count += ((zero + 1) * (one + 1) - 2) * (least * (least + 1) // 2)
    return count


def star(answers: int, length: int) -> np.ndarray:
    """Return who neighbours whom: one distribution in the midst (0), and a ray of others for each answer."""
    near = np.zeros((1 + answers * length,) * 2, dtype=bool)
    for ray in range(answers):
        chain = [0, *range(1 + ray * length, 1 + (ray + 1) * length)]
        for i, j in itertools.pairwise(chain):
            near[i, j] = near[j, i] = True
    return near


def star_learner(
    answers: int, length: int, factor: Fraction, delta: Fraction, failure: Fraction
) -> tuple[np.ndarray, np.ndarray]:
    """Return a learner that draws an answer at the midst of a star, and its own more and more along each ray."""
    missed = [failure]
    for _ in range(length):
        q = missed[-1]
        missed.append(min(factor * q + delta, (factor - 1 + q + delta) / factor, ONE))
    others = Fraction(answers - 1, answers)
    mechanism = np.full((1 + answers * length, answers), Fraction(1, answers), dtype=object)
    for ray, away in itertools.product(range(answers), range(1, length + 1)):
        wrong = min(missed[length - away], others)
        mechanism[ray * length + away] = wrong / (answers - 1) if answers > 1 else ONE
        mechanism[ray * length + away, ray] = 1 - wrong
    return mechanism, star(answers, length)


def around_star_threshold(answers: int, length: int, factor: float) -> list[tuple[float, bool]]:
    """Return whether a linear program finds a learner for a star, at several δ."""
    near = star(answers, length)
    met = np.ones((len(near), answers), dtype=bool)
    for ray in range(answers):
        met[(ray + 1) * length] = np.arange(answers) == ray
    favoured = np.ones(answers, dtype=bool)
    return [
        (delta, largest_mass(met, near, factor=factor, delta=delta, at=0, favoured=favoured) is not None)
        for delta in (0.1, 0.25, 0.35, 0.45, 0.55, 0.7, 0.9)
    ]
