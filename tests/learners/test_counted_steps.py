"""Steps that count: no record moves counts or sums by more than the account allows, and clipping follows the counts."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import norm

from dpfair_lib import audit
from dpfair_lib.learners import counted_steps
from dpfair_lib.learners.counted_steps import (
    GlobalRule,
    GroupRule,
    count_unit,
    divided,
    noisy_gradient,
    slopes_of,
    train_counted,
)
from dpfair_lib.learners.exact_steps import grid_step, prepared
from dpfair_lib.learners.settings import Steps
from dpfair_lib.privacy import gaussian_delta
from dpfair_lib.privacy.grid_noise import FINENESS

SETTING = {"noise_multiplier": 1.3, "max_grad_norm": 0.7, "sample_rate": 1.0, "count": 4, "learning_rate": 0.5,
           "fit_intercept": True, "expected_batch_size": 30.0}  # fmt: skip


def rows(seed, n=30, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-1, 2, size=(n, 1))
    return X, rng.integers(0, 2, n), rng.integers(0, 3, n)


RULES = {
    "group": lambda: GroupRule(0.7, 3),
    "global": lambda: GlobalRule(0.7, 5.0, 1.0, 0.1, 30.0),
    "global, small scale": lambda: GlobalRule(0.7, 0.2, 0.5, 0.1, 30.0),
}


@pytest.mark.parametrize("sigma", [1e-3, 0.7, 1.0, 31.7, 1e6])
@pytest.mark.parametrize("share", [1e-4, 0.01, 0.3, 0.5, 0.99])
def test_the_two_noises_are_one_of_the_whole_step(sigma, share):
    # in exact numbers: 1/σ₁² + 1/σ₂² is at most 1/σ², and close to it
    sums, counts = map(Fraction, divided(sigma, share))
    both = 1 / sums**2 + 1 / counts**2
    assert 1 / Fraction(sigma) ** 2 * (1 - Fraction(1, 10**12)) < both <= 1 / Fraction(sigma) ** 2
    if counts < 2**40:
        unit = count_unit(float(counts))
        assert unit * counts <= 2**40 < (unit + 1) * counts


def test_counts_that_no_noise_of_the_grid_hides_are_refused():
    with pytest.raises(ValueError, match="count_share: found a part of the noise"):
        count_unit(2.0**41)


class Watching:
    """Adds no noise, and keeps what it is asked for."""

    def __init__(self, answers=None):
        self.asked, self.answers = [], answers

    def __call__(self, total, scale=FINENESS):
        assert scale == FINENESS
        self.asked.append(total)
        return total if self.answers is None else self.answers[len(self.asked) - 1]


def ran(monkeypatch, data, rule, answers=None, **changes):
    watching = Watching(answers)
    monkeypatch.setattr(counted_steps, "add_discrete_gaussian_noise", watching)
    X, y, groups = data
    data = X, y, groups if isinstance(rule, GroupRule) else np.zeros_like(groups)
    weights = train_counted(*data, Steps(**SETTING | changes), 0.2, rule)
    return weights, watching.asked


def removed(data, row):
    return tuple(np.delete(column, row, axis=0) for column in data)


def largest_moves(monkeypatch, rule, seeds=range(6)):
    """Return how far one record less moves the counts, and the sums over what the noise is for, at equal answers."""
    unit, moves = count_unit(divided(1.3, 0.2).counts), []
    for seed in seeds:
        data = rows(seed)
        noise = np.random.default_rng(seed)
        _, asked = ran(monkeypatch, data, rule())
        answers = [one + noise.normal(0, FINENESS, len(one)) for one in asked]
        _, whole = ran(monkeypatch, data, rule(), answers)
        for row in range(5):
            _, less = ran(monkeypatch, removed(data, row), rule(), answers)
            for step in range(SETTING["count"]):
                counts, sums = whole[2 * step] - less[2 * step], whole[2 * step + 1] - less[2 * step + 1]
                moves.append(
                    (math.sqrt(sum(int(k) ** 2 for k in counts)) / unit, math.hypot(*map(float, sums)))
                )
    counts, sums = map(max, zip(*moves, strict=True))
    return counts, sums * divided(1.3, 0.2).gradients / FINENESS


@pytest.mark.parametrize("name", RULES)
def test_a_record_moves_counts_by_one_and_sums_by_the_largest_norm(name, monkeypatch):
    counts, sums = largest_moves(monkeypatch, RULES[name])
    assert counts == 1
    assert 0.9 < sums <= 1 + 1e-9


def test_faults_in_counting_and_clipping_move_more(monkeypatch):
    usual = counted_steps.prepared
    monkeypatch.setattr(
        counted_steps, "prepared", lambda *a: usual(*a)._replace(limits=usual(*a).limits * 1.1)
    )
    assert largest_moves(monkeypatch, RULES["group"])[1] > 1.05
    monkeypatch.setattr(counted_steps, "prepared", usual)
    smaller = counted_steps.grid_step
    monkeypatch.setattr(counted_steps, "grid_step", lambda sigma, norm: smaller(sigma, 0.9 * norm))
    assert largest_moves(monkeypatch, RULES["group"])[1] > 1.05


@pytest.mark.parametrize("name", RULES)
def test_without_noise_a_step_is_what_the_definition_says(name, monkeypatch):
    # one record after the other, in floats, with the rules as they are described
    for seed in range(4):
        X, y, groups = rows(seed)
        found, asked = ran(monkeypatch, (X, y, groups), RULES[name]())
        weights, scale = np.zeros(4), {"global": 5.0, "global, small scale": 0.2}.get(name)
        tau = 0.5 if name.endswith("scale") else 1.0
        unit = count_unit(divided(1.3, 0.2).counts)
        for step in range(SETTING["count"]):
            entries = np.column_stack([X, np.ones(len(X))])
            gradients = (1 / (1 + np.exp(-entries @ weights)) - y)[:, None] * entries
            lengths = np.linalg.norm(gradients, axis=1)
            if scale is None:
                long = np.array([((groups == k) & (lengths > 0.7)).sum() for k in range(3)])
                short = np.array([((groups == k) & (lengths <= 0.7)).sum() for k in range(3)])
                counts = np.column_stack([short, long]).ravel()
                rates = long / (short + long)
                limits = (0.7 * (1 + rates / rates.mean()))[groups]
                factors = np.minimum(1, limits / lengths)
            else:
                counts = np.array([(lengths > tau * scale).sum()])
                factors = np.where(
                    (lengths <= scale) & (scale >= 0.7), 0.7 / scale, np.minimum(1, 0.7 / lengths)
                )
                scale *= math.exp(counts[0] / 30 - 0.1)
            assert (asked[2 * step] == counts * unit).all()
            weights = weights - 0.5 / 30 * (factors[:, None] * gradients).sum(axis=0)
        assert found == pytest.approx(weights, rel=1e-8)


def test_a_record_in_no_batch_and_an_empty_batch_are_steps(monkeypatch):
    data = rows(0)
    nobody = tuple(column[:0] for column in data)
    for rule in RULES.values():
        _, asked = ran(monkeypatch, nobody, rule())
        assert all((one == 0).all() for one in asked)
        assert len(asked) == 2 * SETTING["count"]


def test_study_noise_has_the_deviation_of_the_grid_and_is_added():
    add, _ = counted_steps.noise_and_batches(3, Steps(**SETTING), np.random.default_rng(0))
    noise = (add(np.full(100_000, 5 * int(FINENESS))) - 5 * FINENESS) / FINENESS
    assert abs(noise.mean()) < 0.02
    assert noise.std() == pytest.approx(1, abs=0.02)


def test_slopes_do_not_depend_on_the_other_rows():
    X, y, _ = rows(3, n=1100, d=9)
    held = prepared(np.column_stack([X, np.ones(len(X))]) * (1 - 2 * y)[:, None], 1.0)
    weights = np.random.default_rng(0).normal(size=10)
    together = slopes_of(held, np.arange(1100), weights, "logistic")
    alone = [slopes_of(held, np.array([i]), weights, "logistic")[0] for i in range(1100)]
    assert (together == alone).all()


def test_clipping_norms_stay_within_what_is_announced():
    rng = np.random.default_rng(0)
    for groups in (2, 5):
        rule = GroupRule(0.7, groups)
        for noisy in rng.normal(3, 10, size=(500, 2 * groups)):
            norms = rule.clips(noisy).norms
            assert ((norms >= 0.7) & (norms <= rule.largest)).all()
        assert GroupRule(0.7, groups).clips(np.full(2 * groups, -5.0)).norms == pytest.approx(1.4)
    scaled = GlobalRule(0.7, 5.0, 1.0, 0.1, 30.0)
    for _ in range(50):
        assert scaled.clips(np.array([1e9])).scale > 0
    assert scaled.scale_norm == pytest.approx(math.exp(200))


@pytest.mark.parametrize(
    ("noisy", "norms"),
    [  # short and long gradients of each group
        ([5, 0, 3, 0], [1, 1]),  # nobody's gradient is long
        ([5, 0, -3, 0.2], [1, 3]),  # nor here, but the second group has no counted record: its share is 1
        ([2, 2, 4, 4], [2, 2]),  # the mean share
        ([3, 1, 1, 3], [1.5, 2.5]),
        ([-1, 0.9, 0, -7], [2, 2]),
    ],
)
def test_norms_follow_the_shares_and_a_group_without_counts_has_share_one(noisy, norms):
    assert GroupRule(1.0, 2).clips(np.array(noisy, dtype=float)).norms == pytest.approx(norms)


@pytest.mark.parametrize(
    ("rule", "limit"), [(GroupRule(0.7, 2), 0.7), (GlobalRule(0.7, 4.0, 0.5, 0.1, 30.0), 2.0)]
)
def test_a_gradient_as_long_as_the_norm_is_not_longer(rule, limit):
    lengths = np.array([math.nextafter(limit, 0), limit, math.nextafter(limit, 9)])
    usual, same, longer = rule.cells(lengths, np.ones(3, dtype=int))
    assert usual == same == longer - 1


# The published code as run (its noise alone; features are 0, so all sums are): it scales the noise to the largest norm
# among the groups that are in the batch.
def as_run(groups, n, rng, p=40):
    """Return whether the noise is shorter than half of what the largest of all groups' norms asks for."""
    rule, found = GroupRule(1.0, 2), np.zeros(n)
    short = np.bincount(groups, minlength=2)
    for i in range(n):
        norms = rule.clips(np.column_stack([short, np.zeros(2)]).ravel() + rng.normal(0, 10, 4)).norms
        noise = rng.normal(0, norms[groups].max(), p)
        found[i] = np.linalg.norm(noise) < 0.7 * norms.max() * math.sqrt(p)
    return found


