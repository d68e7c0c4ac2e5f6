"""Audits of fair learners: that each pair is as far apart as its account allows, that scores see it, and the record."""

import math

import numpy as np
import pytest
from scipy.stats import beta

from dpfair_lib.experiments import read_record
from dpfair_lib.experiments.fair_learners import audited_fair
from dpfair_lib.experiments.fair_learners.audited_fair import (
    ALL,
    FAILURE,
    FAIR,
    FAULTS,
    FITS,
    IN_PART,
    LEARNERS,
    PLANTED,
    QUARTERED,
    by_both,
    run_audit,
)
from dpfair_lib.experiments.fair_learners.audited_pairs import (
    DELTA,
    EPSILON,
    FEWER,
    FREQUENCIES,
    sgd_noise,
)
from dpfair_lib.experiments.ours.audited_release import audit_of
from dpfair_lib.learners import counted_steps, fermi_exact
from dpfair_lib.privacy import gaussian_sigma
from dpfair_lib.privacy.noise_source import NoiseSource

GAUSSIAN = [name for name in LEARNERS if "frequencies" not in name]


class Sampler:
    """Stands in for all samplers: keeps what should get noise, in deviations of it, and answers as it is told."""

    def __init__(self, monkeypatch):
        self.begin()
        for module in (counted_steps, fermi_exact):
            monkeypatch.setattr(module, "add_discrete_gaussian_noise", self.add)
        monkeypatch.setattr(NoiseSource, "add_gaussian", lambda _, values, sigma: self.add(values, sigma))
        monkeypatch.setattr(NoiseSource, "add_laplace", lambda _, values, scale: self.add(values, scale))

    def begin(self, answers=None, noise=None):
        """Prepare for a fit: with answers that are given, or with noise, in deviations; with none by default."""
        self.seen, self.answers, self.given, self.noise = [], [], answers, noise

    def add(self, values, scale):
        values, at = np.asarray(values, dtype=float), len(self.seen)
        self.seen.append(values / scale)
        if self.given is not None:
            return self.given[at]
        self.answers.append(values if self.noise is None else values + scale * self.noise[at])
        return self.answers[-1]


def moved(sampler, one, settings):
    """Return how far the pair moves whatever gets noise, in deviations, given what was released before it."""
    sampler.begin()
    one.fit(one.pair[0], settings)
    first, answers = sampler.seen, sampler.answers
    sampler.begin(answers)
    one.fit(one.pair[1], settings)
    return [a - b for a, b in zip(first, sampler.seen, strict=True)]


def paid(name):
    """Return μ² of what a learner claims: of Gaussian noise alone, which that on frequencies is not."""
    if name == "DP-FERMI, noisy frequencies":
        return sgd_noise(1, EPSILON - FREQUENCIES) ** -2
    if name in ("functional mechanism", "exponentiated gradient"):
        return gaussian_sigma(EPSILON, DELTA, 1.0, "analytic") ** -2
    steps = 2 if name in ("global scaling", "Lagrangian") else 1
    return steps * sgd_noise(steps) ** -2


@pytest.mark.parametrize("name", LEARNERS)
def test_a_pair_moves_the_sums_as_far_as_the_account_allows(name, monkeypatch):
    steps = moved(Sampler(monkeypatch), LEARNERS[name], {})
    if name == "DP-FERMI, noisy frequencies":
        frequencies, *steps = steps
        assert abs(frequencies).sum() == pytest.approx(FREQUENCIES, rel=1e-9)
    square = sum(float(step @ step) for step in map(np.ravel, steps))
    assert paid(name) * (1 - 1e-5) < square <= paid(name) * (1 + 1e-9)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_each_part_has_its_share_of_the_move(name, monkeypatch):
    steps = moved(Sampler(monkeypatch), LEARNERS[name], {})
    squares = [float(np.ravel(step) @ np.ravel(step)) for step in steps]
    if name == "functional mechanism":  # squares of features; then labels, then groups
        squares = [float(step @ step) for step in (steps[0][:2], steps[0][2:4], steps[0][4:])]
        shares = [0, 0.5, 0.5]
    elif name == "DP-FERMI":  # weights, then W
        squares = [float(step @ step) for step in (steps[0][:2], steps[0][2:])]
        shares = [0.5, 0.5]
    elif name == "exponentiated gradient":
        shares = [0.5, *[0.1] * 5]
    else:
        count = len(squares) // 2
        shares = [0.25 / count, 0.75 / count] * count
    assert np.array(squares) / paid(name) == pytest.approx(shares, abs=1e-5)


