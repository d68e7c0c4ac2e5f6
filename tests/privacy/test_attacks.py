import numpy as np
import pytest

import dpfair_lib as dpf
from dpfair_lib.privacy import (
    Budget,
    BudgetExceededError,
    add_gaussian_noise,
    add_laplace_noise,
    audit,
    averaging_attack,
    gaussian_epsilon,
    laplace_bits_attack,
    last_bits_attack,
)
from dpfair_lib.privacy.attacks import UNDECIDED, _comes_about, _laplace_noise

N = 2000
SIZES, COUNTS = {"a": 100, "b": 80}, {"a": 41, "b": 37}
S = np.repeat(list(SIZES), list(SIZES.values()))
Y = np.concatenate([np.arange(SIZES[group]) < COUNTS[group] for group in SIZES]).astype(int)


def drawn(add, value, noise, scale=1.0, n=N, seed=0):
    rng = None if noise == "secure" else np.random.default_rng(seed)
    return add(np.full(n, value), scale, noise=noise, rng=rng)


def attacked(attack, add, noise, *more):
    """The audit of the attack's verdicts: a lower bound on ε that they prove, between the counts 0 and 1."""

    def verdicts(data, size, rng):
        seed = int(rng.integers(2**32))
        return attack(drawn(add, data, noise, 10.0, size, seed), [0, 1], *more)

    return audit(verdicts, [(0, 1)], 4000, 1e-6, np.random.default_rng(0)).epsilon_lower


def test_numpys_laplace_noise_is_known_to_the_last_bit():
    u, noise = np.random.default_rng(3).random(N), np.random.default_rng(3).laplace(scale=2.5, size=N)
    assert [_laplace_noise(x, 2.5) for x in u.tolist()] == noise.tolist()
    for value in (0.0, 3.0, -17.0, 1e6):
        assert all(_comes_about(y, value, 2.5) for y in (value + noise).tolist())


def test_the_true_number_is_never_excluded_by_the_laplace_sampler():
    for value, other in [(0, 1), (3, 4), (4, 3), (50, 51)]:
        found = laplace_bits_attack(drawn(add_laplace_noise, value, "study", 10.0), [value, other], 10.0)
        assert set(found.tolist()) <= {0, UNDECIDED}
        assert (found == 0).mean() > 0.1  # a proof, for these


@pytest.mark.parametrize("add", [add_laplace_noise, add_gaussian_noise])
def test_the_lattice_tells_nobody_from_one(add):
    nobody, one = (last_bits_attack(drawn(add, value, "study"), [0, 1]) for value in (0, 1))
    assert (nobody == 0).mean() > 0.4
    assert (nobody == 1).mean() < 0.01
    assert not (one == 0).any()  # what is excluded is excluded for certain


def test_attacks_prove_more_than_is_claimed_of_study_noise_and_not_of_secure_noise():
    for attack, add, more in [
        (laplace_bits_attack, add_laplace_noise, (10.0,)), (last_bits_attack, add_laplace_noise, ()),
        (last_bits_attack, add_gaussian_noise, ()),
    ]:  # fmt: skip
        claimed = 0.1 if add is add_laplace_noise else gaussian_epsilon(1e-9, 10.0, 1.0)
        assert attacked(attack, add, "study", *more) > max(1.5, 2 * claimed)
        assert attacked(attack, add, "secure", *more) <= claimed


def noisy_counts(noise, seed=None):
    fair = dpf.PrivateFairPostprocessor(
        0.5, relation="add-remove", group_sizes=SIZES, noise=noise, random_state=seed
    ).fit(Y, sensitive_features=S)
    return fair, np.array([fair.noisy_rates_[group] * SIZES[group] for group in SIZES])


def test_averaging_finds_exact_counts_if_the_noise_is_drawn_anew():
    answers = np.array([noisy_counts("study", seed)[1] for seed in range(400)])
    assert averaging_attack(answers).tolist() == list(COUNTS.values())
    assert averaging_attack(answers[:1]).tolist() == np.rint(answers[0]).tolist() != list(COUNTS.values())


def test_averaging_predictions_finds_the_release_and_not_the_counts():
    fair, released = noisy_counts("secure")
    rows, groups = np.tile([0, 1], 2000), np.repeat(list(SIZES), 2000)
    chances = fair.predict_proba(rows, sensitive_features=groups)[:, 1]
    answers = np.array(
        [fair.predict(rows, sensitive_features=groups, random_state=seed) for seed in range(200)]
    )
    found = answers.mean(axis=0)
    # what averaging tends to is a function of what was released: 8·10⁵ coins, by Hoeffding's inequality
    for group in SIZES:
        for value in (0, 1):
            own = (groups == group) & (rows == value)
            assert abs(found[own].mean() - chances[own].mean()) < np.sqrt(np.log(2e9) / (2 * 200 * own.sum()))
    # and these are those of the released rates: whoever is selected keeps that with target over rate, if it is less
    for at, group in enumerate(SIZES):
        rate, target = released[at] / SIZES[group], fair.target_rate_
        kept = chances[(groups == group) & (rows == 1)][0]
        assert kept == pytest.approx(min(target / rate, 1), rel=1e-12)


def test_a_budget_stops_averaging():
    budget = Budget(0.9, 0.0, "add-remove")
    budget.spend(noisy_counts("secure")[0].privacy_statement_)
    with pytest.raises(BudgetExceededError):
        budget.spend(noisy_counts("secure")[0].privacy_statement_)


def test_one_seed_twice_cancels_the_noise():
    rng = np.random.default_rng
    one, two = (add_laplace_noise([count], 10.0, noise="study", rng=rng(7))[0] for count in (41, 42))
    assert two - one == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: averaging_attack([1.0, 2.0]), r"answers: found shape \(2,\)"),
        (lambda: averaging_attack([[np.nan]]), "answers: found nan"),
        (lambda: last_bits_attack([0.5], [1]), r"candidates: found \[1\]"),
        (lambda: last_bits_attack([0.5], [1, 1]), "expected two different whole numbers"),
        (lambda: last_bits_attack([0.5], [1, 1.5]), "expected two different whole numbers"),
        (lambda: last_bits_attack([np.inf], [0, 1]), "outputs: found inf"),
        (lambda: laplace_bits_attack([0.5], [0, 1], 0.0), r"scale: found 0\.0"),
    ],
)
def test_bad_arguments_are_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()
