import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import beta

import dpfair_lib as dpf
from dpfair_lib.fairness.linear_form import NOTIONS
from dpfair_lib.margins import private_certificate as module
from dpfair_lib.margins.private_certificate import noise_margin, settled_counts, sure_counts
from dpfair_lib.privacy import noise_source
from dpfair_lib.privacy.laplace import DiscreteLaplaceMechanism


def universe(seed=0, n=4000):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    w = np.array([1.0, -1.0, 0.5])
    y = (X @ w + rng.normal(size=n) > 0).astype(int)
    return X, w, y, rng.integers(0, 2, n), rng


def test_a_record_within_its_cell_moves_the_counts_by_two_at_most():
    kinds, reach = [-2.0, -1.0, -0.3, 0.0, 0.3, 1.0, 2.0, np.inf], 1.0
    codes = np.array([0, 0, 1])
    largest = 0
    for before in kinds:
        for after in kinds:
            first, second = (
                settled_counts(np.array([one, 2.0, -2.0]), codes, 2, reach) for one in (before, after)
            )
            largest = max(largest, abs(first - second).sum())
    assert largest == 2


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5])
@pytest.mark.parametrize("failure", [0.4, 0.01, 1e-7])
def test_margin_is_the_least(scale, failure):
    ratio = math.exp(-1 / scale)
    tail = lambda m: ratio ** (m + 1) / (1 + ratio)  # noqa: E731 - P(noise > m)
    m = noise_margin(scale, failure)
    assert tail(m) <= failure * (1 + 1e-12)
    assert m == 0 or tail(m - 1) > failure
    law = DiscreteLaplaceMechanism(scale=scale, sensitivity=1)
    assert law.tail(m + 1) == pytest.approx(2 * tail(m), rel=1e-9) or law.tail(m) == pytest.approx(
        2 * tail(m), rel=1e-9
    )


@pytest.mark.parametrize("scale", [0.3, 1.0, 7.5])
def test_the_margin_keeps_its_promise_exactly_where_it_is_nearly_attained(scale):
    with mpmath.workdps(60):
        ratio = mpmath.exp(-1 / mpmath.mpf(scale))
        for m in range(1, 40):
            attained = ratio ** (m + 1) / (1 + ratio)  # P(noise > m)
            for failure in (float(attained), math.nextafter(float(attained), 0)):
                assert ratio ** (noise_margin(scale, failure) + 1) / (1 + ratio) <= failure


SCALES = [1e-308, 1e-3, 0.05, 0.3, 1.0, 7.5, 333.0, 1e4, 1e8, 1e15, 1e60]


def short_of_its_promise(margin):
    """Return the scales and chances at which noise exceeds the margin more often than it may, at 150 digits."""
    found = []
    with mpmath.workdps(150):
        for scale in SCALES:
            ratio = mpmath.exp(-1 / mpmath.mpf(scale))
            margins = {0, 1, 2, 5, 40, int(scale), int(20 * scale), int(700 * scale)}
            attained = [float(ratio ** (m + 1) / (1 + ratio)) for m in sorted(margins)]
            chances = {
                near for one in attained for near in (math.nextafter(one, 0), one, math.nextafter(one, 1))
            }
            for failure in {*chances, 5e-324, 1e-12, 0.05, 0.4999999, 0.5, 0.9, 1 - 2**-53} - {0.0, 1.0}:
                # P(noise > m) ≤ failure, by logarithms: m may have hundreds of digits
                least = -scale * mpmath.log(failure * (1 + ratio))
                if margin(scale, failure) + 1 < least:
                    found.append((scale, failure))
    return found


def test_the_margin_keeps_its_promise_at_every_scale():
    assert short_of_its_promise(noise_margin) == []


@pytest.mark.parametrize("slack", [0, 2**-48])
def test_a_margin_that_is_one_step_short_is_found(slack):
    def short(scale, failure):
        logarithm = -math.log(failure * (1 + math.exp(-1 / scale)))
        return max(0, math.ceil(Fraction(scale) * Fraction(logarithm) * (1 + Fraction(slack)) - 1))

    found = short_of_its_promise(short)
    assert any(scale == 333.0 for scale, _ in found)


