"""DP-FERMI on a grid: a record's integers are short and its own, and the steps are those of private training."""

import re
from fractions import Fraction

import numpy as np
import pytest

from dpfair_lib import DPFermiClassifier
from dpfair_lib.learners import fermi_exact
from dpfair_lib.learners.exact_steps import grid_step, prepared
from dpfair_lib.learners.fermi_exact import ROOT, _integers, train_exact
from dpfair_lib.learners.fermi_training import FermiSteps, train_private
from dpfair_lib.privacy import audit_approximate, dp_sgd_epsilon, dp_sgd_noise
from dpfair_lib.privacy.grid_noise import continuous_delta

RNG = np.random.default_rng(0)
N, K = 90, 3
X = np.column_stack([RNG.normal(size=(N, 3)) * [0.5, 1.0, 4.0], np.ones(N)])
Y, S = (RNG.random(N) < 0.5).astype(float), np.arange(N) % K
P_S = np.array([0.2, 0.3, 0.5])


def steps(**changes):
    plain = {
        "strengths": np.array([2.0]), "count": 4, "batch_size": N, "learning_rate": 0.5, "w_learning_rate": 0.3,
        "clip": 0.4, "w_clip": 1.1, "w_radius": 2.5, "noise_multiplier": 1.3,
    }  # fmt: skip
    return FermiSteps(**plain | changes)


def integers(plan, chosen, weights, W, rows=X):
    multiplier = plan.noise_multiplier * ROOT
    units = grid_step(multiplier, plan.clip), grid_step(multiplier, plan.w_clip)
    held = prepared(rows, plan.clip)
    return _integers(held, Y, S, chosen, weights, W, P_S, plan, units), units


@pytest.mark.parametrize("changes", [{}, {"noise_multiplier": 1e-3}, {"clip": 1e-3, "w_clip": 30.0}], ids=str)
def test_a_record_moves_both_sums_together_by_no_more_than_the_noise_allows(changes):
    # exactly: ‖z‖ ≤ 2⁴⁰/σ for the two parts together
    plan, closest = steps(**changes), 0.0
    bound = (Fraction(2**40) / Fraction(plan.noise_multiplier)) ** 2
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = X * 10.0 ** rng.uniform(-20, 120, size=(N, 1))
        found, _ = integers(plan, np.arange(N), rng.normal(size=4) * 10, rng.normal(size=(K, 2)) * 20, rows)
        for column in found.T:
            whole = [Fraction(int(z)) ** 2 for z in column]
            closest = max(closest, float(sum(whole) / bound))
            for part in (whole[:4], whole[4:]):
                assert sum(part) <= bound / 2
    assert 0.99 < closest <= 1 or "w_clip" in changes


def longer_than_allowed():
    """Count gradients by W, of one entry each, whose integer is beyond the clipping norm on its grid, exactly."""
    found = 0
    for seed in range(600):
        rng = np.random.default_rng(seed)
        # a fine grid, and all are clipped
        plan = steps(noise_multiplier=rng.uniform(1e-3, 1.1e-3), w_clip=0.1)
        units = [grid_step(plan.noise_multiplier * ROOT, norm) for norm in (plan.clip, plan.w_clip)]
        sure = 1e6 * np.ones(4)  # P(Ŷ = 1) = 1: one class, and W = 0: one group
        rows = prepared(np.abs(X) + 1, plan.clip)
        of_w = _integers(
            rows, Y, S, np.arange(K), sure, np.zeros((K, 2)), rng.dirichlet(np.ones(K)), plan, units
        )[4:]
        assert ((of_w != 0).sum(axis=0) == 1).all()
        most = Fraction(plan.w_clip) / Fraction(units[1])
        found += sum(abs(int(z)) > most for z in of_w.sum(axis=0))
    return found


def test_the_margin_covers_what_norms_of_w_round(monkeypatch):
    assert longer_than_allowed() == 0
    monkeypatch.setattr(fermi_exact, "MARGIN", 1.0)  # planted: the norm is taken as computed
    assert longer_than_allowed() > 0


