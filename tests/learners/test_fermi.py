import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import chi2
from sklearn.base import clone

from dpfair_lib import DPFermiClassifier, DPLogisticRegression
from dpfair_lib.learners import opacus_backend
from dpfair_lib.learners.fermi_penalty import (
    clipped_w_sum,
    maximizer,
    penalty,
    renyi_information,
    residuals,
)  # fmt: skip
from dpfair_lib.learners.fermi_training import FermiSteps, _inside, printed_noise, train_as_run, train_private
from dpfair_lib.learners.settings import Steps
from dpfair_lib.privacy import STUDY_NOTE, dp_sgd_epsilon, dp_sgd_noise

RNG = np.random.default_rng(0)
N, K = 60, 3
X = RNG.normal(size=(N, 3)) * [0.5, 1.0, 4.0]
WITH_ONES = np.column_stack([X, np.ones(N)])
Y = (X @ [1.0, -1.0, 0.3] + RNG.normal(size=N) > 0).astype(int)
S = RNG.integers(0, K, N)
P_S = np.bincount(S) / N
SEX = np.where(S == 0, "f", "m")
GOOD = {
    "penalty": 1.0, "epsilon": 2.0, "delta": 1e-5, "steps": 5, "batch_size": 20, "random_state": 0,
    "group_frequencies": {"f": 0.4, "m": 0.6},
}  # fmt: skip
AS_RUN = {**GOOD, "group_frequencies": None, "as_run": True}


def steps(**changes):
    plain = {
        "strengths": np.array([1.0]), "count": 1, "batch_size": N, "learning_rate": 1.0, "w_learning_rate": 1.0,
        "clip": 1e9, "w_clip": 1e9, "w_radius": 1e30,
    }  # fmt: skip
    return FermiSteps(**{**plain, **changes})


def seed(entropy=0):
    return np.random.SeedSequence(entropy)


def models(count=2):
    rng = np.random.default_rng(1)
    return rng.normal(size=(count, 4)) / 3, rng.normal(size=(count, K, 2))


def by_definition(f, s, W, frequencies):
    """Return ψ of one record, with its matrices written out; torch, so that it can be differentiated."""
    roots = torch.diag(torch.as_tensor(frequencies) ** -0.5)
    one_hot = torch.nn.functional.one_hot(torch.as_tensor(s), len(frequencies)).double()
    return -torch.trace(W @ torch.diag(f) @ W.T) + 2 * torch.trace(W @ torch.outer(f, one_hot) @ roots) - 1


def gradients(weights, W, i, strength):
    """Return one record's gradients of cross-entropy + λψ by the weights, and of ψ by W, by torch."""
    theta = torch.tensor(weights, requires_grad=True)
    matrix = torch.tensor(W, requires_grad=True)
    odds = torch.as_tensor(WITH_ONES[i]) @ theta
    p = torch.sigmoid(odds)
    psi = by_definition(torch.stack([1 - p, p]), int(S[i]), matrix, P_S)
    loss = torch.nn.functional.binary_cross_entropy_with_logits(odds, torch.tensor(float(Y[i])))
    (of_theta,) = torch.autograd.grad(loss + strength * psi, theta, retain_graph=True)
    (of_w,) = torch.autograd.grad(psi, matrix)
    return of_theta.numpy(), of_w.numpy()


# -- the penalty


def test_penalty_is_its_definition():
    weights, W = models()
    p = expit(weights @ WITH_ONES.T)
    for model in range(2):
        f = torch.as_tensor(np.column_stack([1 - p[model], p[model]]))
        mean = np.mean([by_definition(f[i], int(S[i]), torch.as_tensor(W[model]), P_S) for i in range(N)])
        assert penalty(p, S, P_S, W)[model] == pytest.approx(mean, abs=1e-12)


