"""Noise for blocks: its law, its least variance, what it is asked for, and that the objective is private with it."""

import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import gamma

import dpfair_lib as dpf
from dpfair_lib.learners import block_noise as room
from dpfair_lib.learners.block_noise import Block, Bundle, bundled, deviation, draw, largest_length, places_of
from dpfair_lib.learners.objective_perturbation import FAR
from dpfair_lib.privacy.noise_source import NoiseSource
from dpfair_lib.privacy.objective_perturbation import objective_perturbation_norm_scale

ADULT = (1,) * 6 + (7, 14, 6, 5, 2, 16, 41)


def blocks_of(sizes, bound=1.0):
    ends = np.cumsum(sizes)
    return [
        Block(tuple(range(end - size, end)), bound) for end, size in zip(ends.tolist(), sizes, strict=True)
    ]


def norm(bundles, z):
    """N of the module's first lines."""
    return sum(
        one.share * max(abs(z[list(block.places)]).sum() / block.bound for block in one.blocks)
        for one in bundles
    )


def independent(sizes):
    """Deviation at scale 1 of Laplace noise for the sum of all absolute values."""
    return math.sqrt(2) * len(sizes)


@pytest.mark.parametrize("sizes", [(1,), (3,), (1, 1), (1,) * 11, (1, 1, 2, 5), (40, 1), ADULT])
def test_every_row_has_a_norm_of_at_most_one_and_some_reach_it(sizes):
    bundles = bundled(blocks_of(sizes, 0.3))
    assert sorted(at for one in bundles for block in one.blocks for at in block.places) == list(
        range(sum(sizes))
    )
    assert 1 - 1e-12 <= sum(Fraction(one.share) for one in bundles) <= 1
    rng = np.random.default_rng(0)
    for _ in range(50):
        row = np.zeros(sum(sizes))
        for places, bound in blocks_of(sizes, 0.3):
            row[rng.choice(places)] = bound * rng.choice([-1, 1])
        assert 1 - 1e-12 <= norm(bundles, row) <= 1 + 1e-12


@pytest.mark.parametrize("sizes", [(1,), (1, 1), (1,) * 11, (1, 1, 2, 5), (40, 1), ADULT])
def test_it_is_never_more_than_independent_noise(sizes):
    found = deviation(bundled(blocks_of(sizes)), 1.0)
    assert found <= independent(sizes) * (1 + 1e-9)
    if len(sizes) == 1:
        assert found == pytest.approx(independent(sizes))
    if sizes == ADULT:
        assert found < 0.6 * independent(sizes)
    if set(sizes) == {1}:  # a cube: E r² = (p + 1)(p + 2), and 1/3 for a side
        p = len(sizes)
        assert found == pytest.approx(math.sqrt((p + 1) * (p + 2) / 3))


def test_shares_are_the_best_for_the_bundles_found():
    bundles = bundled(blocks_of(ADULT))
    assert len(bundles) > 1
    least = deviation(bundles, 1.0)
    rng = np.random.default_rng(1)
    for _ in range(200):
        other = np.array([one.share for one in bundles]) * rng.uniform(0.8, 1.25, len(bundles))
        moved = [one._replace(share=share) for one, share in zip(bundles, other / other.sum(), strict=True)]
        assert deviation(moved, 1.0) >= least * (1 - 1e-12)


