"""The samplers themselves: they see exact numbers, and have no statement; whoever calls them has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from cases import Asked, Case, function
from neighbours import replaced

from dpfair_lib.privacy import add_discrete_laplace_noise, add_gaussian_noise, add_laplace_noise
from dpfair_lib.privacy.exponential import exponential_choice

VALUES = np.array([3.0, -1.0, 0.0, 1e9, 1.0])


def _sampler(kind: str, called: Callable[..., Any], argument: str, **settings: Any) -> Case:
    scale = next(iter(settings.values()), 1.0)

    def pairs() -> dict[str, Any]:
        plain = {argument: VALUES}
        return {
            f"{value}": (plain, replaced(plain, **{argument: value})) for value in (0.0, 4.0, -5.0, 2.0**52)
        }

    return Case(
        name=f"sampler, {kind}",
        covers=(called,),
        relation=None,
        make=function(called, **settings),
        data=lambda: {argument: VALUES},
        pairs=pairs,
        asked=lambda _, data, __: [Asked(kind, scale, data[argument])],
        numbers=lambda found: np.atleast_1d(np.asarray(found, dtype=float)),
        through=lambda _, answers: answers[0].astype(float),
        noisy=frozenset({"value"}),
    )


CASES = [
    _sampler("laplace", add_laplace_noise, "values", scale=2.5),
    _sampler("gaussian", add_gaussian_noise, "values", sigma=2.5),
    _sampler("geometric", add_discrete_laplace_noise, "counts", scale=2.5),
    _sampler("choice", exponential_choice, "scores"),
]
