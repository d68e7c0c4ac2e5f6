"""Random instances of the k-ary program, and what a channel promises, judged without the library's solver."""

import math
from fractions import Fraction

import mpmath
import numpy as np

from dpfair_lib import smallest_error
from dpfair_lib.local import smallest_fair_error

KINDS = ("even", "Dirichlet", "sparse", "power law", "tiny")
RATES = ("any", "two", "labels", "one", "small", "near")
EPSILONS = (0.0, 1e-9, 1e-3, 0.1, 0.5, 1.0, 2.0, "ln k + 1", 6.0, 12.0, 20.0, 100.0, math.inf)


def draw(seed, k=None):
    """Return shares, rates and ε of one of many kinds."""
    rng = np.random.default_rng(seed)
    k = k or int(rng.integers(2, 13))
    kind, rate, epsilon = (options[rng.integers(len(options))] for options in (KINDS, RATES, EPSILONS))
    p = {
        "even": np.ones(k), "Dirichlet": rng.dirichlet(np.full(k, 2.0)), "power law": 1 / np.arange(1.0, k + 1),
        "sparse": np.maximum(rng.dirichlet(np.full(k, 0.3)), 1e-6), "tiny": 10 ** rng.uniform(-8, 0, k),
    }[kind]  # fmt: skip
    uniform = rng.uniform(size=k)
    p1 = {
        "any": 0.05 + 0.55 * uniform, "two": np.where(uniform < 0.5, 0.2, 0.7), "labels": 1.0 * (uniform < 0.4),
        "one": np.full(k, 0.3), "small": 1e-3 * uniform, "near": 0.3 + 1e-6 * uniform,
    }[rate]  # fmt: skip
    p1[0], p1[-1] = (1.0, 0.0) if rate == "labels" else (p1[0], 0.8 * p1[-1])
    return p / p.sum(), p1, math.log(k) + 1 if epsilon == "ln k + 1" else epsilon


def flaws(channel, p, p1, epsilon, error):
    """Say which promises a channel does not keep; ε by rational arithmetic, the others to 1e-13."""
    q, found = channel.matrix, []
    truth = np.diagonal(q)
    for what, miss in (
        ("negative", -q.min()),
        ("row sums", abs(q.sum(axis=1) - 1).max()),
        ("columns", (q.max(axis=0) - truth).max()),
        ("rows", (q.max(axis=1) - truth).max()),
        ("budget", 1 - p @ truth - error),
        ("value", abs(channel.value - unfairness(q, p, p1)) / max(1, channel.value) - 1e-12),
        ("bound", channel.certificate.lower - channel.value * (1 + 1e-13)),
    ):
        if not miss <= 1e-13:
            found.append(what)
    with mpmath.workprec(200):
        largest = mpmath.exp(mpmath.mpf(epsilon))
        for column in q.T:
            high, low = (Fraction(float(end)) for end in (column.max(), column.min()))
            if math.isfinite(epsilon) and mpmath.mpf(high.numerator) / high.denominator > (
                largest * low.numerator / low.denominator
            ):
                found.append("epsilon")
                break
    return found


def unfairness(q, p, p1):
    """Return Δ of the channel in rational arithmetic."""
    q, p, p1 = (np.array([Fraction(float(x)) for x in a.ravel()]).reshape(a.shape) for a in (q, p, p1))
    p = p / p.sum()
    overall = p @ p1
    return float(max(abs((p * p1) @ q / (p @ q) / overall - 1)))


def budget(p, p1, epsilon, share):
    least = smallest_error(p, epsilon)
    return least + share * max(smallest_fair_error(p, p1, epsilon) - least, 0.0)


def exactly(x):
    """Return floats as fractions, entry by entry."""
    x = np.asarray(x)
    return np.array([Fraction(float(one)) for one in x.ravel()], dtype=object).reshape(x.shape)