@given(st.integers(0, 10**6), st.integers(2, 5))
def test_largest_penalty_is_the_renyi_information(entropy, k):
    rng = np.random.default_rng(entropy)
    n = 50
    s = np.concatenate([np.arange(k), rng.integers(0, k, n - k)])
    p, frequencies = rng.uniform(0.01, 0.99, (1, n)), np.bincount(s) / n
    # the χ² divergence of the joint law from the product, cell by cell
    joint = np.array([[np.mean(f * (s == a)) for a in range(k)] for f in (1 - p[0], p[0])])
    product = np.outer(joint.sum(axis=1), joint.sum(axis=0))
    divergence = ((joint - product) ** 2 / product).sum()
    assert renyi_information(p, s, frequencies)[0] == pytest.approx(divergence, abs=1e-12)
    best = maximizer(p, s, frequencies)
    assert penalty(p, s, frequencies, best)[0] == pytest.approx(divergence, abs=1e-12)
    assert clipped_w_sum(p, s, frequencies, best, math.inf) == pytest.approx(0, abs=1e-10)
    assert (best**2).sum() <= 2 / frequencies.min() + 1e-12
    moved = best + rng.normal(size=best.shape) * 0.1
    assert penalty(p, s, frequencies, moved)[0] < divergence


def test_information_is_zero_just_under_independence():
    p = np.array([[0.2, 0.8, 0.2, 0.8], [0.2, 0.7, 0.2, 0.8]])
    s, halves = np.array([0, 0, 1, 1]), np.array([0.5, 0.5])
    same, different = renyi_information(p, s, halves)
    assert same == pytest.approx(0, abs=1e-15)
    assert different > 1e-4


def test_gradients_are_those_of_torch():
    weights, W = models()
    strengths = np.array([0.0, 1.7])
    p = expit(weights @ WITH_ONES.T)
    ours = residuals(p, Y, S, P_S, strengths, W)
    for model in range(2):
        theirs = [gradients(weights[model], W[model], i, strengths[model]) for i in range(N)]
        for i, (of_theta, _) in enumerate(theirs):
            assert ours[model, i] * WITH_ONES[i] == pytest.approx(of_theta, abs=1e-12)
        for clip in (math.inf, 2.0, 0.3):
            clipped = [g * min(1.0, clip / np.linalg.norm(g)) for _, g in theirs]
            assert clipped_w_sum(p, S, P_S, W, clip)[model] == pytest.approx(
                np.sum(clipped, axis=0), abs=1e-10
            )


# -- training with privacy


def test_step_is_the_clipped_sums_over_the_expected_batch():
    strengths = np.array([0.0, 2.0])
    plan = steps(strengths=strengths, clip=0.4, w_clip=1.1, batch_size=N)
    weights, W = train_private((WITH_ONES, Y, S), P_S, plan, seed())
    start = np.tile(np.sqrt(P_S)[:, None], (1, 2))
    for model, strength in enumerate(strengths):
        theirs = [gradients(np.zeros(4), start, i, strength) for i in range(N)]
        of_theta = sum(g * min(1.0, 0.4 / np.linalg.norm(g)) for g, _ in theirs) / N
        of_w = sum(g * min(1.0, 1.1 / np.linalg.norm(g)) for _, g in theirs) / N
        assert weights[model] == pytest.approx(-of_theta, abs=1e-12)
        assert W[model] == pytest.approx(start + strength * of_w, abs=1e-12)
    plan = steps(strengths=strengths, clip=0.4, w_clip=1.1, w_radius=0.5)
    short = train_private((WITH_ONES, Y, S), P_S, plan, seed())[1]
    assert short == pytest.approx(W / np.linalg.norm(W, axis=(1, 2), keepdims=True) * 0.5, abs=1e-12)


def test_one_record_moves_both_sums_by_no_more_than_their_clips():
    plan = steps(clip=1.5, w_clip=0.7, strengths=np.array([1.0]))
    more = np.vstack([WITH_ONES, [[300.0, -200.0, 500.0, 1.0]]]), np.append(Y, 1), np.append(S, 2)
    pair = []
    for data in ((WITH_ONES, Y, S), more):
        n = len(data[1])
        weights, W = train_private(data, P_S, steps(**{**vars(plan), "batch_size": n}), seed())
        pair.append((weights * n, (W - np.sqrt(P_S)[:, None]) * n))
    assert np.linalg.norm(pair[1][0] - pair[0][0]) == pytest.approx(1.5, abs=1e-9)
    assert np.linalg.norm(pair[1][1] - pair[0][1]) == pytest.approx(0.7, abs=1e-9)