@pytest.mark.parametrize("sizes", [(1, 1), (1, 2, 3)])
def test_lengths_are_gamma_variables_and_coordinates_have_the_variances_that_are_said(sizes):
    # Monte Carlo: by Dvoretzky, Kiefer and Wolfowitz the distance exceeds 0.0163 with a probability below 5e-5
    bundles, draws = [Bundle(tuple(blocks_of(sizes, 0.5)), 1.0)], 20_000
    source = NoiseSource.of("study", 0)
    drawn = np.array([draw(bundles, 1.5, source) for _ in range(draws)])
    lengths = np.sort([norm(bundles, one) for one in drawn])

    def distance(shape):
        law = gamma(shape, scale=1.5).cdf(lengths)
        return max(
            abs(law - np.arange(draws) / draws).max(), abs(law - np.arange(1, draws + 1) / draws).max()
        )

    p = sum(sizes)
    assert distance(p) < 0.0163
    assert distance(p + 1) > 0.05  # of a shape that is one more
    for block in blocks_of(sizes, 0.5):
        k = len(block.places)
        due = 1.5**2 * 0.25 * 2 * (p + 1) * (p + 2) / ((k + 1) * (k + 2))
        assert drawn[:, block.places].var() == pytest.approx(due, rel=0.08)
    # the direction does not depend on the length
    sides = [abs(drawn[:, block.places]).sum(axis=1) for block in blocks_of(sizes, 0.5)]
    largest = np.argmax(sides, axis=0)
    long = np.array([norm(bundles, one) for one in drawn]) > np.median(lengths)
    share = [(largest[rows] == 0).mean() for rows in (long, ~long)]
    assert abs(share[0] - share[1]) < 0.03


def test_the_largest_length_has_the_probability_that_is_said():
    # exact for one bundle of one block side: the length is a Gamma variable times the bound
    bundles = [Bundle((Block((0,), 0.7),), 1.0)]
    for far in (1.0, 10.0, 100.0):
        assert gamma(1).sf(largest_length(bundles, 2.0, far) / (2.0 * 0.7)) <= math.exp(-far)
    # three independent bundles: a sum over them
    several = bundled(blocks_of((1, 1, 30, 60)))
    assert len(several) > 1
    source = NoiseSource.of("study", 0)
    lengths = [np.linalg.norm(draw(several, 1.0, source)) for _ in range(2000)]
    assert (np.array(lengths) > largest_length(several, 1.0, 3.0)).mean() < math.exp(-3)


@pytest.mark.parametrize("count", [2, 20, 200])
@pytest.mark.parametrize("far", [0.5, 3.0])
def test_all_of_many_bundles_are_within_their_lengths(count, far):
    """Each may fail with its part of the probability only; how seldom it does is exact, a Gamma variable's tail."""
    bundles = [Bundle((Block((at,), 0.7),), 1 / count) for at in range(count)]
    radius = largest_length(bundles, 2.0, far) / (0.7 * math.sqrt(count)) / (2.0 * count)
    assert count * gamma(2).sf(radius) <= math.exp(-far)
    assert count * gamma(2).sf(0.25 * radius) > math.exp(-far)  # and not far beyond


def test_rounding_stays_below_what_the_solver_is_said_to_lose():
    bundles, scale = bundled(blocks_of(ADULT, 0.28)), 3.7
    seen = []

    class Kept:
        def add_laplace(self, values, of):
            seen.append((of, np.random.default_rng(len(seen)).laplace(0, of, len(values))))
            return seen[-1][1]

    found = draw(bundles, scale, Kept())
    exact, at = [Fraction(0)] * len(found), 0
    for one in bundles:
        if len(one.blocks) == 1:
            for place, value in zip(one.blocks[0].places, seen[at][1], strict=True):
                exact[place] = Fraction(value)
            at += 1
            continue
        radius = sum(abs(Fraction(value)) for value in seen[at][1])
        at += 1
        for places, bound in one.blocks:
            values = [Fraction(value) for value in seen[at][1]]
            whole = sum(map(abs, values))
            for place, value in zip(places, values[:-1], strict=True):
                exact[place] = radius * Fraction(bound) * value / whole
            at += 1
    errors = [float(Fraction(value) - other) for value, other in zip(found, exact, strict=True)]
    length = float(np.linalg.norm(found))
    # draws are rounded too, each by half of the last digit: as much again, and more than either
    assert 0 < np.linalg.norm(errors) <= room.INEXACT / 4 * length


