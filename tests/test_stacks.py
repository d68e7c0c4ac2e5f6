"""Of many inputs at once, stacked along leading axes, a function makes what it makes of each."""

import numpy as np
import pytest

from dpfair_lib.central.least_change import is_least_change
from dpfair_lib.compatibility.impossibility.constructions import levelled_down
from dpfair_lib.compatibility.impossibility.criteria import (
    NOTIONS,
    beats_constants,
    cell_rates,
    fair_within,
    is_usable,
    opportunity_gap,
)
from dpfair_lib.compatibility.impossibility.opposites import usable_within
from dpfair_lib.compatibility.perturbed_leader.exact_laws import cube_law
from dpfair_lib.compatibility.private_learner.choice_law import (
    choice_probabilities,
    learner_delta,
    learner_epsilon,
)
from dpfair_lib.compatibility.private_learner.release_privacy import release_delta
from dpfair_lib.compatibility.subgroup_fairness.matrix_games import average_regrets, equilibrium_gaps
from dpfair_lib.local.truthful import private_by_pairs, private_by_truth, truthful_columns, truthful_rows
from dpfair_lib.privacy.finite_laws import composed, hockey_stick, processed, smallest_epsilon
from dpfair_lib.privacy.laplace_vector import laplace_vector_loss

LEARNER = {"epsilon": 1.0, "delta": 0.1}
SHAPES = {  # of each argument that is stacked, without the leading axes
    "choice_probabilities": (lambda u: choice_probabilities(u, 3, 10, **LEARNER), (4,)),
    "learner_delta": (lambda u, v: learner_delta((u, v), (3, 2), 10, at=0, **LEARNER), (4,), (4,)),
    "learner_epsilon": (lambda u, v: learner_epsilon((u, v), (3, 2), 10, to=0.01, **LEARNER), (4,), (4,)),
    "release_delta": (lambda u, v: release_delta((u, v), (3, 2), 10, at=0, **LEARNER), (4,), (4,)),
    "average_regrets": (lambda *found: np.stack(average_regrets(*found), axis=-1), (2, 3), (4, 2), (4, 3)),
    "equilibrium_gaps": (lambda *found: np.stack(equilibrium_gaps(*found), axis=-1), (2, 3), (4, 2), (4, 3)),
    "cube_law": (lambda costs: cube_law(costs - 1, 2.0), (4,)),
    "opportunity_gap": (opportunity_gap, (4, 2, 2), (4, 2)),
    "levelled_down": (levelled_down, (4, 2, 2), (4, 2)),
    "cell_rates": (lambda table, h: np.stack(cell_rates(table, h, (0,)), axis=-2), (4, 3, 2), (4, 3)),
    "processed": (lambda laws: processed(laws, np.eye(3)[[0, 1, 1, 2]]), (4,)),
    "composed": (composed, (2,), (2, 3)),
    "hockey_stick": (lambda first, second: hockey_stick(first, second, 1.5), (4,), (4,)),
    "smallest_epsilon": (lambda first, second: smallest_epsilon(first, second, 0.01), (4,), (4,)),
    "laplace_vector_loss": (lambda *found: laplace_vector_loss(*found, 0.5), (3,), (3,), (3,)),
}


@pytest.mark.parametrize("name", SHAPES)
def test_a_stack_of_numbers(name):
    function, *shapes = SHAPES[name]
    rng = np.random.default_rng(1)
    laws = name in {"processed", "composed", "hockey_stick", "smallest_epsilon"}

    def drawn(shape):
        found = rng.uniform(0.1, 1, size=(2, 3, *shape))
        return found / found.sum(axis=-1, keepdims=True) if laws else found

    parts = [drawn(shape) for shape in shapes]
    stacked = function(*parts)
    for at in np.ndindex(2, 3):
        assert stacked[at] == pytest.approx(function(*(part[at] for part in parts)), rel=1e-9, abs=1e-13)
    assert len({str(stacked[at]) for at in np.ndindex(2, 3)}) == 6  # the inputs tell


def channels(rng, shape):
    return rng.integers(2, 5, size=(*shape, 3, 3)) + np.eye(3, dtype=int)


def tables(rng, shape, h=(4, 3)):
    return rng.integers(1, 4, size=(*shape, *h, 2)), rng.integers(0, 2, size=(*shape, *h))


TRUTHS = {
    "private_by_pairs": (lambda q: private_by_pairs(q, 0.5), channels),
    "private_by_truth": (lambda q: private_by_truth(q, 0.5), channels),
    "truthful_columns": (truthful_columns, channels),
    "truthful_rows": (truthful_rows, channels),
    "is_usable": (is_usable, lambda rng, shape: (tables(rng, shape, (2, 2))[1],)),
    "usable_within": (lambda h: usable_within(h, 0.1), lambda rng, shape: (tables(rng, shape, (2, 2))[1],)),
    "beats_constants": (beats_constants(), lambda rng, shape: tables(rng, shape, (2, 2))),
    "not worse": (beats_constants(strict=False), lambda rng, shape: tables(rng, shape, (2, 2))),
    **{notion: (fair_within(notion), lambda rng, shape: tables(rng, shape, (2, 2))) for notion in NOTIONS},
    "is_least_change": (
        lambda before, after: is_least_change(np.full(before.shape, 0.5), before, after),
        lambda rng, shape: [rng.integers(0, 2, size=(*shape, 2, 2)) for _ in range(2)],
    ),
}


@pytest.mark.parametrize("name", TRUTHS)
@pytest.mark.parametrize("shape", [(50,), (5, 10)])
def test_a_stack_of_truths(name, shape):
    function, drawn = TRUTHS[name]
    parts = drawn(np.random.default_rng(2), shape)
    parts = parts if isinstance(parts, tuple | list) else (parts,)
    stacked = function(*parts)
    assert stacked.shape == shape
    assert {bool(stacked[at]) for at in np.ndindex(shape)} == {False, True}
    for at in np.ndindex(shape):
        assert stacked[at] == function(*(part[at] for part in parts))