def test_noise_that_follows_who_is_in_the_batch_tells_who_is():
    alone = np.zeros(40, dtype=int)
    pair = (alone, np.append(alone, 1))
    found = audit(as_run, [pair], 2000, 0.01, np.random.default_rng(0))
    # the account of one such step, with noise of 1 on the sum and of 10 on the counts, has δ below 0.02 at ε = 2
    assert gaussian_delta(2.0, 1 / math.sqrt(1 + 1 / 100), 1.0) < 0.03
    assert found.epsilon_lower > 3


def test_a_divisor_that_is_the_batch_tells_how_large_it_is():
    # all gradients are long: what sets Z is (b + N(0, s²))/b = 1 + N(0, (s/b)²), for b = 1 and for b = 2
    s, epsilon = 10.0, 0.5
    claimed = gaussian_delta(epsilon, s, 1.0)
    # the narrow law is e^ε times as dense as the wide one within ±t
    t = math.sqrt(2 * (math.log(2) - epsilon) / ((2 / s) ** 2 - (1 / s) ** 2))
    narrow, wide = (1 - 2 * norm.sf(t * b / s) for b in (2, 1))
    assert claimed < 1e-5
    assert narrow - math.exp(epsilon) * wide > 0.02


def test_norms_out_of_range_are_refused_before_anything_is_drawn(monkeypatch):
    with pytest.raises(ValueError, match="max_grad_norm: found"):
        ran(monkeypatch, rows(0), GroupRule(9e99, 20))
    assert grid_step(1.0, 1.0) > 0