def seen(sampler, one):
    """Return how much of μ a score sees, to first order: its move over its deviation."""

    def score(rows, noise=None):
        sampler.begin(noise=noise)
        return sum(one.parts(one.fit(rows, {})))

    here = score(one.pair[0])
    shapes = [each.shape for each in sampler.seen]
    slopes = []
    for at, shape in enumerate(shapes):
        for entry in np.ndindex(shape):
            noise = [np.zeros(each) for each in shapes]
            noise[at][entry] = 1.0
            ends = [score(one.pair[0], [sign * each for each in noise]) for sign in (1, -1)]
            slopes.append((ends[0] - ends[1]) / 2)
    return abs(here - score(one.pair[1])) / math.hypot(*slopes)


@pytest.mark.parametrize("name", GAUSSIAN)
def test_a_score_sees_most_of_what_was_paid_for(name, monkeypatch):
    share = seen(Sampler(monkeypatch), LEARNERS[name]) / math.sqrt(paid(name))
    assert 0.89 < share < 1.0001


@pytest.mark.parametrize("name", LEARNERS)
def test_planted_faults_have_less_noise_and_nothing_else(name, monkeypatch):
    sampler, one = Sampler(monkeypatch), LEARNERS[name]
    usual = moved(sampler, one, {})
    for settings, factors in ((one.quarter(), [4.0] * len(usual)), (one.counts and one.counts(), None)):
        if settings is None:
            continue
        if factors is None:  # counts come first, but for exponentiated gradient, and then in turn
            factors = [1.0 if at % 2 else FEWER for at in range(len(usual))]
            if name == "exponentiated gradient":
                factors = [1.0, *[FEWER] * 5]
        for step, less, factor in zip(usual, moved(sampler, one, settings), factors, strict=True):
            assert less == pytest.approx(step * factor, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("name", LEARNERS)
def test_an_audit_finds_no_more_than_is_stated_and_much_more_where_noise_is_nearly_left_out(name):
    one = LEARNERS[name]
    # secure noise has no seed: each limit is such that fewer than one run in 100,000 fails by chance
    honest = audit_of(name, by_both(one), 300, seed=0, failure=1e-6, noise="secure")
    assert honest["guarantee"]
    assert honest["epsilon"] == pytest.approx(EPSILON, abs=1e-3)
    assert honest["epsilon"] <= EPSILON
    assert honest["lower"] < EPSILON
    if name in IN_PART:
        fault = audit_of(name, IN_PART[name], 1000, seed=0, failure=1e-2, noise="secure")
        assert fault["lower"] > fault["epsilon"] == honest["epsilon"]


def test_a_quarter_of_the_noise_is_convicted():
    row = audit_of("DP-FERMI", PLANTED["DP-FERMI" + QUARTERED], 800, seed=0, failure=1e-2, noise="secure")
    assert row["lower"] > row["epsilon"] == LEARNERS["DP-FERMI"].statement.epsilon


def test_a_task_gives_a_row_of_the_record():
    (row,) = run_audit(release="functional mechanism", seed=0, size=8)
    assert (row["release"], row["runs"], row["noise"]) == ("functional mechanism", 4, "secure")
    tasks = audited_fair.experiment("privacy-audits-fair").tasks
    assert [task["release"] for task in tasks] == list(ALL) == [*FAIR, *PLANTED]


def test_no_recorded_bound_is_above_its_claim_but_those_of_planted_faults():
    rows, provenance = read_record("privacy-audits-fair")
    assert rows["release"].tolist() == list(ALL)
    assert rows[rows["lower"] > rows["epsilon"]]["release"].tolist() == list(PLANTED)
    sizes = {"fits": FITS, "faults": FAULTS, "failure": FAILURE, "seed": 0, "tasks": len(ALL)}
    assert provenance["parameters"] == sizes
    assert rows["guarantee"].all()
    assert (rows["delta"] == DELTA).all()
    relations = dict(zip(rows["release"], rows["relation"], strict=True))
    assert relations["functional mechanism"] == "replace-one"
    assert relations["exponentiated gradient"] == "sensitive-attribute"
    assert all(relations[name] == "add-remove" for name in list(FAIR)[1:-1])
    # every bound follows from the counts that were recorded, at a share of the failure probability
    share = FAILURE / len(rows) / 2 / 2  # two orders of the pair, two limits
    for row in rows.itertuples():
        assert row.runs == (FAULTS if row.release in PLANTED else FITS) // 2
        low = beta.ppf(share, row.hits, row.runs - row.hits + 1)
        high = beta.isf(share, row.others + 1, row.runs - row.others)
        assert row.lower == pytest.approx(math.log((low - row.delta) / high), abs=1e-9)
    # what a fault really costs is known, and no bound is above that
    for name, one in LEARNERS.items():
        cost = one.fit(one.pair[0], one.quarter()).privacy_statement_.epsilon
        assert rows.set_index("release").loc[name + QUARTERED, "lower"] < cost
