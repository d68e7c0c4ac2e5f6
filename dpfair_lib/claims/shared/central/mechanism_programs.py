"""Linear programs over all private mechanisms that see the counts of several groups."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

Pairs = Sequence[tuple[int, int]]


class Symmetry(NamedTuple):
    """Where populations, states and actions go, if groups that are alike change places, or x and 1 − x do."""

    populations: np.ndarray
    states: np.ndarray
    actions: np.ndarray


class _Solved(NamedTuple):
    """What a solver found, for all states and actions."""

    value: float
    mechanism: np.ndarray
    prices: np.ndarray
    weights: np.ndarray


def least_loss(
    laws: np.ndarray, losses: np.ndarray, neighbours: Pairs, odds: float, *, delta: float = 0.0,
    prior: bool = False, symmetries: Sequence[Symmetry] = (),
) -> float:  # fmt: skip
    """Return the least worst (or mean, for a uniform prior) loss of all private mechanisms from states to actions.

    Parameters: laws of shape (populations, states), losses of shape (populations, actions), pairs of states that are
    neighbours in either order.
    """
    return _solved(laws, losses, neighbours, odds, delta, prior, symmetries).value


def solved_program(
    laws: np.ndarray, losses: np.ndarray, neighbours: Pairs, odds: float, delta: float = 0.0,
    symmetries: Sequence[Symmetry] = (),
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Return the mechanism of the least worst loss, the price of each constraint of privacy, and the weights.

    Their shapes are (states, actions), (pairs, actions) and (populations,). The symmetries are a group, or none; the
    mean of a mechanism over all of them is as good and as private. So one variable stands for all that symmetries take
    to one another.
    """
    return _solved(laws, losses, neighbours, odds, delta, False, symmetries)[1:]


def _solved(
    laws: np.ndarray, losses: np.ndarray, neighbours: Pairs, odds: float, delta: float, prior: bool,
    symmetries: Sequence[Symmetry],
) -> _Solved:  # fmt: skip
    """The variables are the mechanism, for δ > 0 what exceeds e^ε times a neighbour's chance, and the worst loss."""
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, csr_array, eye_array, hstack, kron, vstack

    states, actions, many = laws.shape[1], losses.shape[1], len(neighbours)
    every = np.arange(len(laws)), np.arange(states), np.arange(actions)
    alike = _alike(symmetries or [Symmetry(*every)], neighbours, states, actions)
    one, two = np.array(neighbours).T
    at = np.r_[np.arange(many), np.arange(many)]
    signs = coo_array((np.r_[np.ones(many), np.full(many, -odds)], (at, np.r_[one, two])), (many, states))
    cell = coo_array((np.ones(states * actions), (np.arange(states * actions), alike.cells)))
    private = (kron(signs, eye_array(actions)) @ cell).tocsr()[_first(alike.prices)]
    sums = (kron(eye_array(states), np.ones((1, actions))) @ cell).tocsr()[_first(alike.states)]
    joint = np.einsum("ps,pa->psa", laws, losses).reshape(len(laws), -1)
    risks = csr_array(joint.mean(axis=0)[None] if prior else joint[_first(alike.populations)]) @ cell
    excess = private.shape[0] if delta else 0
    below = [hstack([private, -eye_array(excess) if delta else None, csr_array((private.shape[0], 1))])]
    limits = [np.zeros(private.shape[0])]
    if delta:
        of_pair = coo_array((np.ones(many * actions), (np.repeat(np.arange(many), actions), alike.prices)))
        of_pair = of_pair.tocsr()[_first(alike.pairs)]
        below.append(
            hstack([csr_array((of_pair.shape[0], cell.shape[1])), of_pair, csr_array((of_pair.shape[0], 1))])
        )
        limits.append(np.full(of_pair.shape[0], delta))
    worst = -csr_array(np.ones((risks.shape[0], 1)))
    below.append(hstack([risks, csr_array((risks.shape[0], excess)), worst]))
    limits.append(np.zeros(risks.shape[0]))
    cost = np.zeros(cell.shape[1] + excess + 1)
    cost[-1] = 1
    solved = linprog(
        cost, vstack(below).tocsr(), np.concatenate(limits),
        hstack([sums, csr_array((sums.shape[0], excess + 1))]).tocsr(), np.ones(sums.shape[0]), bounds=(0, None),
        method="highs",
    )  # fmt: skip
    assert solved.success, solved.message
    multipliers = -solved.ineqlin.marginals
    prices = (multipliers[: private.shape[0]] / np.bincount(alike.prices))[alike.prices]
    weights = np.ones(1) if prior else multipliers[-risks.shape[0] :] / np.bincount(alike.populations)
    return _Solved(
        float(solved.fun), solved.x[alike.cells].reshape(states, actions), prices.reshape(many, actions),
        np.full(len(laws), 1 / len(laws)) if prior else weights[alike.populations],
    )  # fmt: skip


class _Alike(NamedTuple):
    """A number for each population, state, pair, state with action and pair with action: equal if they are alike."""

    populations: np.ndarray
    states: np.ndarray
    pairs: np.ndarray
    cells: np.ndarray
    prices: np.ndarray


