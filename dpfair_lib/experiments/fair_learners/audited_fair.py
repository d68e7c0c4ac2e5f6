"""Audits of six fair learners by both parts of what each releases, and of the same with less noise than they claim.

An audit by one of two parts shows that part's cost at most. So the score of a run is the logarithm of the likelihood
ratio of both, see `audited_pairs`. A planted fault runs the learner at other settings, at which it has less noise, and
states what it states as it should be. Noise that is less by a third shows in so many runs; a total that leaves a part
out shows in the tests alone, which compute the moves of both parts before noise.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from dpfair_lib.experiments.experiment import Experiment, Experiments
from dpfair_lib.experiments.fair_learners.audited_counting import (
    global_scaling,
    group_clipping,
    lagrangian,
)
from dpfair_lib.experiments.fair_learners.audited_pairs import (
    Learner,
    Parts,
    Rows,
    Settings,
    exponentiated_gradient,
    fermi,
    fermi_counted,
    functional,
)
from dpfair_lib.experiments.ours.audited_release import FAILURE, Audited, audit_of, one_by_one
from dpfair_lib.privacy import PrivacyStatement

FITS, FAULTS = 14_000, 1000
"""Runs on each data set, of learners as they are and with planted faults, which show sooner."""


def by_both(one: Learner) -> Audited:
    """Audit a learner by both parts."""
    return Audited(one.pair, one_by_one(lambda rows, _: one.fit(rows, {}), lambda it: sum(one.parts(it))))


def planted(
    one: Learner, settings: Callable[[], Settings], score: Callable[[Parts], float]
) -> Audited:  # fmt: skip
    """Audit a learner that runs with less noise than it claims.

    Parameters
    ----------
    one : Learner
        The learner whose claim is made.
    settings : callable
        Returns those with which it runs.
    score : callable
        Of both parts.
    """

    def release(rows: Rows, size: int, seed: int) -> tuple[np.ndarray, PrivacyStatement]:
        less = settings()
        made = one_by_one(lambda data, _: one.fit(data, less), lambda it: score(one.parts(it)))
        return made(rows, size, seed)[0], one.statement

    return Audited(one.pair, release)


LEARNERS: Mapping[str, Learner] = {
    "functional mechanism": functional(),
    "group clipping": group_clipping(),
    "global scaling": global_scaling(),
    "DP-FERMI": fermi(),
    "DP-FERMI, noisy frequencies": fermi_counted(),
    "Lagrangian": lagrangian(),
    "exponentiated gradient": exponentiated_gradient(),
}
"""Learners by name."""

QUARTERED = ", a quarter of the noise"

FAIR: dict[str, Audited] = {name: by_both(one) for name, one in LEARNERS.items()}
"""Releases by name."""

PLANTED: dict[str, Audited] = {
    name + QUARTERED: planted(one, one.quarter, sum) for name, one in LEARNERS.items()
}
"""The same with less noise than they claim, by name: an audit has to show more than the claim."""

IN_PART: dict[str, Audited] = {
    name: planted(one, one.counts, lambda parts: parts.second) for name, one in LEARNERS.items() if one.counts
}
"""The same with nearly no noise on counts, by the name of the learner, seen by the counts alone; not recorded."""

ALL = FAIR | PLANTED


def run_audit(*, release: str, seed: int, size: int | None = None) -> list[dict[str, Any]]:
    """Return the row of one release, with the recorded number of runs unless another size is given."""
    if size is None:
        size = FAULTS if release in PLANTED else FITS
    return [audit_of(release, ALL[release], size, seed=seed, failure=FAILURE / len(ALL), noise="secure")]


def experiment(name: str) -> Experiment:
    """Return a lower bound on the ε of each learner, with and without planted faults, a task per release."""
    parameters = {"fits": FITS, "faults": FAULTS, "failure": FAILURE, "seed": 0}
    tasks = [{"release": release, "seed": 0} for release in ALL]
    return Experiment(name, {"name": "made up"}, parameters, run_audit, tasks)


EXPERIMENTS: Experiments = {"privacy-audits-fair": experiment}