def scales_asked(bundles, scale):
    """Return the scales that a draw asks for, and those that the bundles' shares are due."""
    asked, due = [], []

    class Kept:
        def add_laplace(self, values, of):
            asked.append(of)
            return np.ones(len(values))

    draw(bundles, scale, Kept())
    for one in bundles:
        alone = len(one.blocks) == 1
        due.append(scale / one.share * (one.blocks[0].bound if alone else 1.0))
        due += [] if alone else [1.0] * len(one.blocks)
    return asked, due


@pytest.mark.parametrize("fault", [None, "no share", "whole share"])
@pytest.mark.parametrize("sizes", [ADULT, (1, 1, 30, 60)])
def test_every_bundle_has_the_noise_that_its_share_of_the_norm_is_due(sizes, fault, monkeypatch):
    bundles = bundled(blocks_of(sizes, 0.3))
    assert {len(one.blocks) > 1 for one in bundles} == {True, False}, "joined blocks, and one alone"
    if fault == "no share":
        monkeypatch.setattr(room, "bundle_scale", lambda _, scale: scale)
    elif fault == "whole share":  # of those that are joined
        monkeypatch.setattr(
            room, "bundle_scale", lambda one, scale: scale / (one.share if len(one.blocks) == 1 else 1.0)
        )
    asked, due = scales_asked(bundles, 2.5)
    assert (asked == pytest.approx(due, rel=1e-12)) == (fault is None)
    assert fault or min(one / other for one, other in zip(asked, due, strict=True)) >= 1


def losses(first, second, weights, modulus, scale, bundles):
    """Return ln of the ratio of the densities at which the minimiser is some weights."""
    found = []
    for signed in (first, second):
        slopes = expit(-(signed @ weights))
        pull = slopes @ signed - modulus * weights
        hessian = (signed * (slopes * (1 - slopes))[:, None]).T @ signed + modulus * np.eye(len(weights))
        found.append(np.linalg.slogdet(hessian)[1] - norm(bundles, pull) / scale)
    return found[0] - found[1]


@pytest.mark.parametrize("sizes", [(1, 1), (1, 1, 1), (1, 2), (1, 1, 6)])
def test_no_pair_of_data_sets_has_a_loss_above_epsilon(sizes):
    epsilon, modulus, rng = 1.0, 2.0 * len(sizes), np.random.default_rng(0)
    bundles, p = bundled(blocks_of(sizes)), sum(sizes)
    norm_of_rows = math.sqrt(len(sizes))
    scale = objective_perturbation_norm_scale(
        epsilon, 1.0, lipschitz=norm_of_rows, strong_convexity=modulus, n=1
    )
    largest = 0.0

    def row():
        found = np.zeros(p)
        for places, bound in blocks_of(sizes):
            spread = (
                rng.dirichlet(np.full(len(places), 0.3)) if rng.random() < 0.5 else np.eye(1, len(places))[0]
            )
            found[list(places)] = bound * rng.choice([-1, 1], len(places)) * spread
        return found

    for _ in range(3000):
        new, n = row(), int(rng.integers(0, 5))
        other = -new if rng.random() < 0.5 else row()
        rest = np.array([row() for _ in range(n)]).reshape(n, p)
        # weights at which a row that leans a little to either side has a slope near 1
        weights = rng.normal(size=p) * rng.choice([0.01, 1, 30, 300])
        if rng.random() < 0.5:
            middle = new + other
            weights = weights - 40 * middle * rng.random()
        lost = losses(np.vstack([new, rest]), np.vstack([other, rest]), weights, modulus, scale, bundles)
        largest = max(largest, abs(lost))
    assert 0.4 * epsilon < largest <= epsilon + 1e-9