def _alike(symmetries: Sequence[Symmetry], neighbours: Pairs, states: int, actions: int) -> _Alike:
    one, two = np.array(neighbours).T
    place = np.full((states, states), -1)
    place[one, two] = np.arange(len(neighbours))
    pairs = [place[each.states[one], each.states[two]] for each in symmetries]
    return _Alike(
        _classes([each.populations for each in symmetries]),
        _classes([each.states for each in symmetries]),
        _classes(pairs),
        _classes([(each.states[:, None] * actions + each.actions).ravel() for each in symmetries]),
        _classes(
            [(pair[:, None] * actions + g.actions).ravel() for pair, g in zip(pairs, symmetries, strict=True)]
        ),
    )


def _classes(images: Sequence[np.ndarray]) -> np.ndarray:
    return np.asarray(np.unique(np.min(images, axis=0), return_inverse=True)[1])


def _first(classes: np.ndarray) -> np.ndarray:
    return np.asarray(np.unique(classes, return_index=True)[1])


class Rates(NamedTuple):
    """Populations and places at which a classifier is fair, in steps of a grid, and their symmetries."""

    populations: list[tuple[int, ...]]
    places: list[tuple[int, ...]]
    symmetries: list[Symmetry]


def unknown_rates(sizes: Sequence[int], steps: int) -> Rates:
    """Return the rates 0, …, `steps` of each group, and all places that a classifier needs.

    The gap is the range of rates less place, which is the same if all groups' places move together: so the smallest is
    0. Where one is above `steps`, `steps` is no worse: that group's rate is still not above its place, and the smallest
    place's is not below. Between whole numbers the gap is linear on each piece, and its corners can be drawn. One group
    is compared with a known rate.
    """
    k = len(sizes)
    populations = list(itertools.product(range(steps + 1), repeat=k))
    places = populations if k == 1 else [place for place in populations if min(place) == 0]
    states = list(itertools.product(*(range(n + 1) for n in sizes)))

    symmetries = []
    for order, turned in itertools.product(itertools.permutations(range(k)), (False, True)):
        if all(sizes[a] == n for a, n in zip(order, sizes, strict=True)):
            symmetries.append(
                Symmetry(
                    _where(populations, order, [steps] * k if turned else None, slides=False),
                    _where(states, order, sizes if turned else None, slides=False),
                    _where(places, order, [steps] * k if turned else None, slides=k > 1),
                )
            )
    return Rates(populations, places, symmetries)


@functools.cache
def of_signs(sizes: tuple[int, ...], shift: float, epsilon: float, delta: float = 0.0) -> float:
    """Return the least mean gap over rates (1 ± τ)/2, each with its own sign, of all private mechanisms."""
    laws, losses, symmetries = of_rates(sizes, ((1 - shift) / 2, (1 + shift) / 2))
    odds = math.exp(min(epsilon, 16))
    return least_loss(laws, losses, one_apart(sizes), odds, delta=delta, prior=True, symmetries=symmetries)


def of_rates(
    sizes: tuple[int, ...], rates: tuple[float, ...]
) -> tuple[np.ndarray, np.ndarray, list[Symmetry]]:
    """Return laws and losses for groups whose rates are some of these, which have equal distances."""
    found, step = unknown_rates(sizes, len(rates) - 1), rates[1] - rates[0]
    apart = np.array(found.populations)[:, None] - np.array(found.places)[None]
    return (
        products(sizes, np.array(rates)[np.array(found.populations)]),
        step * np.ptp(apart, axis=2),
        found.symmetries,
    )


def _where(
    points: list[tuple[int, ...]], order: tuple[int, ...], tops: Sequence[int] | None, *, slides: bool
) -> np.ndarray:
    """Return where each point goes, if its entries change places, are taken from their tops, or slide down to 0."""
    at, found = {point: number for number, point in enumerate(points)}, []
    for point in points:
        moved = [point[a] if tops is None else tops[a] - point[a] for a in order]
        least = min(moved) if slides else 0
        found.append(at[tuple(x - least for x in moved)])
    return np.array(found)


def binomials(n: int, rates: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return P(count | rate), of shape (rates, n + 1); nobody may change it."""
    return _binomials(n, tuple(np.asarray(rates, dtype=float).tolist()))


@functools.cache  # many programs have the same rates
def _binomials(n: int, rates: tuple[float, ...]) -> np.ndarray:
    from scipy.stats import binom

    return np.array(binom.pmf(np.arange(n + 1), n, np.array(rates)[:, None]))


def products(sizes: Sequence[int], populations: Sequence[Sequence[float]] | np.ndarray) -> np.ndarray:
    """Return P(counts of all groups | rates of all groups), counts in the order of `itertools.product`."""
    rates, law = np.asarray(populations, dtype=float), np.ones((len(populations), 1))
    for n, own in zip(sizes, rates.T, strict=True):
        law = (law[:, :, None] * binomials(n, own)[:, None, :]).reshape(len(rates), -1)
    return law


def one_apart(sizes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the pairs of states, in both orders, of which one group's count differs by 1."""
    states = list(itertools.product(*(range(n + 1) for n in sizes)))
    place = {state: at for at, state in enumerate(states)}
    moves = [tuple(step * (a == b) for b in range(len(sizes))) for a in range(len(sizes)) for step in (-1, 1)]
    pairs = (
        (place[state], place.get(tuple(x + y for x, y in zip(state, move, strict=True)), -1))
        for state in states
        for move in moves
    )
    return [pair for pair in pairs if pair[1] >= 0]
