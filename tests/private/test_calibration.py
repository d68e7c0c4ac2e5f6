"""The scale of the noise is what the statement's numbers ask for, computed in many digits from first principles."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from study_watching import exactly
from test_costs import zcdp_delta
from watching import watched

import dpfair_lib as dpf
from dpfair_lib.compatibility.subgroup_fairness.fair_dynamics import RoundNoise, loss_sensitivity, round_noise
from dpfair_lib.compatibility.subgroup_fairness.subgroup_game import game_from_counts
from dpfair_lib.privacy import GaussianMechanism, composed_zcdp, gaussian_sigma, zcdp_from_pure

EXACT = 1e-12
CASES = [(0.8, 1e-3), (0.3, 1e-6), (0.99, 0.01)]


def phi(x):
    return mpmath.erfc(-x / mpmath.sqrt(2)) / 2


def gaussian_delta(epsilon, mu):
    """P(L > ε) − e^ε Q(L > ε) of N(0, 1) and N(μ, 1), whose loss at x is μ²/2 − μx."""
    epsilon, mu = mpmath.mpf(epsilon), mpmath.mpf(mu)
    return phi(mu / 2 - epsilon / mu) - mpmath.exp(epsilon) * phi(-mu / 2 - epsilon / mu)


def bisected(increasing, low, high):
    """The zero of an increasing function."""
    low, high = mpmath.mpf(low), mpmath.mpf(high)
    for _ in range(150):
        middle = (low + high) / 2
        low, high = (middle, high) if increasing(middle) < 0 else (low, middle)
    return low


def gaussian_ratio(epsilon, delta, kind):
    """σ/Δ."""
    if kind == "classical":
        return mpmath.sqrt(2 * mpmath.log(mpmath.mpf(1.25) / delta)) / epsilon
    return 1 / bisected(lambda mu: gaussian_delta(epsilon, mu) - delta, 1e-6, 1e3)


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
@pytest.mark.parametrize("kind", ["analytic", "classical"])
def test_gaussian_noise(kind, epsilon, delta):
    with mpmath.workdps(40):
        due = gaussian_ratio(epsilon, delta, kind)
        for sensitivity in (1.0, 0.037, 12.5):
            assert gaussian_sigma(epsilon, delta, sensitivity, kind) == pytest.approx(
                float(due * sensitivity), rel=EXACT
            )
        # the classical one is more than enough, at half of it is not
        assert gaussian_delta(epsilon, 1 / due) <= delta * (1 + mpmath.mpf(10) ** -20)
        assert gaussian_delta(epsilon, 2 / due) > delta


# Output perturbation. Let F, F′ be the mean losses plus μ‖h‖²/2 of two data sets that differ in one of n rows, h, h′
# the minimisers. F′ − F has the gradient (g′ − g)/n, of the two rows at one h. By strong convexity of F, μ‖h − h′‖ ≤
# ‖∇F(h′)‖ = ‖∇F(h′) − ∇F′(h′)‖ = ‖g − g′‖/n at h′. Each computed minimiser has a gradient of at most τΛ/n and so is
# at most τΛ/(μn) away. With ‖g − g′‖ ≤ 2mΛ the sensitivity is 2Λ(m + τ)/(μn). m = 1 always. Logistic loss: the
# minimiser has μh = mean of σ(−a)yx with a = y⟨h, x⟩, hence μ‖h‖² = mean of aσ(−a), and |a| ≤ r := Λ‖h‖, so that r² ≤
# κ max{aσ(−a): a ≤ r} with κ = Λ²/μ; R is the largest such r. With v = −yx, g = σ(⟨h, v⟩)v; two of these are furthest
# apart for v = Λ(s, ±√(1 − s²)), h along the first axis: m = max σ(Rs)√(1 − s²).
def gradient_radius(kappa):
    def pull(a):
        return a / (1 + mpmath.exp(a))

    peak = bisected(lambda a: mpmath.exp(a) * (a - 1) - 1, 1, 2)  # of the pull
    reach = bisected(lambda r: r * r - kappa * pull(min(r, peak)), 1e-9, 1e6)

    def spread(angle):
        return mpmath.cos(angle) / (1 + mpmath.exp(-reach * mpmath.sin(angle)))

    low, high = mpmath.mpf(0), mpmath.pi / 2
    for _ in range(200):
        one, two = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, two) if spread(one) > spread(two) else (one, high)
    return reach, spread(low)


@pytest.mark.parametrize("kappa", [0.01, 1.0, 5.0, 200.0])
def test_no_two_gradients_of_the_logistic_loss_are_further_apart(kappa):
    with mpmath.workdps(30):
        reach, m = (float(x) for x in gradient_radius(kappa))
    angles = np.linspace(-np.pi, np.pi, 721)
    v = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    v = np.concatenate([length * v for length in (0.3, 0.7, 1.0)])
    g = v / (1 + np.exp(-reach * v[:, :1]))
    apart = np.sqrt(((g[:, None] - g) ** 2).sum(axis=2)).max()
    assert 2 * m * (1 - 1e-4) < apart <= 2 * m


ROWS, MODULUS, BOUND, TOLERANCE = 9, 0.4, 2.0, 1e-3


def output_perturbation(loss, kind, intercept, epsilon, delta):
    rng = np.random.default_rng(0)
    model = dpf.OutputPerturbation(
        regularization=MODULUS, feature_bound=BOUND, epsilon=epsilon, delta=0.0 if kind == "laplace" else delta,
        noise_kind=kind, loss=loss, fit_intercept=intercept, tolerance=TOLERANCE, classes=(0, 1),
    )  # fmt: skip
    with watched(exactly) as requests:
        model.fit(rng.normal(size=(ROWS, 3)), rng.integers(0, 2, ROWS))
    (request,) = requests
    return model, request


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["logistic", "huberised-hinge"])
@pytest.mark.parametrize("kind", ["analytic", "classical", "laplace"])
@pytest.mark.parametrize(("epsilon", "delta"), CASES[:2])
def test_output_perturbation(loss, kind, intercept, epsilon, delta):
    model, request = output_perturbation(loss, kind, intercept, epsilon, delta)
    statement = model.privacy_statement_
    assert (statement.relation, statement.guarantee) == ("replace-one", True)
    with mpmath.workdps(40):
        longest = mpmath.sqrt(mpmath.mpf(BOUND) ** 2 + intercept)
        m = gradient_radius(longest**2 / MODULUS)[1] if loss == "logistic" else 1
        sensitivity = 2 * longest * (m + mpmath.mpf(TOLERANCE)) / (mpmath.mpf(MODULUS) * ROWS)
        if kind == "laplace":
            # p numbers move by at most √p times their Euclidean distance in all
            assert statement.delta == 0
            due = mpmath.sqrt(3 + intercept) * sensitivity / statement.epsilon
        else:
            due = gaussian_ratio(statement.epsilon, statement.delta, kind) * sensitivity
    assert request.kind == ("laplace" if kind == "laplace" else "gaussian")
    assert request.scale == pytest.approx(float(due), rel=EXACT)
    assert len(request.values) == 3 + intercept
    assert model.sigma_ == pytest.approx(
        request.scale * (math.sqrt(2) if kind == "laplace" else 1), rel=EXACT
    )


def test_the_minimiser_moves_by_no_more():
    # one row replaced by another and its label flipped; by the values handed to the sampler
    def handed(X, y, loss, modulus):
        model = dpf.OutputPerturbation(
            regularization=modulus, feature_bound=1.0, epsilon=1.0, delta=1e-3, loss=loss, fit_intercept=False,
            classes=(0, 1),
        )  # fmt: skip
        with watched(exactly) as requests:
            model.fit(X, y)
        return requests[0].values, model.sensitivity_

    closest = dict.fromkeys(("logistic", "huberised-hinge"), 0.0)
    for seed, loss, modulus in itertools.product(range(20), closest, (0.1, 1.0, 1000.0)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 5))
        X = rng.normal(size=(n, 2)) * 10 ** rng.uniform(-1, 2)
        y = rng.integers(0, 2, n)
        other, flipped = X.copy(), y.copy()
        flipped[0] = 1 - y[0]
        if seed % 2:
            other[0] = rng.normal(size=2) * 100
        one, sensitivity = handed(X, y, loss, modulus)
        two, _ = handed(other, flipped, loss, modulus)
        closest[loss] = max(closest[loss], float(np.linalg.norm(one - two)) / sensitivity)
    assert all(0.99 < ratio <= 1 for ratio in closest.values()), closest


@pytest.mark.parametrize(("epsilon", "delta"), CASES)
@pytest.mark.parametrize(("rounds", "dual_bound", "n"), [(1, 10.0, 5), (40, 0.5, 1000)])
def test_noise_of_the_games_rounds(epsilon, delta, rounds, dual_bound, n):
    noise = round_noise(epsilon, delta, n, rounds=rounds, dual_bound=dual_bound)
    with mpmath.workdps(25):  # found to ten digits, from below
        assert zcdp_delta(noise.rho * (1 - mpmath.mpf(10) ** -14), epsilon) <= delta
        assert zcdp_delta(noise.rho * (1 + 2 * mpmath.mpf(10) ** -10), epsilon) > delta
    # what the scales cost: half for the losses, ρ = Δ²/(2σ²) each; half for the maximum of scores that move by 1/n,
    # each with Laplace noise of scale b, which is 2/(nb)-private and so has ρ = (2/(nb))²/2
    losses = rounds * (loss_sensitivity(dual_bound, n) / noise.sigma) ** 2 / 2
    maxima = rounds * (2 / (n * noise.audit_scale)) ** 2 / 2
    assert losses == pytest.approx(noise.rho / 2, rel=EXACT)
    assert maxima == pytest.approx(noise.rho / 2, rel=EXACT)
    assert isinstance(noise, RoundNoise)
    assert loss_sensitivity(dual_bound, n) == pytest.approx((2 + math.sqrt(2) * dual_bound) / n, rel=EXACT)


def test_what_the_rounds_release_moves_by_no_more():
    # all tables of two cells, two profiles and both labels with so many people; every pair that differs in one
    n, C = 3, 2.5
    kinds = list(itertools.product(range(2), range(2), range(2)))
    members = np.eye(2)
    games = {}
    for people in itertools.combinations_with_replacement(kinds, n):
        counts = np.zeros((2, 2, 2))
        for at in people:
            counts[at] += 1
        games[people] = game_from_counts(counts, members, n)
    selections = [np.array(s) for s in itertools.product((0.0, 0.5, 1.0), repeat=2)]
    scores = losses = 0.0
    for people, other in itertools.product(games, kinds):
        for at in range(n):
            one, two = games[people], games[tuple(sorted((*people[:at], *people[at + 1 :], other)))]
            scores = max(scores, *(abs(one.violations(s) - two.violations(s)).max() for s in selections))
            for sign, g in itertools.product((-C, 0, C), range(2)):
                moved = one.error + sign * one.violation[g] - two.error - sign * two.violation[g]
                losses = max(losses, float(np.linalg.norm(moved)))
    assert 0.5 / n < scores <= 1 / n + 1e-15
    assert 0.7 * loss_sensitivity(C, n) < losses <= loss_sensitivity(C, n)


def test_concentrated_costs():
    # Gaussian noise: the Rényi divergence of order α of N(0, σ²) and N(Δ, σ²) is αΔ²/(2σ²) = αρ, by an integral
    for sigma, move in [(2.0, 1.0), (0.7, 0.3)]:
        rho = GaussianMechanism(sigma, move).rho
        for alpha in (1.5, 3.0):

            def density(x, at, sigma=sigma):
                return mpmath.exp(-((x - at) ** 2) / (2 * sigma**2)) / (sigma * mpmath.sqrt(2 * mpmath.pi))

            whole = mpmath.quad(
                lambda x, a=alpha, d=density, m=move: d(x, 0) ** a * d(x, m) ** (1 - a), [-40, -5, 0, 5, 40]
            )
            assert float(mpmath.log(whole) / (alpha - 1)) == pytest.approx(alpha * rho, rel=1e-9)
    assert zcdp_from_pure(0.4) == pytest.approx(0.08, rel=EXACT)
    assert composed_zcdp(0.1, 0.2, 0.3) == pytest.approx(0.6, rel=EXACT)