def test_noise_covers_both_sums_at_once():
    # batches all but empty: what moves is noise. A pair moving by (C, C_W) is √2 long in units of the clips
    clip, w_clip, multiplier, n = 1.5, 0.7, 2.0, 4
    data = np.ones((n, 40)), np.arange(n) % 2, np.arange(n) % 2
    halves = np.array([0.5, 0.5])
    for strength, factor in ((1.0, math.sqrt(2)), (0.0, 1.0)):
        of_theta, of_w = [], []
        for entropy in range(100):
            plan = steps(
                strengths=np.array([strength]), clip=clip, w_clip=w_clip, noise_multiplier=multiplier,
                batch_size=1e-12 * n,
            )  # fmt: skip
            weights, W = train_private(data, halves, plan, seed(entropy))
            of_theta.append(weights * plan.batch_size / (multiplier * clip * factor))
            of_w.append((W - math.sqrt(0.5)) * plan.batch_size / (multiplier * w_clip * factor))
        for draws in (np.array(of_theta), np.array(of_w)):
            if strength == 0 and draws.shape[-1] == 2:
                assert not draws.any()  # W is not released
                continue
            low, high = chi2.ppf([1e-6, 1 - 1e-6], draws.size)
            assert low < (draws**2).sum() < high


def test_batches_are_poisson():
    # with features of a record's own, its weight says in how many steps it was drawn
    n, rate, count = 40, 0.3, 300
    plan = steps(strengths=np.array([0.0]), clip=1.0, learning_rate=1e-9, batch_size=rate * n, count=count)
    weights, _ = train_private((np.eye(n), np.zeros(n), np.arange(n) % 2), np.array([0.5, 0.5]), plan, seed())
    drawn = -weights[0] * rate * n / 1e-9 / 0.5
    assert drawn == pytest.approx(np.round(drawn), abs=1e-4)
    assert chi2.ppf(1e-6, n) < ((drawn - rate * count) ** 2).sum() / (count * rate * (1 - rate))
    assert ((drawn - rate * count) ** 2).sum() / (count * rate * (1 - rate)) < chi2.ppf(1 - 1e-6, n)
    assert drawn.sum() / n / count == pytest.approx(rate, abs=6 * math.sqrt(rate * (1 - rate) / n / count))


def test_without_penalty_it_is_dp_sgd():
    plan = steps(strengths=np.array([0.0]), clip=0.5, count=4, learning_rate=0.3)
    ours = train_private((WITH_ONES, Y, S), P_S, plan, seed())[0][0]
    same = Steps(
        noise_multiplier=0.0,
        max_grad_norm=0.5,
        sample_rate=1.0,
        count=4,
        learning_rate=0.3,
        fit_intercept=True,
    )
    theirs = opacus_backend.train(X, Y, same, [seed()], torch.device("cpu"))[0]
    assert ours == pytest.approx(theirs, abs=1e-5)  # Opacus adds 1e-6 to each norm