def test_a_pair_with_two_steep_slopes_attains_epsilon_and_less_noise_breaks_it():
    # short rows of the others hold the weights at −20 on the second axis, where both slopes are nearly 1
    epsilon, modulus, far = 1.0, 4.0, 20.0
    bundles = bundled(blocks_of((1, 1)))
    others = np.repeat([[0, -1.28 / far]], int(far**2 * modulus / 0.278), axis=0)
    pair = [np.vstack([[[side, 0.9]], others]) for side in (1.0, -1.0)]
    usual = objective_perturbation_norm_scale(
        epsilon, 1.0, lipschitz=math.hypot(1, 0.9), strong_convexity=modulus, n=1
    )
    lost = {
        share: losses(*pair, np.array([-2.0, -far]), modulus, share * usual, bundles)
        for share in (1.0, 0.99, 0.5)
    }
    assert 0.995 * epsilon < abs(lost[1.0]) <= epsilon
    assert abs(lost[0.99]) > epsilon
    assert abs(lost[0.5]) == pytest.approx(2 * epsilon, rel=1e-2)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"blocks": [0, 1, 2]}, "absolute_bound: found None beside noise_kind='blocks'"),
        ({"absolute_bound": 1.0}, "blocks: found none beside noise_kind='blocks', expected a label"),
        ({"absolute_bound": 1.0, "blocks": [0, 1]}, "blocks: found 2 labels, expected one for each of the 3"),
        ({"absolute_bound": 1.0, "blocks": [0, [1], 2]}, r"blocks: found \[1\], expected labels"),
        ({"absolute_bound": 1.0, "blocks": [0, 1, 2], "noise_kind": "laplace"}, "blocks: found some beside"),
        ({"absolute_bound": 0.0, "blocks": [0, 1, 2]}, "absolute_bound: found 0"),
        (
            {"absolute_bound": 1e-170, "blocks": [0, 1, 2]},
            "absolute_bound: found 1e-170 .* from 1e-100 to 1e.100",
        ),
        ({"absolute_bound": 1e154, "blocks": [0, 1, 2]}, r"absolute_bound: found 1e\+154 .* from 1e-100"),
        (
            {"absolute_bound": 1.0, "blocks": [0, 1, 2], "delta": 1e-6},
            "delta: found 1e-06 beside noise_kind='blocks'",
        ),
    ],
)
def test_bad_blocks_are_named(changed, message):
    X, y = np.eye(3), [0, 1, 0]
    given = {"feature_bound": 1.0, "epsilon": 1.0, "delta": 0.0, "noise_kind": "blocks"} | changed
    with pytest.raises(ValueError, match=message):
        dpf.ObjectivePerturbation(**given).fit(X, y)


def test_labels_of_any_kind_name_blocks_and_rows_are_cut_block_by_block():
    assert places_of(["a", 1, "a", (2, 3)]) == [(0, 2), (1,), (3,)]
    X = np.random.default_rng(0).normal(size=(200, 3))
    y = (X[:, 0] > 0).astype(int)
    settings = {
        "feature_bound": 2.0, "epsilon": 1.0, "delta": 0.0, "noise_kind": "blocks", "absolute_bound": 0.5,
        "noise": "study", "random_state": 0, "regularization": 0.1,
    }  # fmt: skip
    found = dpf.ObjectivePerturbation(**settings, blocks=["age", "job", "job"]).fit(X, y)
    short = X * np.minimum(1, 2 / np.linalg.norm(X, axis=1))[:, None]
    for at in ([0], [1, 2]):
        short[:, at] *= np.minimum(1, 0.5 / abs(short[:, at]).sum(axis=1))[:, None]
    again = dpf.ObjectivePerturbation(**settings, blocks=np.array([7, 9, 9])).fit(short, y)
    np.testing.assert_allclose(again.coef_, found.coef_, rtol=1e-6)
    # three blocks, two columns' and the intercept's: their common noise is less than that for the sum of all
    plain = dpf.ObjectivePerturbation(**(settings | {"noise_kind": "laplace", "absolute_bound": 1.0})).fit(
        X, y
    )
    assert found.sigma_ < 0.8 * plain.sigma_
    assert found.privacy_statement_.epsilon == 1.0