# The public code as run without noise (layer6ai-labs/fair-dp: its norms, its sums, its Z after a step), on rows that
# the seeds make anew; C₀ = C = 0.7, Z = 1.5, and no intercept. Its 10⁻⁶ beside each norm is not ours.
AS_RUN = {
    0: ([1.75, 1.05, 1.4], [5.925246010898936, 1.4600356409114463, 2.152912794137636], 1.8942035149407022,
        [2.7776757386008426, 0.5158525178849073, 1.0951308296496522]),
    1: ([1.225, 1.75, 1.225], [1.902077074680305, -6.01381500009638, -3.737488269586963], 2.0588174710063947,
        [0.5333914929451101, -2.7706319019373176, -1.7218207675148804]),
    2: ([1.3, 1.3, 1.6], [0.6145588288515731, -5.592526202014051, 1.9242212589502568], 1.8942035149407022,
        [0.37943097653515456, -2.883610653508054, 0.9973216623789001]),
    3: ([1.4875, 1.225, 1.4875], [-3.529767695015611, -1.8986083971836711, -1.6785900745171307], 2.2377370464619055,
        [-1.8584505756618614, -0.9630092207299089, -0.6639069041104169]),
}  # fmt: skip


@pytest.mark.parametrize("seed", AS_RUN)
def test_a_step_agrees_with_the_public_code_as_run(seed):
    norms, by_group, scale, by_scale = AS_RUN[seed]
    rng = np.random.default_rng(seed)
    X, y = np.round(rng.normal(size=(12, 3)) * 2, 3), rng.integers(0, 2, 12)
    groups, weights = np.arange(12) % 3, np.round(rng.normal(size=3), 3)
    held = prepared(X * (1 - 2 * y)[:, None], 1.0)
    group, globally = GroupRule(0.7, 3), GlobalRule(0.7, 1.5, 1.0, 0.1, 12.0)
    clips, kept = group.clips, []
    group.clips = lambda noisy: kept.append(clips(noisy)) or kept[-1]
    for rule, places, expected in ((group, groups, by_group), (globally, 0 * groups, by_scale)):
        found = noisy_gradient(
            held, places, np.arange(12), weights, rule, divided(1.0, 0.2), lambda z: z, "logistic"
        )
        assert found == pytest.approx(expected, rel=1e-5)
    assert kept[0].norms == pytest.approx(norms, rel=1e-6)
    assert globally.scale_norm == pytest.approx(scale)