@pytest.mark.parametrize("scale", [scale for scale in SCALES if scale < 1e9])
def test_the_margin_is_the_least_but_for_roundings(scale):
    with mpmath.workdps(60):
        ratio = mpmath.exp(-1 / mpmath.mpf(scale))
        for failure in (1e-300, 1e-9, 0.05, 0.3):
            least = -scale * mpmath.log(failure * (1 + ratio)) - 1
            assert noise_margin(scale, failure) <= max(0, mpmath.ceil(least * (1 + 1e-14) + scale * 1e-14))


@pytest.mark.parametrize("notion", NOTIONS)
def test_intervals_hold_for_the_model_without_noise(notion):
    X, w, y, s, rng = universe()
    truth = np.array(
        list(dpf.group_fairness(y, (X @ w > 0).astype(int), sensitive_features=s, notion=notion).values())
    )
    for _ in range(30):
        released = w + 0.01 * rng.normal(size=3)
        made = dpf.private_certificate(
            X @ released, y, X=X, sensitive_features=s, notion=notion, sigma=0.01, zeta=0.01, epsilon=1.0,
            noise="study", rng=rng,
        )  # fmt: skip
        plain = dpf.noise_certificate(
            X @ released, y, X=X, sensitive_features=s, notion=notion, sigma=0.01, zeta=0.005, reach="markov"
        )
        assert (made.lower <= truth).all()
        assert (truth <= made.upper).all()
        assert (made.upper - made.lower).sum() > 0.5 * (plain.upper - plain.lower).sum()
    assert made.privacy_statement.epsilon == 1.0
    assert made.privacy_statement.relation == "replace-within-group"


def test_secure_noise_and_bad_arguments():
    X, w, y, s, rng = universe(n=200)
    common = {"X": X, "sensitive_features": s, "notion": "accuracy", "sigma": 0.01, "zeta": 0.1}
    assert dpf.private_certificate(X @ w, y, epsilon=1.0, **common).lower < 1
    with pytest.raises(ValueError, match="epsilon: found"):
        dpf.private_certificate(X @ w, y, epsilon=0, **common)
    with pytest.raises(ValueError, match="rng: found"):
        dpf.private_certificate(X @ w, y, epsilon=1.0, rng=rng, **common)
    with pytest.raises(ValueError, match="sensitive_features: found"):
        dpf.private_certificate(X @ w, y, epsilon=1.0, **{**common, "sensitive_features": y})
    with pytest.raises(ValueError, match="scores: found"):
        dpf.private_certificate(np.zeros((200, 2)), y, epsilon=1.0, **common)


ZETA, SLACK, CELLS, PER_CELL = 0.05, 0.02, 4, 300


def by_hand(epsilon):
    """Four cells with rows on both sides of the reach, and equalized odds of what is left of noiseless counts."""
    reach = -ndtri(ZETA / 2 / CELLS * SLACK)  # of the standard deviation 1
    y, s = np.repeat([0, 0, 1, 1], PER_CELL), np.repeat([0, 1, 0, 1], PER_CELL)
    margin = np.full((CELLS, PER_CELL), -reach * (1 - 1e-6))
    settled = np.array([[200, 40], [180, 60], [120, 100], [150, 90]])
    for cell, (right, wrong) in enumerate(settled):
        margin[cell, :right], margin[cell, right : right + wrong] = reach * (1 + 1e-6), -reach * (1 + 1e-6)
    m, q = 0, math.exp(-epsilon / 2)  # a count moves by at most 2 in all
    while q ** (m + 1) / (1 + q) > ZETA / 2 / (2 * CELLS):
        m += 1
    low = (settled[:, 0] - m) / PER_CELL - SLACK
    high = 1 - (settled[:, 1] - m) / PER_CELL + SLACK
    other = [1, 0, 3, 2]  # of the same label and as large: F is half of the difference
    return np.where(y == 1, 1, -1) * margin.ravel(), y, s, (low - high[other]) / 2, (high - low[other]) / 2