def test_the_solver_is_said_to_lose_what_the_draws_round(monkeypatch):
    from dpfair_lib.learners import objective_perturbation as learner

    asked, exact = [], learner.gradient_rounding
    monkeypatch.setattr(learner, "INEXACT", 1e-9)
    monkeypatch.setattr(
        learner, "gradient_rounding", lambda *a, **k: asked.append(k["linear"]) or exact(*a, **k)
    )
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int)
    settings = {
        "feature_bound": 2.0,
        "epsilon": 1.0,
        "delta": 0.0,
        "absolute_bound": 1.0,
        "regularization": 0.2,
    }
    model = dpf.ObjectivePerturbation(**settings, noise_kind="blocks", blocks=[0, 1, 2]).fit(X, y)
    bundles = bundled([Block((at,), 1.0) for at in range(4)])
    scale = model.sigma_ / deviation(bundles, 1.0)
    farthest = largest_length(bundles, scale, FAR + 1)
    assert asked[0] == pytest.approx(farthest / 60, rel=1e-6)
    # the gradient may be off by four times that; noise on the weights hides twice it, over the modulus
    due = math.sqrt(2) * 2 * (4e-9 * farthest / 60) / 0.2 * 2 / (2e-3)
    assert model.output_sigma_ == pytest.approx(due, rel=1e-2)


def some_bundles(rng):
    """Bundles of drawn shares, with blocks of drawn widths and bounds."""
    shares = rng.dirichlet(np.ones(3)) * (1 - 1e-9)
    found, at = [], 0
    for share in shares.tolist():
        blocks = []
        for size in rng.integers(1, 5, int(rng.integers(1, 4))).tolist():
            blocks.append(Block(tuple(range(at, at + size)), float(rng.uniform(0.1, 3))))
            at += size
        found.append(Bundle(tuple(blocks), share))
    return found


def test_the_largest_length_is_that_of_the_tails_rounded_up():
    rng = np.random.default_rng(2)
    with mpmath.workdps(40):
        for _ in range(100):
            bundles, scale, far = some_bundles(rng), float(rng.uniform(0.1, 9)), float(rng.uniform(1, 99))
            tail, squares = mpmath.mpf(far) + mpmath.log(3), mpmath.mpf(0)
            for one in bundles:
                shape = one.width + 1  # of the sum of so many exponential variables
                radius = shape + mpmath.sqrt(2 * shape * tail) + tail
                longest = sum(mpmath.mpf(block.bound) ** 2 for block in one.blocks)
                squares += (mpmath.mpf(scale) / mpmath.mpf(one.share) * radius) ** 2 * longest
            exact = mpmath.sqrt(squares)
            found = mpmath.mpf(largest_length(bundles, scale, far))
            assert exact < found <= exact * (1 + mpmath.mpf(2) ** -47)


def test_what_each_bundle_asks_the_sampler_for_is_rounded_up():
    rng, nearest, asked = np.random.default_rng(3), 0, []

    class Source:
        def add_laplace(self, values, scale):
            asked.append((len(values), scale))
            return values + 1.0

    for _ in range(100):
        bundles, scale = some_bundles(rng), float(rng.uniform(0.1, 9))
        del asked[:]
        draw(bundles, scale, Source())
        for one in bundles:
            exact = Fraction(scale) / Fraction(one.share)
            nearest += Fraction(scale / one.share) < exact
            if len(one.blocks) == 1:
                size, found = asked.pop(0)
                assert size == one.width
                exact = exact * Fraction(one.blocks[0].bound)
                assert exact < Fraction(found) < exact * (1 + Fraction(1, 2**46))
                # beyond what the scale of the bundle was rounded up by: the product is, too
                whole = Fraction(room.bundle_scale(one, scale)) * Fraction(one.blocks[0].bound)
                assert Fraction(found) > whole
                continue
            size, found = asked.pop(0)
            assert size == one.width + 1
            assert Fraction(math.nextafter(found, 0)) < exact <= Fraction(found)
            for block in one.blocks:
                assert asked.pop(0) == (len(block.places) + 1, 1.0)
    assert asked == []
    assert nearest > 50