@pytest.mark.parametrize("rows", [X, np.random.default_rng(4).normal(size=(N, 32)) / 20], ids=["few", "many"])
def test_a_records_integers_do_not_depend_on_the_others(rows):
    # of many short columns the sums decide, to the last digit
    weights, W = 8 * RNG.normal(size=rows.shape[1]), RNG.normal(size=(K, 2))
    plan = steps(noise_multiplier=1e-3)  # the finest grid
    whole, _ = integers(plan, np.arange(N), weights, W, rows)
    for size in range(1, N):
        some = np.sort(RNG.choice(N, size, replace=False))
        assert np.array_equal(integers(plan, some, weights, W, rows)[0], whole[:, some])


@pytest.mark.parametrize("strength", [0.0, 2.0])
@pytest.mark.parametrize("clips", [(0.4, 1.1), (1e3, 1e3)])
def test_without_noise_the_steps_are_those_of_private_training(strength, clips, monkeypatch):
    asked = []
    monkeypatch.setattr(
        fermi_exact,
        "add_discrete_gaussian_noise",
        lambda sums, scale: asked.append((len(sums), scale)) or sums,
    )
    plan = steps(strengths=np.array([strength]), clip=clips[0], w_clip=clips[1])
    weights, W = train_exact((X, Y, S), P_S, plan)
    quiet = steps(
        strengths=np.array([strength]), clip=clips[0], w_clip=clips[1], noise_multiplier=0.0
    )  # fmt: skip
    theirs = train_private((X, Y, S), P_S, quiet, np.random.SeedSequence(0))
    assert weights == pytest.approx(theirs[0], abs=1e-8)
    assert pytest.approx(theirs[1], abs=1e-8) == W
    # where W is not used its sum is not released
    assert asked == [(4 + 2 * K if strength else 4, 2.0**40)] * 4


@pytest.mark.parametrize("strength", [0.0, 2.0])
def test_the_noise_covers_both_sums(strength, monkeypatch):
    plan, found = steps(strengths=np.array([strength]), count=1, w_radius=1e9), []
    for more in (0, 2**40):
        monkeypatch.setattr(
            fermi_exact, "add_discrete_gaussian_noise", lambda sums, _, more=more: sums + more
        )
        found.append(train_exact((X, Y, S), P_S, plan))
    root = np.sqrt(2) if strength else 1.0
    due = 0.5 / N * root * 1.3 * 0.4
    assert found[0][0] - found[1][0] == pytest.approx(np.full((1, 4), due), rel=1e-9)
    w_due = 0.3 * strength / N * root * 1.3 * 1.1
    assert found[1][1] - found[0][1] == pytest.approx(np.full((1, K, 2), w_due), rel=1e-9)


@pytest.mark.parametrize("name", ["max_grad_norm", "w_max_grad_norm"])
@pytest.mark.parametrize("wrong", [1e-101, 1e101])
def test_a_clipping_norm_out_of_its_range_is_named(name, wrong):
    plan = steps(**{"w_clip" if name == "w_max_grad_norm" else "clip": wrong})
    with pytest.raises(ValueError, match=re.escape(f"{name}: found {wrong}, expected")):
        train_exact((X, Y, S), P_S, plan)


def test_either_kind_of_weight_may_leave_the_range():
    few, many = np.ones(4), np.full((K, 2), 1e80)
    assert fermi_exact._in_range(few, np.ones((K, 2)), P_S, 2.0)
    assert not fermi_exact._in_range(np.array([1.0, 1e201, 1.0, 1.0]), np.ones((K, 2)), P_S, 2.0)
    assert not fermi_exact._in_range(few, many, P_S, 2.0)
    assert not fermi_exact._in_range(few * np.nan, np.ones((K, 2)), P_S, 2.0)


def model(**changes):
    settings = {"penalty": 1.0, "epsilon": 2.0, "delta": 1e-5, "steps": 5, "batch_size": 20}
    groups = np.array(["a", "b", "c"])[S]
    return DPFermiClassifier(**settings | changes).fit(X[:, :3], Y.astype(int), sensitive_features=groups)