@pytest.mark.parametrize("sign", [1, -1])
def test_the_steps_end_where_a_weight_of_either_sign_is_too_heavy(sign, monkeypatch):
    asked = []

    def heavy(*_):
        asked.append(1)
        return sign * np.array([1e202, 0.0, 0.0, 0.0])

    monkeypatch.setattr(counted_steps, "noisy_gradient", heavy)
    weights = train_counted(*rows(0), Steps(**SETTING), 0.2, RULES["group"](), np.random.default_rng(0))
    assert len(asked) == 1
    assert weights[0] * sign < -1e199


def test_no_group_is_clipped_beyond_the_norm_that_was_announced():
    rng, nearest = np.random.default_rng(0), 0
    for _ in range(300):
        width, one = int(rng.integers(2, 60)), float(rng.uniform(0.1, 9))
        rule = GroupRule(one, width)
        exact = Fraction(one) * (1 + width)
        assert Fraction(math.nextafter(rule.largest, 0)) < exact <= Fraction(rule.largest)
        nearest += Fraction(one * (1 + width)) < exact
        # all long gradients in one group
        counts = (
            np.column_stack([np.where(np.arange(width) == 0, 0.0, 5.0), np.arange(width) == 0]).ravel() * 1.0
        )
        assert rule.clips(counts).norms.max() <= rule.largest
        rule.largest = 1.5 * one
        assert rule.clips(counts).norms.tolist() == [1.5 * one] + [one] * (width - 1)
    assert nearest > 30
