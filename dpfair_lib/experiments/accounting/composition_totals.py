"""Totals of fixed lists of releases: ours beside those of dp-accounting's two accountants, with the time of each.

Every list is given to dp-accounting as the event that `to_dp_event` makes of it. Its accountant of loss distributions
has its default grid, that of Rényi divergences its default orders. Where there is a formula of our own for the kind, it
is measured too. Time is that of the processor, without what earlier calls have left.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpfair_lib._extras import extra
from dpfair_lib.experiments.experiment import Experiment, Experiments, Rows
from dpfair_lib.privacy import mechanisms
from dpfair_lib.privacy.budgets.dp_events import TranslatedReleases, to_dp_event
from dpfair_lib.privacy.composition import optimal_composition_epsilon
from dpfair_lib.privacy.gaussian import gaussian_epsilon
from dpfair_lib.privacy.laplace_composition import laplace_composition_delta
from dpfair_lib.privacy.mechanisms import Mechanism, total_epsilon

DELTAS = 1e-8, 1e-5, 1e-3
RATIOS, TIMES = (0.05, 0.2, 1.0), (1, 10, 100)
KINDS = "Gaussian", "Laplace", "pure", "known δ", "batches", "batches, replaced", "mixed"


def releases(kind: str) -> list[tuple[Mechanism, ...]]:
    """Return the lists of one kind."""
    if kind in ("batches", "batches, replaced"):
        relation = "add-remove" if kind == "batches" else "replace-one"
        return [
            (Mechanism("poisson-gaussian", 1 / noise, rate=rate, steps=steps, relation=relation),)
            for noise in (0.8, 2.0)
            for rate in (0.01, 0.1)
            for steps in (100, 1000)
        ]
    if kind == "mixed":
        return [
            (Mechanism("gaussian", r, steps=k), Mechanism("laplace", r, steps=k), Mechanism("stated", r))
            for r in RATIOS
            for k in TIMES
        ]
    name = {"Gaussian": "gaussian", "Laplace": "laplace"}.get(kind, "stated")
    fails = 1e-11 if kind == "known δ" else 0.0
    return [(Mechanism(name, r, fails, steps=k),) for r in RATIOS for k in TIMES]  # type: ignore[arg-type]


def by_formula(one: Mechanism, delta: float) -> float:
    """Return ε of equal releases by a formula of their kind."""
    if one.kind == "stated":
        return optimal_composition_epsilon(one.ratio, one.delta, one.steps, delta)
    if one.kind == "gaussian":
        return gaussian_epsilon(delta, 1.0, math.sqrt(one.steps) * one.ratio)
    low, high = 0.0, one.steps * one.ratio
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        enough = laplace_composition_delta(one.ratio, one.steps, middle)[1] <= delta
        low, high = (low, middle) if enough else (middle, high)
    return high


def by_function(one: Mechanism, delta: float) -> float:
    """Return ε of Gaussian noise by dp-accounting's function for it, which has a formula too."""
    with extra("accounting"):
        from dp_accounting import get_epsilon_gaussian

    return float(get_epsilon_gaussian(1 / (math.sqrt(one.steps) * one.ratio), delta))


def by_losses(found: TranslatedReleases, delta: float) -> float:
    """Return ε by dp-accounting's loss distributions; what fails openly goes off δ first."""
    with extra("accounting"):
        from dp_accounting.pld import PLDAccountant

    accountant = PLDAccountant(found.neighboring_relation).compose(found.event)
    return float(accountant.get_epsilon(_rest(found, delta)))


def by_divergences(found: TranslatedReleases, delta: float) -> float:
    """Return ε by dp-accounting's Rényi divergences; not a number where they do not know the event."""
    with extra("accounting"):
        from dp_accounting.rdp import RdpAccountant

    accountant = RdpAccountant(neighboring_relation=found.neighboring_relation)
    if not accountant.supports(found.event):
        return math.nan
    return float(accountant.compose(found.event).get_epsilon(_rest(found, delta)))


def _rest(found: TranslatedReleases, delta: float) -> float:
    fails = Fraction(found.fails)
    return float((Fraction(delta) - fails) / (1 - fails))


def compared(kind: str) -> Rows:
    """Return the totals of every list of one kind at every δ: ε and seconds of each way that counts it."""
    for total in _all_ways((Mechanism("gaussian", 1.0), Mechanism("laplace", 1.0)), 1e-5).values():
        total()  # imports are not timed
    rows: Rows = []
    for at, listed in enumerate(releases(kind)):
        for delta in DELTAS:
            rows += [
                {"kind": kind, "list": at, "delta": delta, "way": way, **_timed(total)}
                for way, total in _all_ways(listed, delta).items()
            ]
    return rows


def _all_ways(listed: tuple[Mechanism, ...], delta: float) -> dict[str, Callable[[], float]]:
    """Return the ways to count a list, by name."""
    one = listed[0]
    ways: dict[str, Callable[[], float]] = {"ours": lambda: total_epsilon(listed, delta)}
    if len(listed) == 1 and one.kind != "poisson-gaussian":
        ways["formula"] = lambda: by_formula(one, delta)
    if len(listed) == 1 and one.kind == "gaussian":
        ways["function"] = lambda: by_function(one, delta)
    if one.relation != "replace-one":
        found = to_dp_event(listed, rest=True)
        ways["losses"] = lambda: by_losses(found, delta)
        ways["divergences"] = lambda: by_divergences(found, delta)
    return ways


def _timed(total: Callable[[], float]) -> dict[str, Any]:
    mechanisms._composed.cache_clear()
    started = time.process_time()
    epsilon = total()
    seconds = time.process_time() - started
    return {"epsilon": None if math.isnan(epsilon) else epsilon, "seconds": seconds}


def experiment(name: str) -> Experiment:
    """Return the totals, a task for each kind."""
    parameters = {"deltas": DELTAS, "ratios": RATIOS, "times": TIMES, "kinds": KINDS}
    return Experiment(name, {"name": "none"}, parameters, compared, [{"kind": kind} for kind in KINDS])


EXPERIMENTS: Experiments = {"composition-totals": experiment}