def test_the_statement_of_secure_steps_has_a_guarantee():
    public = {"a": 0.2, "b": 0.3, "c": 0.5}
    one, two = (model(group_frequencies=public) for _ in range(2))
    assert not np.array_equal(one.coef_, two.coef_)
    statement = one.privacy_statement_
    assert one.noise_multiplier_ == dp_sgd_noise(2.0, continuous_delta(1e-5), 20 / N, 5, "pld")
    assert statement.guarantee
    assert 1.999 < statement.epsilon <= 2.0
    assert (statement.delta, statement.relation) == (1e-5, "add-remove")
    counted = model(frequency_epsilon=0.5)
    assert counted.privacy_statement_.guarantee
    assert [part.guarantee for part in counted.privacy_statement_.parts] == [True, True]
    assert counted.noise_multiplier_ == dp_sgd_noise(1.5, continuous_delta(1e-5), 20 / N, 5, "pld")
    assert counted.privacy_statement_.delta == 1e-5


@pytest.mark.parametrize("penalty", [0.0, 1.5])
def test_a_batch_of_nobody_gets_noise_too(penalty, monkeypatch):
    asked = []
    monkeypatch.setattr(fermi_exact, "system_batches", lambda _, __, count: [np.arange(0)] * count)
    monkeypatch.setattr(
        fermi_exact,
        "add_discrete_gaussian_noise",
        lambda sums, _: asked.append(sums.tolist()) or sums + 2**40,
    )
    weights, _ = train_exact((X, Y, S), P_S, steps(strengths=np.array([penalty]), count=3))
    assert asked == [[0] * (10 if penalty else 4)] * 3
    assert (weights != 0).all()


def audited(look):
    """Return what an audit finds, at δ = 10⁻³, of one step with and without a record, by what it moves: all, or W."""
    rows = np.array([[50.0, 1.0]] * 3), np.array([1.0, 1.0, 1.0]), np.array([1, 0, 1])
    pair, shares = (rows, tuple(part[1:] for part in rows)), np.array([0.5, 0.5])

    def plan(data, noise):
        n = len(data[1])  # by which both sums are divided again: the score is of the sums
        return steps(
            strengths=np.array([1.0]), count=1, batch_size=n, learning_rate=n, w_learning_rate=n, clip=1.0,
            w_clip=1.0, w_radius=1e9, noise_multiplier=noise,
        )  # fmt: skip

    with_it, without = (
        train_private(data, shares, plan(data, 0.0), np.random.SeedSequence(0)) for data in pair
    )
    by_weights, by_w = (one - other for one, other in zip(with_it, without, strict=True))
    by_weights = by_weights * (look == "all")

    def release(data, size, _):
        found = [train_exact(data, shares, plan(data, 2.0)) for _ in range(size)]
        return [float((weights * by_weights).sum() + (W * by_w).sum()) for weights, W in found]

    return audit_approximate(release, [pair], 200, 0.01, np.random.default_rng(0), 1e-3).epsilon_lower


@pytest.mark.parametrize("look", ["all", "W"])
def test_an_audit_finds_no_more_than_is_stated(look):
    # by the binomial laws of the best event: an honest audit finds more in 5 of 10⁸ runs
    assert audited(look) < dp_sgd_epsilon(2.0, 1.0, 1, 1e-3, "pld")


@pytest.mark.parametrize("fault", ["little noise", "none on W"])
def test_an_audit_finds_noise_that_is_left_out(fault, monkeypatch):
    usual = fermi_exact.add_discrete_gaussian_noise

    def less(sums, scale):
        noisy = usual(sums, scale / 50 if fault == "little noise" else scale)
        return noisy if fault == "little noise" else np.concatenate([noisy[:2], sums[2:]])

    monkeypatch.setattr(fermi_exact, "add_discrete_gaussian_noise", less)
    assert audited("all" if fault == "little noise" else "W") > dp_sgd_epsilon(2.0, 1.0, 1, 1e-3, "pld")


def test_the_root_of_two_is_rounded_up():
    assert 2 <= Fraction(ROOT) ** 2 <= 2 * (1 + Fraction(1, 2**50))