def test_larger_penalty_smaller_gap():
    rng = np.random.default_rng(2)
    n = 4000
    s = rng.integers(0, 2, n)
    x = np.column_stack([rng.normal(size=n) + 1.5 * s, rng.normal(size=n), np.ones(n)])
    y = (x @ [1.0, 1.0, -0.7] + rng.logistic(size=n) > 0).astype(float)
    strengths, frequencies = np.array([0.0, 0.5, 2.0, 8.0]), np.bincount(s) / n
    plan = steps(
        strengths=strengths, count=1500, batch_size=400, learning_rate=0.3, w_learning_rate=0.1, clip=5.0,
        w_clip=5.0, w_radius=math.sqrt(2 / frequencies.min()),
    )  # fmt: skip
    weights, W = train_private((x, y, s), frequencies, plan, seed())
    p = expit(weights @ x.T)
    information = renyi_information(p, s, frequencies)
    chosen = p > 0.5
    gaps = abs(chosen[:, s == 0].mean(axis=1) - chosen[:, s == 1].mean(axis=1))
    assert (np.diff(information) < 0).all()
    assert (np.diff(gaps) < 0).all()
    assert gaps[0] > 0.3 > 0.1 > gaps[-1]
    assert penalty(p, s, frequencies, W)[1:] == pytest.approx(information[1:], abs=0.02)  # W keeps up


# -- training as it was run


def mean_gradient(x, labels):
    """Return the batch's mean gradient at θ = 0, λ = 0, where p = 1/2: exact."""
    total = [sum((Fraction(1, 2) - y) * row[j] for row, y in zip(x, labels, strict=True)) for j in range(2)]
    return [entry / len(labels) for entry in total]


def test_clipping_the_mean_lets_one_record_move_it_by_twice_the_clip():
    # 1023 records without features, whose intercept gradients sum to −1/2, and one large record; (x, intercept)
    others = [(0, 1)] * 1023, [0] * 511 + [1] * 512
    large, clip = 10**6, 5
    pair = []
    for value in (large, -large):
        gradient = mean_gradient([*others[0], (value, 1)], [*others[1], 0])
        assert gradient[1] == 0  # so the norm is that of the first entry alone
        pair.append(gradient[0] * min(1, Fraction(clip) / abs(gradient[0])))
    assert abs(pair[0] - pair[1]) == 2 * clip
    # in a step of training, from weights that are not 0, the one record is wrong and the other right: 5, not 10
    moved = []
    for value in (large, -large):
        data = np.array([*others[0], (value, 1)], dtype=float), np.array([*others[1], 0]), np.arange(1024) % 2
        plan = steps(strengths=np.array([0.0]), batch_size=1024, clip=float(clip))
        moved.append(train_as_run(data, np.array([0.5, 0.5]), plan, seed(), 0)[0][0])
    assert np.linalg.norm(moved[0] - moved[1]) == pytest.approx(clip, abs=1e-2)
    # what the noise of the comparison on Adult covers, by the tightest account for random batches, is far less
    n, count = 33_916, 1700
    deviation, _ = printed_noise(3.0, 1e-5, n, count, 11_006 / n)
    needed = dp_sgd_noise(3.0, 1e-5, 1024 / n, count, "pld", relation="replace-one")
    covered = 2 * deviation / needed
    assert 8 < 2 * clip / covered < 9
    # clipped record by record, the same record moves the mean by 2 · 5 / 1024
    assert covered > 2 * clip / 1024