def differs(monkeypatch, epsilon=1.0):
    """Whether the certificate of counts without noise is another than by hand, or the noise not of scale 2/ε."""
    scales = []
    monkeypatch.setattr(
        noise_source, "add_discrete_laplace_noise", lambda counts, scale, **_: scales.append(scale) or counts
    )
    scores, y, s, lower, upper = by_hand(epsilon)
    share = scores / 4
    X = np.column_stack(
        [share, np.sqrt(1 - share**2)]
    )  # rows of norm 1 with these scores under the weights (4, 0)
    made = dpf.private_certificate(
        scores, y, X=X, sensitive_features=s, notion="equalized_odds", sigma=1.0, zeta=ZETA,
        epsilon=epsilon, slack=SLACK, intercept=False,
    )  # fmt: skip
    return (
        scales != [2 / epsilon]
        or not np.allclose(made.lower, lower, rtol=0, atol=1e-12)
        or not np.allclose(made.upper, upper, rtol=0, atol=1e-12)
    )


def test_every_part_of_the_interval_is_as_by_hand(monkeypatch):
    assert not differs(monkeypatch)
    assert not differs(monkeypatch, epsilon=0.3)


REACH = module.markov_reach
FAULTS = {
    "one record moves one count": ("L1", 1),
    "every cell with the whole of its share": (
        "markov_reach",
        lambda *a, **k: REACH(*a, **(k | {"groups": 1})),
    ),
    "the reach with the whole of zeta": ("markov_reach", lambda *a, **k: REACH(*a, **(k | {"zeta": ZETA}))),
    "zeta not halved": ("inside_unit", lambda zeta, _: 2 * zeta),
    "the margin with the whole of zeta": ("noise_margin", lambda scale, rate: noise_margin(scale, 2 * rate)),
    "no margin": ("noise_margin", lambda *_: 0),
    "a wrong row counts as right": ("settled_counts", lambda *rows: settled_counts(*rows)[:, ::-1]),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_wrong_versions_differ(monkeypatch, fault):
    monkeypatch.setattr(module, *FAULTS[fault])
    assert differs(monkeypatch)


def misses(*, repeats=800):
    """How often any interval misses: in each cell two rows just wrong, the others far away, and very noisy counts."""
    rng, sides = np.random.default_rng(1), np.repeat([100.0, -100.0, 0.0], [60, 38, 2])
    y, s = np.repeat([0, 0, 1, 1], 100), np.repeat([0, 1, 0, 1], 100)
    sign, near = np.where(y == 1, 1.0, -1.0), np.tile(sides == 0, 4)
    X = np.column_stack([np.tile(sides, 4) * sign, (-sign * near)[:, None] * np.eye(4)[2 * y + s]])
    w = np.array([1000.0, *np.full(4, 1e-9)])
    pred = (X @ w > 0).astype(int)
    assert (pred == y).sum() == 240
    truth = np.array(
        list(dpf.group_fairness(y, pred, sensitive_features=s, notion="equalized_odds").values())
    )
    missed = 0
    for _ in range(repeats):
        made = dpf.private_certificate(
            X @ (w + rng.normal(size=5)), y, X=X, sensitive_features=s, notion="equalized_odds", sigma=1.0,
            zeta=ZETA, epsilon=0.1, noise="study", rng=rng,
        )  # fmt: skip
        missed += bool(((truth < made.lower - 1e-12) | (truth > made.upper + 1e-12)).any())
    return missed, repeats


def test_small_epsilon_is_covered_near_the_boundary():
    missed, repeats = misses()
    assert beta.ppf(1 - 1e-6, missed + 1, repeats - missed) <= ZETA


def test_without_the_margin_it_is_not(monkeypatch):
    monkeypatch.setattr(module, "noise_margin", lambda *_: 0)
    missed, repeats = misses()
    assert beta.ppf(1e-6, missed, repeats - missed + 1) > ZETA


def test_epsilon_may_be_large():
    X, w, y, s, _ = universe(n=200)
    common = {"X": X, "sensitive_features": s, "notion": "accuracy", "sigma": 0.01, "zeta": 0.1}
    made = [dpf.private_certificate(X @ w, y, epsilon=epsilon, **common) for epsilon in (100.0, 5000.0)]
    assert made[0].lower == made[1].lower
    assert noise_margin(1e-6, 0.01) == 0


@pytest.mark.parametrize("row", [[0.0, 0.0, 0.0], [1.2e308, 1.2e308, 1.2e308], [5e-324, 0.0, 0.0]])
def test_no_row_with_its_score_is_refused_or_warned_of(row):
    X, w, y, s, _ = universe(n=400)
    asked = {"sensitive_features": s, "notion": "accuracy_parity", "sigma": 0.01, "zeta": 0.1, "epsilon": 1e6}
    study = {"noise": "study", "rng": np.random.default_rng(0)}
    before = dpf.private_certificate(X @ w, y, X=X, **asked, **study)
    X[0] = row
    after = dpf.private_certificate(X @ w, y, X=X, **asked, **study)
    # one row of a cell of some hundred: the intervals move by its share, and not by more
    moved = max(abs(after.lower - before.lower).max(), abs(after.upper - before.upper).max())
    assert moved <= 2 / min(np.bincount(2 * y + s))


def test_a_row_without_a_margin_is_neither_right_nor_wrong():
    kept = module._total_margins(
        np.array([1.0, -1.0, 2.0]), np.array([[0.0, 0.0], [1.6e308, 1.6e308], [3.0, 4.0]])
    )
    assert kept.tolist() == [0.0, 0.0, 0.4]
    assert settled_counts(kept, np.zeros(3, dtype=int), 1, 1e-9).tolist() == [[1, 0]]


ENDS = -(2**63), 2**63 - 1


@pytest.mark.parametrize("magnitude", [0, 1, 2**53, 2**62, *map(abs, ENDS), 2**64, 10**40])
def test_a_sure_count_never_exceeds_the_count_whatever_the_noise_within_the_margin(magnitude):
    rows = np.array([7, 300])
    counts = np.array([[0, 7], [299, 1]])
    for margin in {magnitude, magnitude + 1, 2 * magnitude}:
        for noise in (-margin, -magnitude, 0, magnitude, margin):
            cut_off = [[min(max(int(count) + noise, ENDS[0]), ENDS[1]) for count in pair] for pair in counts]
            assert (sure_counts(np.array(cut_off, dtype=np.int64), margin, rows) <= counts).all()
    assert (sure_counts(counts, 0, rows) == counts).all()


@pytest.mark.parametrize(("noise", "exponents"), [("secure", (-307, -8)), ("study", (-11, -6))])
def test_tiny_epsilon_widens_every_interval_to_what_is_known_without_counts(noise, exponents):
    X, w, y, s, rng = universe(n=400)
    # secure noise has no seed: at ζ = 10⁻⁹ it passes its margin with that probability only, in each of 41 releases
    given = {"X": X, "sensitive_features": s, "notion": "equalized_odds", "sigma": 0.01, "zeta": 1e-9}
    for epsilon in 10.0 ** np.concatenate([rng.uniform(*exponents, 20), -np.linspace(16, 21, 21)]):
        if noise == "study" and epsilon < 1e-11:
            continue
        made = dpf.private_certificate(
            X @ w, y, epsilon=epsilon, noise=noise, rng=rng if noise == "study" else None, **given
        )
        share = np.array([((y == y[i]) & (s != s[i])).sum() / (y == y[i]).sum() for i in first_rows(y, s)])
        np.testing.assert_allclose(made.upper, share, rtol=1e-12)  # all right against all wrong
        np.testing.assert_allclose(made.lower, -share, rtol=1e-12)


def first_rows(y, s):
    return [int(np.flatnonzero((y == label) & (s == group))[0]) for label in (0, 1) for group in (0, 1)]


def test_an_epsilon_whose_noise_no_float_can_hold_is_named():
    X, w, y, s, _ = universe(n=100)
    with pytest.raises(ValueError, match="epsilon: found 1e-310"):
        dpf.private_certificate(
            X @ w, y, X=X, sensitive_features=s, notion="accuracy", sigma=0.01, zeta=0.1, epsilon=1e-310
        )
