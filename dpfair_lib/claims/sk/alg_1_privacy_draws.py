"""SK, Algorithm 1: what is drawn, the noisy joint law and the noisy support vectors of a machine."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from dpfair_lib.claims.once import once
from dpfair_lib.claims.search import Search
from dpfair_lib.privacy.auditing import audit
from dpfair_lib.privacy.laplace_vector import laplace_vector_loss
from dpfair_lib.svm.perturbation import SupportVectorPerturbation
from dpfair_lib.svm.small_machines import iris_pair


@once
def noise_cancels(joint: Any, search: Search) -> None:
    """The rates that the program sees are the classifier's on the records; the noise is on the cells, 2/(mε)."""
    search.part("rates of the noisy law")
    rng = np.random.default_rng(int(search.rng.integers(2**31)))
    draws, sizes = 48, []
    settings = ((0, 0.1, 60, 2), (1, 1.0, 60, 3), (0, 1.0, 240, 3), (1, 0.1, 240, 2))
    for which, epsilon, m, n_groups in settings:
        svc = iris_pair("moved")[which]
        labels, X = svc.classes_, rng.random((m, 4))
        y, groups = rng.permutation(np.repeat(labels, m // 2)), np.arange(m) % n_groups
        machine = SupportVectorPerturbation(svc, epsilon=epsilon).perturb(rng)
        case = {"epsilon": epsilon, "m": m, "groups": n_groups}
        said = machine.predict(X) == labels[1]
        cells = [[(groups == a) & (y == label) for label in labels] for a in range(n_groups)]
        share = np.array([[cell.mean() for cell in row] for row in cells])
        rates = np.array([[said[cell].mean() for cell in row] for row in cells])
        off = []
        for _ in range(draws):
            q, _ = joint(machine, X, y, sensitive_features=groups, rng=rng)
            noisy = q.sum(axis=0)
            off.append(noisy - share)
            search.sanity(-float(abs(q[1] / noisy - rates).max()), case, tolerance=1e-9)
        # mean of so many exponential numbers, within six standard deviations
        sizes.append(abs(np.array(off)).ravel() * m * epsilon / 2)
        search.sanity(6 / math.sqrt(sizes[-1].size) - abs(float(sizes[-1].mean()) - 1), case)
    every = np.concatenate(sizes)
    search.sanity(6 / math.sqrt(every.size) - abs(float(every.mean()) - 1), {"all together": every.size})


@once
def real_machine(release: Any, real_epsilon: Any, search: Search) -> None:
    """A machine on 100 irises, asked for ε = 1: an audit of the drawn vectors, between the asked and the exact ε."""
    search.part("a real machine")
    one, two = iris_pair("moved")
    f, g = one.support_vectors_, two.support_vectors_
    exact, scale = float(real_epsilon(f, g, 1.0)), 2 / len(f)
    for epsilon in (1.0, 0.2):
        draws = release(one, epsilon, 2000, search.rng)
        # mean of so many exponential numbers, within six standard deviations
        off = abs(float(abs(draws - f).mean()) * epsilon / scale - 1)
        search.sanity(6 / math.sqrt(draws.size) - off, {"scale": scale / epsilon})
    for svc, epsilon in itertools.product((two, iris_pair("counted")[1]), (1.0, 0.2)):
        _either_reading(release, svc, epsilon, search)

    def score(svc: Any, size: int, rng: np.random.Generator) -> np.ndarray:
        drawn = release(svc, 1.0, size, rng)
        return np.asarray(laplace_vector_loss(drawn.reshape(size, -1), f.ravel(), g.ravel(), scale))

    found = audit(score, [(one, two)], 4000, 0.001, search.rng)
    search.sanity(found.epsilon_lower - 1.0, {"audit": "more than asked"})
    search.sanity(exact - found.epsilon_lower, {"audit": "no more than the exact one"})
    says = "irises, 42 support vectors, ε = 1 asked: Clopper–Pearson lower bound"
    search.fact("iris_audit", found.epsilon_lower, says)
    search.fact("iris_exact", exact, "the same, exact")
    numbers = [int(svc.n_support_.sum()) for svc in iris_pair("counted")]
    search.sanity(abs(numbers[0] - numbers[1]) - 1, {"numbers": numbers})
    search.fact(
        "iris_numbers", str(numbers), "irises, another record replaced: support vectors before and after"
    )


def _either_reading(release: Any, svc: Any, epsilon: float, search: Search) -> None:
    """A number for each coordinate, or one for each vector; then differences of coordinates go out as they are."""
    exact, rng = svc.support_vectors_, search.rng.spawn(1)[0]
    k, d = exact.shape
    case = {"k": k, "epsilon": epsilon}
    readings: tuple[dict[str, str], ...] = ({}, {"noise_kind": "coordinate"}, {"noise_kind": "vector"})
    for draws, options in itertools.product((300, 700), readings):
        drawn = release(svc, epsilon, draws, rng, **options)
        noise = (drawn - exact) * k * epsilon / 2
        numbers = draws * k * (1 if options.get("noise_kind") == "vector" else d)
        search.sanity(-abs(drawn.shape[0] - draws), case)
        # mean of so many exponential numbers, within six standard deviations
        search.sanity(6 / math.sqrt(numbers) - abs(float(abs(noise).mean()) - 1), case | options)
        together = float(abs(noise - noise[..., :1]).max())
        if numbers < noise.size:
            search.sanity(-together, case | options, tolerance=1e-9)
        else:
            # as far apart as two independent numbers of scale 1: 3/2 in the mean, of variance 7/4
            apart = float(abs(noise[..., 1:2] - noise[..., :1]).mean()) - 1.5
            search.sanity(6 * math.sqrt(1.75 / (draws * k)) - abs(apart), case | options)