def test_as_run_is_the_printed_step():
    strengths, sizes = np.array([0.0, 1.3]), (40, 20)
    plan = steps(
        strengths=strengths,
        batch_size=40,
        count=5,
        learning_rate=0.5,
        w_learning_rate=0.2,
        clip=0.3,
        w_radius=0.9,
    )
    weights, W = train_as_run((WITH_ONES, Y, S), P_S, plan, seed(), 1)
    batches, noise = (np.random.default_rng(part) for part in seed().spawn(2))
    start, w = noise.uniform(-1, 1, 4) / math.sqrt(3), noise.standard_normal()
    orders = [batches.permutation(N) for _ in range(3)]
    for model, strength in enumerate(strengths):
        theta = torch.tensor(start, requires_grad=True)
        entry = torch.tensor(w, dtype=torch.float64, requires_grad=True)
        for step in range(5):
            first = 40 * (step % 2)
            rows = orders[step // 2][first : first + sizes[step % 2]]
            odds = torch.as_tensor(WITH_ONES[rows]) @ theta
            p = torch.sigmoid(odds)
            both = (p * torch.as_tensor((S[rows] == 1).astype(float))).mean()
            psi = -(entry**2) * p.mean() + 2 * entry * both / math.sqrt(P_S[1]) - 1
            loss = torch.nn.functional.binary_cross_entropy_with_logits(odds, torch.as_tensor(Y[rows] * 1.0))
            by_theta, by_entry = torch.autograd.grad(loss + strength * psi, (theta, entry), allow_unused=True)
            by_theta = by_theta / max(1.0, by_theta.norm().item() / 0.3)
            with torch.no_grad():
                theta -= 0.5 * by_theta
                entry += 0.2 * by_entry
                entry /= max(1.0, abs(entry.item()) / 0.9)
        assert weights[model] == pytest.approx(theta.detach().numpy(), abs=1e-12)
        assert W[model, 1, 1] == pytest.approx(entry.item(), abs=1e-12)
        assert np.count_nonzero(W[model]) == 1


def test_as_run_penalises_the_chosen_groups_rate_and_not_dependence():
    def largest(rates, share):
        rate = share * rates[0] + (1 - share) * rates[1]
        return share * rates[0] ** 2 / rate - 1

    # equal rates are no minimum, and any gap in the other direction is rewarded
    assert largest((0.0, 0.5), 0.5) == -1 < largest((0.25, 0.25), 0.5) < largest((0.5, 0.0), 0.5)
    p = np.repeat([[0.2, 0.6]], 50, axis=0).T.reshape(1, -1)
    s, halves = np.repeat([0, 1], 50), np.array([0.5, 0.5])
    entries = np.zeros((2001, 2, 2))
    entries[:, 0, 1] = np.linspace(-3, 3, 2001)
    values = penalty(np.repeat(p, 2001, axis=0), s, halves, entries)
    assert values.max() == pytest.approx(largest((0.2, 0.6), 0.5), abs=1e-5)
    assert renyi_information(p, s, halves)[0] > 0 > values.max()


def test_printed_noise():
    # by hand: T ln(1/δ) = 2, εn = 10, ρ = 1/4, L = 3, C = 2
    first, second = printed_noise(1.0, math.exp(-1), 10, 2, 0.25, lipschitz=3.0, radius=2.0)
    assert first**2 == pytest.approx((64 * 9 * 4 * 4 + 128 * 16 * 9) * 2 / 100)
    assert second**2 == pytest.approx(32 * (4 + 4) * 2 / 100)
    wide = np.zeros((20, 2000))
    plan = steps(strengths=np.array([0.0]), batch_size=20, deviation=0.5, clip=1.0)
    weights, _ = train_as_run((wide, np.zeros(20), np.arange(20) % 2), np.array([0.5, 0.5]), plan, seed(), 0)
    start = np.random.default_rng(seed().spawn(2)[1]).uniform(-1, 1, 2000) / math.sqrt(1999)
    low, high = chi2.ppf([1e-6, 1 - 1e-6], 2000)
    assert low < (((weights[0] - start) / 0.5) ** 2).sum() < high


# -- the estimator


def fitted(base=None, **changes):
    return DPFermiClassifier(**{**(base or GOOD), **changes}).fit(X, Y, sensitive_features=SEX)


def test_statement_of_the_private_method():
    model = fitted()
    statement = model.privacy_statement_
    assert model.noise_multiplier_ == dp_sgd_noise(2.0, 1e-5, 20 / N, 5, "pld")
    assert statement.epsilon == dp_sgd_epsilon(model.noise_multiplier_, 20 / N, 5, 1e-5, "pld") <= 2.0
    assert (statement.delta, statement.relation, statement.accountant) == (1e-5, "add-remove", "pld")
    assert "the group frequencies" in statement.public
    assert statement.note == STUDY_NOTE
    assert model.group_frequencies_.tolist() == [0.4, 0.6]


def test_estimated_frequencies_are_paid_for():
    model = fitted(group_frequencies=None, frequency_epsilon=0.5)
    statement = model.privacy_statement_
    assert model.noise_multiplier_ == dp_sgd_noise(1.5, 1e-5, 20 / N, 5, "pld")
    assert 1.999 < statement.epsilon <= 2.0
    assert statement.delta == 1e-5
    assert statement.parts[0].epsilon == 0.5
    assert "the group frequencies" not in statement.public
    assert model.group_frequencies_.sum() == pytest.approx(1)
    exact = np.unique(SEX, return_counts=True)[1] / N
    assert (model.group_frequencies_ != exact).all()
    close = fitted(group_frequencies=None, frequency_epsilon=99.0, epsilon=100.0)
    assert close.group_frequencies_ == pytest.approx(exact, abs=0.01)


def test_statement_of_what_was_run():
    model = fitted(AS_RUN)
    statement = model.privacy_statement_
    assert not statement.guarantee
    assert (statement.epsilon, statement.delta) == (2.0, 1e-5)
    for reason in ("batch mean is clipped", "not shuffled ones", STUDY_NOTE):
        assert reason in statement.note
    assert statement.sampling == "shuffled batches of 20, 5 steps"
    smallest = np.unique(SEX, return_counts=True)[1].min()
    assert model.noise_deviations_ == printed_noise(2.0, 1e-5, N, 5, (smallest - 1) / N)
    first, other = (fitted(AS_RUN, penalised_group=g) for g in (SEX[0], {"f": "m", "m": "f"}[SEX[0]]))
    assert np.array_equal(model.coef_, first.coef_)
    assert not np.array_equal(model.coef_, other.coef_)


@pytest.mark.parametrize("base", [GOOD, AS_RUN])
def test_many_models_in_one_call(base):
    several = fitted(base, penalty=[0.0, 1.0, 2.0], replicates=2)
    assert several.coef_.shape == (2, 3, 1, 3)
    assert several.intercept_.shape == (2, 3, 1)
    assert several.W_.shape == (2, 3, 2, 2)
    assert several.predict_proba(X).shape == (2, 3, N, 2)
    assert several.predict(X).shape == (2, 3, N)
    one = fitted(base)
    assert one.coef_.shape == (1, 3)
    assert one.predict(X).shape == (N,)
    assert several.coef_[0, 1] == pytest.approx(one.coef_, abs=1e-12)
    assert not np.array_equal(several.coef_[0], several.coef_[1])
    assert "each of 6 models alone" in several.privacy_statement_.note
    assert "each of" not in one.privacy_statement_.note


@pytest.mark.parametrize("base", [GOOD, AS_RUN])
def test_one_seed_one_model(base):
    first, again, other = fitted(base), fitted(base), fitted(base, random_state=1)
    assert np.array_equal(first.coef_, again.coef_)
    assert not np.array_equal(first.coef_, other.coef_)
    assert not np.array_equal(fitted(base, random_state=None).coef_, fitted(base, random_state=None).coef_)
    assert clone(first).get_params() == first.get_params()


def test_without_penalty_the_noise_is_that_of_dp_sgd():
    ours = fitted(penalty=0.0)
    peer = DPLogisticRegression(
        epsilon=2.0, delta=1e-5, max_grad_norm=5.0, sample_rate=20 / N, steps=5, learning_rate=0.1
    ).fit(X, Y)
    assert ours.noise_multiplier_ == peer.noise_multiplier_
    assert ours.privacy_statement_.epsilon == peer.privacy_statement_.epsilon
    assert {0, 1} >= set(ours.predict(X))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"penalty": -1}, "penalty: found -1"),
        ({"penalty": [1.0, np.inf]}, "penalty: found an infinite"),
        ({"penalty": []}, "penalty: found shape"),
        ({"penalty": "1"}, "penalty: found '1'"),
        ({"epsilon": 0}, "epsilon: found 0"),
        ({"delta": 1}, "delta: found 1"),
        ({"steps": 0}, "steps: found 0"),
        ({"batch_size": 0}, "batch_size: found 0"),
        ({"batch_size": N + 1}, "batch_size: found 61, expected at most the 60 rows"),
        ({"as_run": "yes"}, "as_run: found 'yes'"),
        ({"learning_rate": 0}, "learning_rate: found 0"),
        ({"learning_rate": 1e308, "steps": 50}, "w_learning_rate: found 1e.308, .* the loss is not finite"),
        ({"w_learning_rate": -1}, "w_learning_rate: found -1"),
        ({"max_grad_norm": np.nan}, "max_grad_norm: found nan"),
        ({"w_max_grad_norm": 0}, "w_max_grad_norm: found 0"),
        ({"w_radius": 0}, "w_radius: found 0"),
        ({"replicates": 0}, "replicates: found 0"),
        ({"noise": "secure"}, "noise: found 'secure', which this learner does not provide"),
        ({"random_state": -1}, "random_state: found -1"),
        ({"frequency_epsilon": 1.0}, "group_frequencies, frequency_epsilon: found both"),
        ({"group_frequencies": None}, "group_frequencies, frequency_epsilon: found neither"),
        (
            {"group_frequencies": None, "frequency_epsilon": 2.0},
            "frequency_epsilon: found 2.0, expected less",
        ),
        ({"group_frequencies": {"f": 1.0}}, "group_frequencies: found .'f'., expected a frequency for each"),
        ({"group_frequencies": [0.4, 0.6]}, r"group_frequencies: found \[0.4, 0.6\]"),
        ({"group_frequencies": {"f": 0.4, "m": 0.5}}, "group_frequencies: found a sum of 0.9"),
        ({"group_frequencies": {"f": 0, "m": 1}}, "group_frequencies: found 0"),
        ({"penalised_group": "f"}, "penalised_group: found 'f' with as_run=False"),
        ({"as_run": True}, "group_frequencies: found .* with as_run=True"),
    ],
)
def test_bad_parameters_are_refused(changes, message):
    with pytest.raises(ValueError, match=message):
        fitted(**changes)


def test_bad_data_are_refused():
    with pytest.raises(ValueError, match="penalised_group: found 'x', expected one of"):
        fitted(AS_RUN, penalised_group="x")
    alone = np.where(np.arange(N) == 0, "f", "m")
    for x, y, groups, base, message in (
        (X, Y, SEX[:-1], GOOD, "lengths differ"),
        (X, Y, np.full(N, "f"), GOOD, "sensitive_features: found one group"),
        (X, np.zeros(N), SEX, GOOD, "y: found one class"),
        (X * 1e200, Y, SEX, GOOD, "X: found an entry of size"),
        (X * np.nan, Y, SEX, GOOD, "X contains NaN"),
        (X, Y, alone, AS_RUN, "sensitive_features: found a group with one row"),
    ):
        with pytest.raises(ValueError, match=message):
            DPFermiClassifier(**base).fit(x, y, sensitive_features=groups)


def test_a_long_matrix_is_scaled_to_its_radius_and_not_to_nothing():
    for size in (1e-3, 1.0, 1e200, 1e305):
        W = size * np.arange(1.0, 7.0).reshape(1, 3, 2)
        inside = _inside(W, 2.0)
        wanted = W / W.max() * min(size * np.sqrt(91), 2) / np.sqrt(91) * 6 / 1.0
        assert inside == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            {**GOOD, "learning_rate": 1e300},
            "learning_rate, w_learning_rate: found 1e.300, 0.01, at which .* finite",
        ),
        ({**GOOD, "w_learning_rate": 1e300, "w_radius": 1e300}, "the loss is not finite, expected less"),
        ({**AS_RUN, "learning_rate": 1e300}, "the loss is not finite, expected less"),
        (
            {**AS_RUN, "w_radius": 1e300},
            "max_grad_norm, w_radius: found 5.0, 1e.300, at which .* overflow, expected",
        ),
    ],
)
def test_a_loss_that_is_not_finite_is_an_error(given, message):
    with pytest.raises(ValueError, match=message):
        DPFermiClassifier(**{**given, "steps": 8}).fit(X, Y, sensitive_features=SEX)
